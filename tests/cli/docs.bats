# SPDX-License-Identifier: Apache-2.0
# docs.bats - what README.md and the pages in docs/ tell people to type does what they say (tests/docs/commands.py).
# The commands of live fabrics are tests/live/docs.bats'.

load common

commands() {
	python3 -B "$WEFT_SOURCE_DIR/tests/docs/commands.py" "$@"
}

# small.yaml and compare.db are what the pages take for the reader's own.
prepare() {
	printf 'name: in\ntopology: {kind: leaf-spine, hosts: 8, radix: 8}\nfabric: [ib-ndr, roce-400g]\ntraffic:\n  - {kind: incast, fanin: 6, size: 100KB}\n' >small.yaml
	printf 'topology: {kind: single, hosts: 4}\nfabric: [ib-ndr, roce-400g]\njob: {kind: all-reduce, gpus_per_server: 2, bytes: 1MB}\ncompare: {sizes: [8]}\n' >c.yaml
	"$WEFT" compare c.yaml --quiet --record compare.db >/dev/null
	cat >prelude.bash <<-'END'
		hpcc=$WEFT_SOURCE_DIR/tests/data/ns3/b_incast16_buf4/dcqcn
		weft() { "$WEFT" "$@"; }
		step() { echo "$1"; }
	END
}

@test "nothing is told that no test runs" {
	pages=$(commands pages)
	[ "$(wc -w <<<"$pages")" -ge 6 ]
	# shellcheck disable=SC2086
	commands check $pages
}

@test "a command of which nothing is known is found" {
	mkdir -p tree/docs tree/tests/docs
	cp "$WEFT_SOURCE_DIR/tests/docs/commands.py" tree/tests/docs
	printf '# A page\n\n\tmake coffee  # strong\n\nText.\n\n\t# first\n\tA=1 make tea\n\n```\nfrob | weft run -\n```\n' >tree/docs/new.md
	touch tree/README.md tree/CONTRIBUTING.md
	[ "$(python3 -B tree/tests/docs/commands.py pages)" = docs/new.md ]
	run python3 -B tree/tests/docs/commands.py check docs/new.md
	[ "$status" -eq 1 ]
	[ "$output" = "docs/new.md:3: nothing tests: make coffee
docs/new.md:8: nothing tests: A=1 make tea
docs/new.md:11: nothing tests: frob | weft run -" ]
}

# command_examples: the commands in the comments of examples/, and those that the pages of help have as examples.
command_examples() {
	sed -n '/^#   weft /{:a;/\\$/{N;ba};s/\\\n# */ /g;s/^#   //;p}' "$WEFT_SOURCE_DIR"/examples/*.yaml "$WEFT_SOURCE_DIR"/examples/incidents/*.yaml
	"$WEFT" help --json | python3 -c 'import json, re, sys
told = json.load(sys.stdin)
for page in [*told["commands"], told["overview"]]:
    for block in re.findall(r"^Examples:\n((?: {4}.*\n)+)", page["text"], re.M):
        print(re.sub(r"\\\n *", "", block), end="")' | sed 's/^ *//'
}

# Each is run as it is written, but ends when virtual time begins: names, parameters and values are all read by then.
# bats test_tags=long
@test "the commands of examples and of the pages of help" {
	weft() {
		local command=$1 small=()
		shift
		case $command in
		run) small=(--quiet --set run.until=1ns) ;;
		compare) small=(--quiet --set run.until=1ns --set compare.sizes=none --seeds 1) ;;
		sweep) small=(--quiet --set run.until=1ns) ;;
		perf) small=(--iters 2) ;;
		audit) # what is found is in the exit status
			"$WEFT" audit "$@" || [ $? -eq 1 ]
			return
			;;
		esac
		"$WEFT" "$command" "$@" "${small[@]}"
	}
	ln -s "$WEFT_SOURCE_DIR/examples" examples
	HOME=$PWD
	mkdir .zfunc
	# Live fabrics are tests/live/docs.bats', fish is tests/cli/completion.bats', and diagnose, which wants counters, its own.
	command_examples | grep -vE '^weft (up|exec|status|capture|fault|down|diagnose)( |$)|fish' >list
	[ "$(wc -l <list)" -ge 70 ]
	while read -r line; do
		eval "$line" >said.txt 2>&1 </dev/null || { echo "$line"; cat said.txt; return 1; }
	done <list
}

