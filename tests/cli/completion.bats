# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# completion.bats - what bash, zsh and fish complete, each asked itself.

load common

# The shells find the program by its name.
in_folder() {
	mkdir -p bin files/inner
	ln -sf "$WEFT" bin/weft
	PATH=$PWD/bin:$PATH
	cd files
	touch one.yaml two.yaml other.txt results.db
}

# bash_says LINE: what bash offers at its end, sorted.
bash_says() {
	bash --norc -c '
		source <(weft completion bash)
		COMP_LINE=$1 COMP_POINT=${#1}
		read -ra COMP_WORDS <<<"$(sed "s/[=:]/ & /g" <<<"$1")"
		case $1 in *[\ =]) COMP_WORDS+=("") ;; esac
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMPREPLY=()
		_weft
		printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "
	' - "$1"
}

# bash_types LINE...: the words that bash has of each with the tabulator typed behind it, in < and >.
bash_types() {
	python3 - "$@" <<-'END'
		import os, pty, re, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(PS1="go> ", TERM="dumb")
		    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
		def until(pattern):
		    said = b""
		    while not re.search(pattern, said, re.S):
		        said += os.read(fd, 4096)
		    return said
		os.write(fd, b"source <(weft completion bash); echo RE''ADY\n")
		until(b"READY.*go> ")
		for line in sys.argv[1:]:
		    os.write(fd, line.encode() + b"\t\x01printf '<%s>' \x05; echo DO''NE\n")
		    print(re.search(rb"((<[^>]*>)+)DONE", until(b"DONE.*go> "))[1].decode())
	END
}

# fish_says LINE: the same of fish.
fish_says() {
	HOME=$BATS_TEST_TMPDIR fish -N -c 'weft completion fish | source; complete -C $argv[1]' -- "$1" |
		cut -f 1 | sort | paste -sd ' '
}

# zsh_ends LINE PATTERN: what a terminal shows of LINE with the tabulator typed behind it has PATTERN.
zsh_ends() {
	cat >"$BATS_TEST_TMPDIR/drive.zsh" <<-'END'
		zmodload zsh/zpty
		zpty -b shell zsh -f -i
		zpty -w shell "PS1='go> '; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
		zpty -w shell 'bindkey "^I" complete-word; setopt nobeep; print RE""ADY'
		# With its prompt the shell reads keys itself; the terminal would take them for its own.
		zpty -r shell said '*READY*go> *'
		# Then the line is thrown away; that comes to an end whatever was completed.
		zpty -w -n shell "$2"$'\t\x15'"print DO''NE"$'\n'
		zpty -r shell said '*DONE*'
		print -r -- "$said"
		zpty -d shell
	END
	# shellcheck disable=SC2053 # a pattern it is
	HOME=$BATS_TEST_TMPDIR zsh -f "$BATS_TEST_TMPDIR/drive.zsh" "$folder" "$1" </dev/null >said.txt 2>&1
	[[ $(cat said.txt) == $2 ]] || { echo "$1 is not $2:"; cat -v said.txt; return 1; }
	rm said.txt
}

# wanted HAVE WANTED
wanted() {
	[ "$1" = "$2" ] || { echo "expected: $2"; echo "     got: $1"; return 1; }
}

@test "every command and every option of the tables is offered" {
	"$WEFT" help --json >tables.json
	python3 - "$WEFT" <<-'END'
		import json, subprocess, sys
		def words(*line):
		    out = subprocess.run([sys.argv[1], "completion", "--words", "--", "weft", *line],
		                         check=True, capture_output=True, text=True).stdout
		    return [each.split("\t")[0] for each in out.splitlines()]
		commands = json.load(open("tables.json"))["commands"]
		assert words("") == [c["name"] for c in commands], words("")
		n = 0
		for command in commands:
		    have = words(command["name"], "--")
		    want = ["--" + o["name"] for o in command["options"] if not o["gone"]]
		    assert have == want, (command["name"], have, want)
		    n += len(want)
		assert n > 80, n
	END
}

@test "bash" {
	in_folder
	if command -v shellcheck >/dev/null; then
		weft completion bash
		shellcheck --shell=bash - <<<"$out"
	fi
	wanted "$(bash_says 'weft ex')" "exec export"
	wanted "$(bash_says 'weft run --s')" "--sample --seed --set"
	wanted "$(bash_says 'weft run --fabric ib-n')" "ib-ndr ib-ndr-static"
	wanted "$(bash_says 'weft run --fabric roce-100g,ib-n')" "roce-100g,ib-ndr roce-100g,ib-ndr-static"
	# bash replaces what is behind the = only.
	wanted "$(bash_says 'weft run --fabric=ib-n')" "ib-ndr ib-ndr-static"
	wanted "$(bash_says 'weft run one.yaml -qf ib-n')" "ib-ndr ib-ndr-static"
	wanted "$(bash_says 'weft run --set fabric.ecn.km')" "fabric.ecn.kmax= fabric.ecn.kmin="
	wanted "$(bash_says 'weft run ')" "inner one.yaml two.yaml"
	wanted "$(bash_says 'weft run one.yaml ')" ""
	wanted "$(bash_says 'weft report ')" "inner results.db"
	wanted "$(bash_says 'weft run --profiles ')" "inner"
	wanted "$(bash_says 'weft run --out o')" "one.yaml other.txt"
	wanted "$(bash_says 'weft export results.db --to p')" "perfetto prometheus"
	wanted "$(bash_says 'weft perf --op ')" "cas fadd read send write write-imm"
	wanted "$(bash_says 'weft perf --test ')" "both bw lat"
	wanted "$(bash_says 'weft list s')" "sizes switches"
	wanted "$(bash_says 'weft help swe')" "sweep"
	wanted "$(bash_says 'weft run -- --s')" ""
	says "$(bash_says 'weft exec --host h1 -- we')" "weft"
}

