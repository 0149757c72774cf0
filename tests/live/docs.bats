#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live long
# What README.md and the pages in docs/ tell people to type of live fabrics does what they say (tests/docs/commands.py).

load common

commands() {
	python3 -B "$WEFT_SOURCE_DIR/tests/docs/commands.py" "$@"
}

@test "every page's commands" {
	needs ib_write_bw tshark
	here=$(free_port)
	cat >prelude.bash <<-'END'
		load() { source "$WEFT_SOURCE_DIR/tests/live/$1.bash"; }
		source "$1/tests/live/common.bash"
		port=$(free_port)
		net=127.$((port / 256)).$((port % 256))
		main=$WEFT_RUNTIME_DIR
		weft() { "$WEFT" "$@"; }
		# machine N COMMAND: on a machine of its own.
		machine() {
			local number=$1
			shift
			mkdir -p "$main/$number"
			WEFT_RUNTIME_DIR=$main/$number "$@"
		}
		ready() { [ -z "$(jobs -pr)" ] || listened "$port"; }
		# A server that was begun listens, or has ended, before anything goes on.
		step() { until_true ready; echo "$1"; }
		end_block() {
			local job
			for job in $(jobs -p); do
				wait "$job"
			done
			"$WEFT" down 2>/dev/null || true
			for number in 1 2; do
				WEFT_RUNTIME_DIR=$main/$number "$WEFT" down 2>/dev/null || true
			done
			port=$(free_port)
		}
	END
	for page in $(commands pages); do # some: steps are counted below
		mkdir "dir$here"
		ln -s "$WEFT_SOURCE_DIR/examples" "dir$here/examples"
		{ cat prelude.bash; commands live "$page"; } >"dir$here/script.bash"
		(cd "dir$here" && bash script.bash "$WEFT_SOURCE_DIR" >said.txt 2>&1) || { cat "dir$here/said.txt"; return 1; }
		grep -h '^[A-Za-z/-]*[.]md:[0-9]*$' "dir$here/said.txt" >>steps.txt || true # none of its commands may be of live fabrics
		here=$((here + 1))
	done
	cat steps.txt
	[ "$(wc -l <steps.txt)" -ge 25 ]
}
