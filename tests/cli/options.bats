# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# options.bats - one grammar of options: what they mean everywhere, the spellings of older versions, and
# the pages that are made from their tables.

load common

# commands: the names of all commands.
commands() {
	"$WEFT" help --json | python3 -c 'import json, sys
for command in json.load(sys.stdin)["commands"]: print(command["name"])'
}

# old WORD NEW ARGS...: the command line works, and says that WORD is old and that NEW is what to write.
old() {
	local word=$1 new=$2
	shift 2
	weft "$@"
	[ "$status" -eq 0 ] || { echo "status $status of $*: $err"; return 1; }
	says "$err" "weft $1: $word is an old spelling of $new, for this version only"
}

# same_as FILE ARGS...: the command prints what is in FILE, and says nothing of old spellings.
same_as() {
	local file=$1
	shift
	weft "$@"
	[ "$status" -eq 0 ] || { echo "status $status of $*: $err"; return 1; }
	[[ "$err" != *"old spelling"* ]] || { echo "$err"; return 1; }
	cmp "$file" stdout.txt
}

@test "weft help X is weft X --help, byte for byte, for every command" {
	n=0
	for command in $(commands); do # some: they are counted
		"$WEFT" help "$command" >a
		"$WEFT" "$command" --help >b
		"$WEFT" "$command" -h >c
		cmp a b
		cmp a c
		says "$(head -n 1 a)" "usage: weft $command"
		[ -z "$(awk 'length > 100' a)" ] || { echo "$command is too wide"; return 1; }
		n=$((n + 1))
	done
	[ "$n" -ge 16 ]
}

@test "the pages of the manual are those of weft help" {
	python3 -B "$WEFT_SOURCE_DIR/scripts/check_options.py" --weft "$WEFT"
	weft help --pages man
	[ "$status" -eq 0 ]
	for command in $(commands); do
		"$WEFT" help --roff "$command" | cmp - "man/weft-$command.1"
	done
	"$WEFT" help --roff | cmp - man/weft.1
	[ "$(find man -type f | wc -l)" -eq $(($(commands | wc -l) + 1)) ]
}

@test "pages go nowhere else than into a folder, and all at once" {
	echo here >file
	weft help --pages file
	[ "$status" -eq 2 ]
	says "$err" "file"
	[ "$(cat file)" = here ]
	weft help --pages man run
	[ "$status" -eq 2 ]
	says "$err" "weft help: --pages is all commands, not run alone"
	weft help --roff --json
	[ "$status" -eq 2 ]
	says "$err" "weft help: only one of --roff, --json and --pages"
}

@test "--out - is standard output, --out FILE a file, in every command that has it" {
	small_scenario >s.yaml
	printf 'topology: {kind: single, hosts: 4}\nfabric: [ib-ndr, roce-400g]\njob: {kind: all-reduce, gpus_per_server: 2, bytes: 1MB}\ncompare: {sizes: none, seeds: 1}\n' >c.yaml
	weft run s.yaml --record r.db -q
	weft sweep s.yaml --vary seed=1,2 --record w.db -q
	while read -r line; do
		read -ra words <<<"$line"
		weft "${words[@]}"
		[ "$status" -eq 0 ] || { echo "$line: $err"; return 1; }
		cp stdout.txt plain
		[ -s plain ]
		same_as plain "${words[@]}" -o -
		same_as plain "${words[@]}" --out=-
		weft "${words[@]}" --out file
		[ "$status" -eq 0 ]
		[ -z "$out" ]
		cmp plain file
		[ ! -e ./- ]
	done <<-'END'
		run s.yaml -q
		run s.yaml -q --json
		compare c.yaml -q
		sweep s.yaml --vary seed=1,2 --record w.db -q
		perf --size 8 --iters 5
		perf --size 8 --iters 5 --json
		export r.db --to prometheus
		completion bash
	END
	"$WEFT" report r.db --out - >page.html
	weft report r.db --out other.html
	[ "$out" = other.html ]
	cmp page.html other.html
}