@test "bash: names that a shell takes apart" {
	in_folder
	mkdir "with blank" ../home ../home/below
	touch "my own.yaml" 'do$lar.db' "with blank/in.yaml"
	HOME=$BATS_TEST_TMPDIR/home
	bash_types 'weft run my' \
		'weft run my\ o' \
		'weft run "my o' \
		'weft run one.yaml --out=my' \
		'weft run with\ blank/i' \
		'weft run "my own.yaml" --thr' \
		'weft report do' \
		'weft run --profiles ~/b' \
		$'weft run --set fabric.ecn.kmi\t5' \
		'weft exec --host=h1 -- ls my' >said.txt
	diff - said.txt <<-END
		<weft><run><my own.yaml>
		<weft><run><my own.yaml>
		<weft><run><my own.yaml>
		<weft><run><one.yaml><--out=my own.yaml>
		<weft><run><with blank/in.yaml>
		<weft><run><my own.yaml><--threads>
		<weft><report><do\$lar.db>
		<weft><run><--profiles><$HOME/below/>
		<weft><run><--set><fabric.ecn.kmin=5>
		<weft><exec><--host=h1><--><ls><my own.yaml>
	END
}

@test "fish" {
	command -v fish >/dev/null || skip "fish is missing (scripts/setup --test)"
	in_folder
	weft completion fish --out weft.fish
	fish --no-execute weft.fish
	rm weft.fish
	wanted "$(fish_says 'weft ex')" "exec export"
	wanted "$(fish_says 'weft run --s')" "--sample --seed --set"
	wanted "$(fish_says 'weft run --fabric roce-100g,ib-n')" "roce-100g,ib-ndr roce-100g,ib-ndr-static"
	wanted "$(fish_says 'weft run --fabric=ib-n')" "--fabric=ib-ndr --fabric=ib-ndr-static"
	wanted "$(fish_says 'weft run ')" "inner/ one.yaml two.yaml"
	wanted "$(fish_says 'weft run --profiles ')" "inner/"
	wanted "$(fish_says 'weft export results.db --to p')" "perfetto prometheus"
	says "$(fish_says 'weft exec --host h1 -- we')" "weft"
}

@test "zsh" {
	command -v zsh >/dev/null || skip "zsh is missing (scripts/setup --test)"
	in_folder
	folder=$BATS_TEST_TMPDIR/functions
	mkdir "$folder"
	weft completion zsh --out "$folder/_weft"
	zsh -n "$folder/_weft"
	zsh_ends 'weft expo' '*expo*rt*'
	zsh_ends 'weft run --thr' '*--thr*eads*'
	zsh_ends 'weft run --fabric roce-100g,ib-hd' '*roce-100g,ib-hd*r*'
	zsh_ends 'weft run --fabric=ib-hd' '*=ib-hd*r*'
	zsh_ends 'weft run o' '*run o*ne.yaml*'
	zsh_ends 'weft export results.db --to pe' '*--to pe*rfetto*'
	zsh_ends 'weft exec --host h1 -- wef' '*-- wef*t*'
}

@test "what is installed is what the program prints" {
	build=$(dirname "$WEFT")
	[ "$build/man1/stamp" -nt "$WEFT" ] || skip "the pages were not built with it"
	cmake --install "$build" --component pages --prefix "$PWD/root" >/dev/null
	share=root/share
	"$WEFT" completion bash | cmp - $share/bash-completion/completions/weft
	"$WEFT" completion zsh | cmp - $share/zsh/site-functions/_weft
	"$WEFT" completion fish | cmp - $share/fish/vendor_completions.d/weft.fish
	"$WEFT" help --pages man
	diff -r man $share/man/man1
}

@test "a shell that there is not" {
	weft completion powershell
	[ "$status" -eq 2 ]
	says "$err" "weft completion: there is no shell 'powershell' here; there are bash, zsh, fish;"
	weft completion
	[ "$status" -eq 2 ]
	says "$err" "weft completion: name one shell"
	weft completion --words -- weft nothing --
	[ "$status" -eq 0 ]
	[ -z "$out" ]
}
