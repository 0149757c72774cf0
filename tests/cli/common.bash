# SPDX-License-Identifier: Apache-2.0
# common.bash - what the tests of the command line share.

load ../wait

setup() {
	: "${WEFT:?is the path of the program under test}"
	: "${WEFT_SOURCE_DIR:=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)}"
	unset WEFT_PROFILES
	cd "$BATS_TEST_TMPDIR" || return 1
}

# weft ARGS...: runs it; status, $out and $err are what came of it.
weft() {
	status=0
	"$WEFT" "$@" >"$BATS_TEST_TMPDIR/stdout.txt" 2>"$BATS_TEST_TMPDIR/stderr.txt" || status=$?
	out=$(cat "$BATS_TEST_TMPDIR/stdout.txt")
	err=$(cat "$BATS_TEST_TMPDIR/stderr.txt")
}

# says TEXT WANTED: fails, and shows both, when TEXT does not contain WANTED.
says() {
	if [[ "$1" != *"$2"* ]]; then
		echo "expected: $2"
		echo "     got: $1"
		return 1
	fi
}

# first_of WORD...: all of them; with sanitizers, beside which another build has all, the first.
first_of() {
	if [ -n "${WEFT_TEST_SHORT-}" ]; then
		echo "$1"
	else
		echo "$@"
	fi
}

# small_scenario: a scenario that takes no time, with lines to change by sed.
small_scenario() {
	cat <<'END'
name: small
seed: 1
topology: {kind: leaf-spine, hosts: 8, radix: 8}
fabric: roce-400g
traffic:
  - {kind: permutation, size: 100KB}
run: {until: 10ms}
END
}
