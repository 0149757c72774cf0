#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live root checked
# Two users with a fabric each, at the same time: both work, and neither gets at the other's.

bats_require_minimum_version 1.5.0
load common
load user

eval "common_$(declare -f setup)"
eval "common_$(declare -f teardown)"

# one and other are the users; each has a folder, with its sockets in weft.
setup() {
	common_setup
	chmod 711 "$WEFT_RUNTIME_DIR"
	[ "$(id -u)" -eq 0 ] || skip "only root becomes other users"
	ordinary_user weft-test
	one=$user
	ordinary_user weft-test2
	other=$user
	[ "$one" != "$other" ] || skip "no accounts can be made here"
	for user in "$one" "$other"; do
		install -d -m 700 -o "$user" "$WEFT_RUNTIME_DIR/$user" "$WEFT_RUNTIME_DIR/$user/weft"
		as "$user" test -x "$WEFT" || skip "others may not come to $WEFT (ctest installs it where they may)"
	done
}

teardown() {
	for user in "${one-}" "${other-}"; do
		[ -n "$user" ] || continue
		# Servers that go on for ever.
		as "$user" "$WEFT" fault kill-host h1 2>/dev/null || true
		as "$user" "$WEFT" down 2>/dev/null || true
	done
	common_teardown
}

# as USER COMMAND...: runs it as that user, by default with the sockets of its own; OF is another's.
as() {
	local user=$1
	shift
	WEFT_RUNTIME_DIR=$WEFT_RUNTIME_DIR/${OF:-$user}/weft become "$user" "$WEFT_RUNTIME_DIR/$user" "$@"
}

# run_as USER HOST PROGRAM ARGS...: on a host of that user's fabric.
run_as() {
	local user=$1 host=$2
	shift 2
	as "$user" timeout 300 "$WEFT" exec --host "$host" -- "$@"
}

@test "both at the same time, with the same names and addresses" {
	needs rping ibv_rc_pingpong
	as "$one" "$WEFT" up
	as "$other" "$WEFT" up --fabric ib-ndr
	for user in "$one" "$other"; do
		# The same port and the same address twice: they are the fabric's, not the machine's.
		run_as "$user" h1 rping -s -P -V >"$user.txt" 2>&1 3>&- &
	done
	serving() { [[ "$(as "$1" "$WEFT" status --json)" == *'"listens": 1'* ]]; }
	until_true serving "$one"
	until_true serving "$other"
	for user in "$one" "$other"; do
		run_as "$user" h2 rping -c -a 127.77.0.1 -C 1000 -V >"$user-client.txt" 2>&1 3>&- &
		clients+=($!)
	done
	for pid in "${clients[@]}"; do
		ended "$pid"
	done
	# Each sees what is its own.
	[[ "$(as "$one" "$WEFT" status)" == *"RoCE v2"* ]]
	[[ "$(as "$other" "$WEFT" status)" == *"InfiniBand"* ]]
	[[ "$(run_as "$one" h1 cat /sys/class/infiniband/weft0/ports/1/link_layer)" == Ethernet ]]
	[[ "$(run_as "$other" h1 cat /sys/class/infiniband/weft0/ports/1/link_layer)" == InfiniBand ]]
	as "$one" "$WEFT" fault kill-host h1
	as "$one" "$WEFT" down
	[[ "$(as "$other" "$WEFT" status)" == *"InfiniBand"* ]]
}

# refused WORDS ARGS...: weft with these arguments, by the other user, fails and says why.
refused() {
	local words=$1
	shift
	OF=$one run as "$other" "$WEFT" "$@"
	echo "weft $*: $status: $output"
	[ "$status" -ne 0 ]
	[[ "$output" == *$words* ]]
	[[ "$output" != *RoCE* && "$output" != *h1* && "$output" != *device* ]]
}

# all_refused WORDS: whatever the other user tries.
all_refused() {
	refused "$1" status
	refused "$1" status --json
	refused "Permission denied" exec --host h1 -- ibv_devices
	refused "$1" capture -o -
	refused "$1" fault list
	refused "$1" fault loss 10%
	refused "$1" down
	refused "Permission denied" up
}

@test "another user's fabric is refused" {
	needs ibv_devices
	as "$one" "$WEFT" up
	all_refused "Permission denied"
	# Even if the doors are open.
	chmod 755 "$WEFT_RUNTIME_DIR/$one" "$WEFT_RUNTIME_DIR/$one/weft"
	chmod 777 "$WEFT_RUNTIME_DIR/$one/weft/default.sock"
	all_refused "Permission denied"
	# A program that is told of the socket behind weft's back.
	lib=$(find "$(dirname "$WEFT")/.." -name libibverbs.so.1 | head -n 1)
	[ -n "$lib" ]
	OF=$one run as "$other" env LD_LIBRARY_PATH="$(dirname "$lib")" ASAN_OPTIONS=verify_asan_link_order=0 \
		WEFT_HOST=h1 WEFT_SOCKET="$WEFT_RUNTIME_DIR/$one/weft/default.sock" ibv_devinfo
	echo "$output"
	[ "$status" -ne 0 ]
	[[ "$output" != *PORT_ACTIVE* ]]
	# Nor if the folder has become his: what is in it has not.
	chown "$other" "$WEFT_RUNTIME_DIR/$one/weft"
	for command in status "fault list" "fault loss 10%" "capture -o -" down "exec --host h1 -- ibv_devices"; do
		# shellcheck disable=SC2086
		refused "is not yours" $command
	done
	chown "$one" "$WEFT_RUNTIME_DIR/$one/weft"
	# The owner has not noticed.
	[ "$(as "$one" "$WEFT" fault list)" = "no faults" ]
	[[ "$(run_as "$one" h1 ibv_devices)" == *weft0* ]]
}
