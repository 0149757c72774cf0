# SPDX-License-Identifier: Apache-2.0
# common.bash - what the tests of live fabrics share: each test has a fabric and a folder of its own, and
# ends what it started.

setup() {
	: "${WEFT:?is the path of the program under test}"
	: "${WEFT_SOURCE_DIR:=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)}"
	unset WEFT_PROFILES WEFT_FABRIC WEFT_HOST WEFT_SOCKET LD_PRELOAD
	# What other people's programs leak is not ours to find.
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	# A socket's path is short.
	WEFT_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX")
	export WEFT_RUNTIME_DIR
	cd "$BATS_TEST_TMPDIR" || return 1
	server=
	client=
}

teardown() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
	[ -z "$client" ] || kill -9 "$client" 2>/dev/null || true
	"$WEFT" down 2>/dev/null || true
	rm -rf "$WEFT_RUNTIME_DIR"
}

# needs PROGRAM...: skips the test where one is missing.
needs() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed (scripts/setup --test)"
	done
}

# up ARGS...: starts the fabric.
up() {
	"$WEFT" up "$@"
}

# on HOST PROGRAM ARGS...: runs it there; EXEC is more options for weft exec.
on() {
	local host=$1
	shift
	# shellcheck disable=SC2086
	timeout 60 "$WEFT" exec ${EXEC-} --host "$host" -- "$@"
}

# free_port: a TCP port that nobody listens at.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# listens PORT: waits until somebody does, for ten seconds at most.
listens() {
	local hex i
	hex=$(printf ':%04X' "$1")
	for ((i = 0; i < 200; i++)); do
		if cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == "0A" {print $2}' | grep -q "$hex\$"; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# pair PROGRAM ARGS...: a server on h1 and a client on h2 that find each other by TCP over loopback. Fails
# when one of them does; what they said is in server.txt and client.txt.
pair() {
	local port program=$1
	shift
	port=$(free_port)
	on h1 "$program" -p "$port" "$@" >server.txt 2>&1 &
	server=$!
	if ! listens "$port"; then
		echo "$program does not listen:"
		cat server.txt
		return 1
	fi
	if ! on h2 "$program" -p "$port" "$@" 127.0.0.1 >client.txt 2>&1; then
		echo "$program $*: the client failed:"
		cat client.txt server.txt
		return 1
	fi
	if ! wait "$server"; then
		echo "$program $*: the server failed:"
		cat server.txt
		return 1
	fi
	server=
}
