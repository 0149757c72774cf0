#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# What users' surroundings may be: a umask that lets nobody else in, a path with a blank, no HOME, no folder for sockets.

bats_require_minimum_version 1.5.0
load common

# programs: those that look at files, at the device and at connections all work.
programs() {
	local found
	found=$(on h1 ibstatus)
	[[ "$found" == *"4: ACTIVE"* ]]
	pair ibv_rc_pingpong -g 0 -n 50 -e
	spawn h1 rping -s -C 3 -V >server.txt 2>&1
	server=$pid
	until_true above listens 0
	ask rping -c -a 127.77.0.1 -C 3 -V
	served
}

# ucx: UCX asks whether it may read and write the device.
ucx() {
	local found
	found=$(on h1 ucx_info -d)
	[[ "$found" == *"Transport: rc_verbs"*"Device: weft0:1"* ]]
}

# nothing_left FOLDER: there is nothing in it.
nothing_left() {
	[ -z "$(ls -A "$1")" ]
}

@test "with a umask of 077" {
	needs ibstatus ibv_rc_pingpong rping ucx_info
	umask 077
	up
	programs
	ucx
	"$WEFT" down
	until_true nothing_left "$WEFT_RUNTIME_DIR"
}

@test "with a umask of 0, nobody else may come in" {
	rmdir "$WEFT_RUNTIME_DIR"
	umask 0
	up
	[ "$(stat -c %a "$WEFT_RUNTIME_DIR")" = 700 ]
	[ -z "$(find "$WEFT_RUNTIME_DIR" -name '*.sock*' -maxdepth 1 -perm /077 ! -type d)" ]
}

@test "in a path with a blank, and sockets in another" {
	local from
	needs ibstatus ibv_rc_pingpong rping ucx_info
	mkdir "my dir"
	from=$(dirname "$WEFT")
	# Installed or as it was built.
	if [ "$(basename "$from")" = bin ]; then
		cp -r "$from/../bin" "$from/../lib" "$from/../share" "my dir"
		WEFT=$PWD/my\ dir/bin/weft
	else
		mkdir "my dir/lib"
		cp "$WEFT" "my dir"
		cp -r "$from/lib/weft" "my dir/lib"
		WEFT=$PWD/my\ dir/weft
	fi
	mkdir -m 700 "$WEFT_RUNTIME_DIR/my sockets"
	WEFT_RUNTIME_DIR+="/my sockets"
	up
	programs
	ucx
	"$WEFT" down
	until_true nothing_left "$WEFT_RUNTIME_DIR"
	# Of a program's own.
	on "" ibv_devinfo | grep -q PORT_ACTIVE
	until_true nothing_left "$WEFT_RUNTIME_DIR"
	rmdir "$WEFT_RUNTIME_DIR"
	WEFT_RUNTIME_DIR=${WEFT_RUNTIME_DIR%/*}
}

# The folder is one for all of a user's fabrics; this one has a name of its own.
@test "without HOME and without XDG_RUNTIME_DIR" {
	needs ibstatus ibv_rc_pingpong rping ucx_info
	rmdir "$WEFT_RUNTIME_DIR"
	unset HOME XDG_RUNTIME_DIR WEFT_RUNTIME_DIR
	export WEFT_FABRIC=test-$BASHPID
	up
	[ -S "/tmp/weft-$(id -u)/$WEFT_FABRIC.sock" ]
	programs
	ucx
	"$WEFT" down
	gone() { ! compgen -G "/tmp/weft-$(id -u)/$WEFT_FABRIC*"; }
	until_true gone
}

@test "with XDG_RUNTIME_DIR" {
	needs ibstatus ibv_rc_pingpong rping
	export XDG_RUNTIME_DIR=$WEFT_RUNTIME_DIR
	unset WEFT_RUNTIME_DIR
	up
	[ -S "$XDG_RUNTIME_DIR/weft/default.sock" ]
	programs
	"$WEFT" down
	until_true nothing_left "$XDG_RUNTIME_DIR/weft"
	rm -r "$XDG_RUNTIME_DIR"
}

@test "programs into which no library gets are named" {
	needs cc
	up
	echo 'int main(void) { return 7; }' >main.c
	cc -static -o "my static" main.c
	cc -o dynamic main.c
	run on h1 "./my static"
	[ "$status" -eq 7 ]
	[[ "$output" == *"./my static is linked statically"*"will not see the fabric"* ]]
	run on h1 ./dynamic
	[ "$status" -eq 7 ]
	[ -z "$output" ]
	cp dynamic raised
	chmod u+s raised
	run on h1 ./raised
	[ "$status" -eq 7 ]
	[[ "$output" == *"./raised runs with another user's rights"* ]]
	# Found in PATH; and what is no program is said by the system.
	mkdir bin
	cp "my static" bin/still
	PATH=$PWD/bin:$PATH run on h1 still
	[[ "$output" == *"still is linked statically"* ]]
	PATH=/usr/bin:/bin run -127 on h1 no-such-program
	printf '#!/bin/sh\nexit 5\n' >script
	chmod +x script
	run on h1 ./script
	[ "$status" -eq 5 ]
	[ -z "$output" ]
}

@test "a folder for sockets that is not there and cannot be made, or is a file" {
	WEFT_RUNTIME_DIR=/proc/no/such run -1 up
	[[ "$output" == *"/proc/no/such"*"WEFT_RUNTIME_DIR"* ]]
	touch file
	WEFT_RUNTIME_DIR=$PWD/file run -1 up
	[[ "$output" == *"file"*"WEFT_RUNTIME_DIR"* ]]
}