# bats test_tags=long
@test "every page's commands" {
	prepare
	n=0
	for page in $(commands pages); do # some: steps are counted below
		mkdir "dir$n"
		cp small.yaml compare.db "dir$n"
		{ cat prelude.bash; commands cli "$page"; } >"dir$n/script.bash"
		(cd "dir$n" && bash script.bash >said.txt 2>&1) || { cat "dir$n/said.txt"; return 1; }
		grep -h '^[A-Za-z/]*[.]md:[0-9]*$' "dir$n/said.txt" >>steps.txt || true # all of its commands may be of live fabrics
		n=$((n + 1))
	done
	[ "$(wc -l <steps.txt)" -ge 15 ]
}

@test "options that the pages name are there" {
	"$WEFT" help >overview.txt
	# `weft run --ports` and the like, in running text.
	grep -ohE '`weft [a-z]+ [^`]*`' "$WEFT_SOURCE_DIR"/README.md "$WEFT_SOURCE_DIR"/docs/*.md | tr -d '`' | sort -u >named.txt
	[ "$(wc -l <named.txt)" -ge 20 ]
	command_examples | grep -oE '^weft (up|exec|status|capture|fault|down)( .*|$)' >>named.txt
	while read -r _ command rest; do
		grep -qE "^  weft $command( |$)" overview.txt || { echo "there is no weft $command: $rest"; return 1; }
		"$WEFT" help "$command" >help.txt
		# What is behind -- is the program's that weft exec runs.
		# some: most have none
		options=$(sed 's/\(^\| \)-- .*//' <<<"$rest" | grep -oE -- '(^| )--[a-z-]+') || true # as said
		for option in $options; do
			grep -qE -- "$option([ =,\[]|\$)" help.txt ||
				{ echo "weft $command has no $option"; return 1; }
		done
	done <named.txt
}

# weft status needs a live fabric: here it is a document that its schema allows.
status_document() {
	local counts='"qps": 1, "listens": 0, "tx_packets": 2, "tx_bytes": 3, "rx_packets": 4, "rx_bytes": 5, "retransmits": 0,
		"dropped": 0, "lost": 0, "icrc_errors": 0, "late_packets": 0, "late_ns": 0'
	echo '{"schema": "weft.status/1", "weft": "0", "fabric": "f", "link_layer": "ethernet", "hosts": [{"name": "h1",
		"address": "127.77.0.1", "lid": 0, "up": true, "state": "active", "total": {'"$counts"'},
		"programs": [{"program": "p", "pid": 6, "slot": 1, '"$counts"'}]}]}'
}

# A key that jq does not find is null and no error: what the examples find is looked at.
@test "the examples of docs/json.md find something, and it has every schema" {
	mkdir examples
	printf 'topology: {kind: single, hosts: 8}\nfabric: [ib-ndr, roce-400g]\ntraffic:\n  - {kind: incast, fanin: 6, size: 500KB}\n' >examples/incast.yaml
	cp "$WEFT_SOURCE_DIR/examples/pfc-deadlock.yaml" examples
	status_document >status.json
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/json_schema.py" valid status.json
	sed -n 's/^\t\(.*\<jq\>.*\)$/\1/p' "$WEFT_SOURCE_DIR/docs/json.md" |
		sed 's/weft status --json/cat status.json/; s/\bweft /"$WEFT" /g' >list
	[ "$(wc -l <list)" -eq 10 ]
	set -o pipefail
	while read -r line; do
		eval "$line" >out.txt 2>err.txt </dev/null || { echo "$line"; cat err.txt; return 1; }
		[ -s out.txt ]
		grep -qv '^null$' out.txt
	done <list
	# Every schema is in the table.
	for file in "$WEFT_SOURCE_DIR"/schemas/*; do
		name=$(basename "$file" .schema.json)
		grep -q "^| \`${name%.*}/${name##*.}\` | \`$(jq -r '.title | rtrimstr(" --json")' "$file")\` |" "$WEFT_SOURCE_DIR/docs/json.md"
	done
}
