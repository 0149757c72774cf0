# SPDX-License-Identifier: Apache-2.0
# common.bash - what the tests of live fabrics share: each test has a fabric and a folder of its own, and
# ends what it started. Nothing is decided by the clock: what must happen is waited for, minutes if need be,
# as the machine may have much else to do; only what never happens fails.

load ../wait

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
	local one
	for one in $(jobs -p); do
		kill -9 "$one" 2>/dev/null || true
	done
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

# up_and_killed: starts the fabric, and kills its daemon, which leaves its socket behind.
up_and_killed() {
	local daemon
	"$WEFT" up --foreground 3>&- &
	daemon=$!
	answers() { "$WEFT" status >/dev/null 2>&1; }
	until_true answers
	kill -9 "$daemon"
	ends "$daemon"
}

# on HOST PROGRAM ARGS...: runs it there; EXEC is more options for weft exec.
on() {
	local host=$1
	shift
	# shellcheck disable=SC2086
	timeout 300 "$WEFT" exec ${EXEC-} --host "$host" -- "$@"
}

# spawn HOST PROGRAM ARGS...: starts it there and sets pid, which is the program's own.
spawn() {
	local host=$1
	shift
	# shellcheck disable=SC2086
	"$WEFT" exec ${EXEC-} --host "$host" -- "$@" 3>&- &
	pid=$!
}

# ended PID: waits for the end of a program, and returns its status; for one that does not end, 124.
ended() {
	local i
	for ((i = 0; i < 6000; i++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.05 # time: between two looks
	done
	if kill -9 "$1" 2>/dev/null; then
		echo "$1 does not end"
		wait "$1" || true # it was killed
		return 124
	fi
	wait "$1"
}

# ends PID: it does, whatever it thinks of it.
ends() {
	local rc=0
	ended "$1" || rc=$?
	[ "$rc" -ne 124 ]
}

# fails PID: it ends, not well, and by itself.
fails() {
	local rc=0
	ended "$1" || rc=$?
	[ "$rc" -ne 0 ] && [ "$rc" -ne 124 ]
}

# halt PID: stops it, and waits until no thread of it runs.
halt() {
	kill -STOP "$1"
	halted() { ! grep -hs "^State:" "/proc/$1/task/"*/status | grep -qv "T (stopped)"; }
	until_true halted "$1"
}

# free_port: a TCP port that nobody listens at. No two tests get the same one: they are counted, below those
# that the system hands out itself; root has some of its own, as users cannot read its count.
free_port() {
	local file number port uid
	uid=$(id -u)
	file=${TMPDIR:-/tmp}/weft-test-ports-$uid
	while :; do
		number=$(flock "$file" sh -c "n=\$(cat '$file'); n=\$(((n + 1) % 6000)); echo \$n | tee '$file'")
		port=$(((uid == 0 ? 26000 : 20000) + number))
		listened "$port" || break
	done
	echo "$port"
}

# listened PORT: somebody does at this moment.
listened() {
	[ -n "$(ss -Hltn "sport = :$1")" ]
}

# listens PORT PID: waits until somebody listens; not if the program, which is to, has ended.
listens() {
	local i
	for ((i = 0; i < 2400; i++)); do
		listened "$1" && return 0
		[ -z "${2-}" ] || kill -0 "$2" 2>/dev/null || return 1
		sleep 0.05 # time: between two looks
	done
	return 1
}

# serve_at PORT PROGRAM ARGS...: a server on h1 that listens there; what it says is in server.txt.
serve_at() {
	local port=$1
	shift
	spawn h1 "$@" >server.txt 2>&1
	server=$pid
	if ! listens "$port" "$server"; then
		echo "$* does not listen:"
		cat server.txt
		return 1
	fi
}

# served: the server ended well.
served() {
	if ! ended "$server"; then
		echo "the server failed:"
		cat server.txt
		return 1
	fi
	server=
}

# ask PROGRAM ARGS...: runs a client on h2, which must end well; what it says is in client.txt.
ask() {
	if ! on h2 "$@" >client.txt 2>&1; then
		echo "$*: the client failed:"
		cat client.txt server.txt
		return 1
	fi
}

# pair PROGRAM ARGS...: a server on h1 and a client on h2 that find each other by TCP over loopback; both end
# well. perftest's programs measure how fast the clock of the CPU is, and end in an error when they were interrupted
# in that; with -F they go on. With -C those that measure latency say it in cycles, and do not. Over links that lose packets take perftest's programs: the pingpongs end without waiting for each other, so
# one whose last acknowledgement is lost fails, as on hardware.
pair() {
	local port program=$1
	shift
	port=$(free_port)
	serve_at "$port" "$program" -p "$port" "$@"
	ask "$program" -p "$port" "$@" 127.0.0.1
	served
}

# both PROGRAM ARGS...: as pair, but they go on; they are $server and $client.
both() {
	local port program=$1
	shift
	port=$(free_port)
	serve_at "$port" "$program" -p "$port" "$@"
	spawn h2 "$program" -p "$port" "$@" 127.0.0.1 >client.txt 2>&1
	client=$pid
}

# total FIELD [HOST]: the sum of a counter over all programs that are there now, or those of a host.
total() {
	"$WEFT" status --json | awk -v field="\"$1\":" -v host="${2:+\"$2\",}" '
		$1 == "\"name\":" { name = $2 }
		/"programs": \[$/ { programs = 1 }
		/^ *\]/ { programs = 0 }
		programs && $1 == field && (host == "" || host == name) { n += $2 }
		END {
			if (NR == 0)
				exit 1
			printf "%.0f\n", n
		}'
}

# above FIELD N [HOST]: the sum is larger than that.
above() {
	[ "$(total "$1" "${3-}")" -gt "$2" ]
}

# alone: no program is attached.
alone() {
	[[ "$("$WEFT" status --json)" != *'"pid"'* ]]
}