@test "a folder cannot be standard output" {
	small_scenario >s.yaml
	weft run s.yaml --record r.db -q
	weft export r.db --to csv --out -
	[ "$status" -eq 2 ]
	says "$err" "csv is a file for each table; say with --out in which folder"
	weft run --hpcc none.txt --out -
	[ "$status" -eq 2 ]
	says "$err" "--hpcc needs --out"
}

@test "output does not take the place of what is read, and has a place of its own" {
	small_scenario >s.yaml
	cp s.yaml kept.yaml
	for command in "run s.yaml" "compare s.yaml" "sweep s.yaml --vary seed=1 --record r.db"; do
		# shellcheck disable=SC2086
		weft $command -o ./s.yaml
		[ "$status" -eq 2 ]
		says "$err" "--out would replace the scenario"
		# shellcheck disable=SC2086
		weft $command -o ''
		[ "$status" -eq 2 ]
		says "$err" '"": cannot write it: No such file or directory'
	done
	cmp s.yaml kept.yaml
	# These are files: no standard output, and none of that name.
	weft run s.yaml --record -
	[ "$status" -eq 2 ]
	says "$err" "--record: a database cannot be standard output"
	weft run s.yaml --pcap -
	[ "$status" -eq 2 ]
	says "$err" "--pcap: a capture is a file"
	[ ! -e ./- ]
	[ ! -e r.db ]
}

@test "what --hpcc has no use for is refused" {
	for option in "--fabric ib-ndr" "--set seed=2" --ports --json --wire-check "--pcap p.pcapng" "--pcap-port h0" \
		"--profiles ." "--record r.db" "--sample none" "--events none"; do
		# shellcheck disable=SC2086
		weft run --hpcc none.txt --out folder $option
		[ "$status" -eq 2 ]
		says "$err" "only --out, --paths, --seed, --threads and --quiet go with --hpcc"
	done
	weft run --hpcc none.txt s.yaml --out folder
	[ "$status" -eq 2 ]
	says "$err" "'s.yaml' is not expected"
}

@test "--threads are those of a simulation, --jobs are simulations, and old spellings are said to be" {
	small_scenario >s.yaml
	printf 'topology: {kind: single, hosts: 4}\nfabric: [ib-ndr, roce-400g]\njob: {kind: all-reduce, gpus_per_server: 2, bytes: 1MB}\ncompare: {sizes: none, seeds: 1}\n' >c.yaml
	weft compare c.yaml -q --jobs 2
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	cp stdout.txt plain
	old --threads --jobs compare c.yaml -q --threads 2
	cmp plain stdout.txt
	old -t --jobs compare c.yaml -q -t 2
	cmp plain stdout.txt
	old --threads --jobs sweep s.yaml --vary seed=1,2 --record w.db -q --threads 2
	old -t --jobs sweep s.yaml --vary seed=1,2 --record w.db -q -t 2
	old -v --vary sweep s.yaml -v seed=1,2 --record w.db -q
	weft run s.yaml -q -t 2
	[ -z "$err" ]
	weft compare c.yaml --jobs 65
	[ "$status" -eq 2 ]
	says "$err" 'weft compare: --jobs: "65" is out of range; it may be 1 to 64'
	weft run s.yaml --jobs 2
	[ "$status" -eq 2 ]
	says "$err" "weft run: there is no option --jobs"
}

@test "other spellings of older versions" {
	weft perf --size 8 --test lat --iters 5
	cp stdout.txt plain
	old -n --iters perf --size 8 --test lat -n 5
	cmp plain stdout.txt
	small_scenario >s.yaml
	weft run s.yaml --record r.db -q
	old --output --out report r.db --output page.html
	[ "$out" = page.html ]
	# What is old is not offered.
	for word in output write drop-in; do
		for command in $(commands); do # some: the first test counts them
			weft help "$command"
			[[ "$out" != *"--$word"* ]] || { echo "$command offers --$word"; return 1; }
		done
	done
}

@test "options of getopt_long: abbreviations, values, letters together" {
	small_scenario >s.yaml
	weft run s.yaml -q --json
	cp stdout.txt plain
	same_as plain run -qj s.yaml
	same_as plain run s.yaml --quie --js
	same_as plain run -jqo- s.yaml
	same_as plain run -q --json -- s.yaml
	weft run s.yaml -q --json --seed 3
	cp stdout.txt plain
	same_as plain run s.yaml -q --json --seed=3
	same_as plain run s.yaml -qj --set seed=3
	same_as plain run s.yaml -qjsseed=3
	weft run s.yaml -jx
	[ "$status" -eq 2 ]
	says "$err" "weft run: there is no option -x"
	weft run s.yaml --pcap= --p
	[ "$status" -eq 2 ]
	says "$err" "weft run: --p is short for several: --profiles, --ports, --pcap, --pcap-port, --paths;"
	weft run s.yaml --s=3
	[ "$status" -eq 2 ]
	says "$err" "weft run: --s is short for several: --set, --seed, --sample;"
	weft run s.yaml --quite
	[ "$status" -eq 2 ]
	says "$err" "weft run: there is no option --quite; did you mean quiet?"
	weft run s.yaml -qo
	[ "$status" -eq 2 ]
	says "$err" "weft run: -o needs a value;"
	weft run s.yaml --out
	[ "$status" -eq 2 ]
	says "$err" "weft run: --out needs a value;"
	weft run s.yaml --json=1
	[ "$status" -eq 2 ]
	says "$err" "weft run: --json takes no value;"
}

@test "weft perf has a seed, and says how far it is on a terminal only" {
	# Which packets a link loses is drawn by chance.
	lossy=(perf --fabric ib-ndr --size 64K --test bw --iters 300 --set fabric.link.loss=1% --json)
	"$WEFT" "${lossy[@]}" --seed 1 >a
	"$WEFT" "${lossy[@]}" >b
	"$WEFT" "${lossy[@]}" --seed 2 >c
	cmp a b
	run cmp -s a c
	[ "$status" -eq 1 ]
	# Its progress is for terminals, where --quiet leaves it out.
	script -qec "'$WEFT' perf --size 8,16 --iters 5 --out 1.txt" /dev/null >said.txt
	grep -q "1 of 2 sizes" said.txt
	script -qec "'$WEFT' perf --size 8,16 --iters 5 --quiet --out 2.txt" /dev/null >said.txt
	[ ! -s said.txt ]
	cmp 1.txt 2.txt
	weft perf --seed many
	[ "$status" -eq 2 ]
	says "$err" 'weft perf: --seed: "many" is not a whole number'
}

@test "SIGTERM is told from SIGINT by the exit status" {
	small_scenario | sed 's/size: 100KB/size: 500GB/; s/10ms/1000s/' >s.yaml
	for signal in TERM:143 INT:130; do
		python3 - "$WEFT" "${signal%:*}" "${signal#*:}" <<-'END'
			import re, signal, subprocess, sys, time
			number = getattr(signal, "SIG" + sys.argv[2])
			weft = subprocess.Popen([sys.argv[1], "run", "s.yaml"],
			                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
			# From when on it catches it.
			while True:
			    status = open("/proc/%d/status" % weft.pid).read()
			    caught = re.search(r"^SigCgt:\s*(\w+)", status, re.M)
			    if caught and int(caught[1], 16) & 1 << number - 1:
			        break
			    assert weft.poll() is None, weft.stderr.read()
			    time.sleep(0.01)
			weft.send_signal(number)
			said = weft.communicate()[1].decode()
			assert weft.returncode == int(sys.argv[3]), (weft.returncode, said)
			assert "weft run: interrupted" in said, said
		END
	done
}
