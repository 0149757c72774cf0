#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# Programs that are no guests in their own house: they close, duplicate and pass on descriptors, fork in every way,
# have small stacks and handlers of signals, and know nothing of a library that lives in them (hostile_fd.c).

bats_require_minimum_version 1.5.0
load common

# build: makes ./hostile_fd.
build() {
	needs cc
	cc -O1 -g -Wall -Wextra -Werror -o hostile_fd "$WEFT_SOURCE_DIR/tests/live/hostile_fd.c" -libverbs -lpthread -ldl
}

# cases NAME...: each of them ends well.
cases() {
	local name
	for name in "$@"; do
		if ! on h1 ./hostile_fd "$name" >case.txt 2>&1; then
			echo "$name:"
			cat case.txt
			return 1
		fi
	done
}

# plain: a sanitizer in a program has its own way with the stack, bad pointers and fork().
plain() {
	! ldd "$WEFT" | grep -q 'lib[at]san' || skip "a build with a sanitizer"
}

@test "no plain file is taken for a channel, and no channel for a plain file" {
	build
	up
	cases reuse many leaks closefrom messages
}

@test "children by fork, vfork and posix_spawn, and programs that inherit" {
	build
	up
	cases fork vfork spawn exec
}

@test "a channel that is closed by another thread, and handlers that come later" {
	build
	up
	cases close handler
	# A fault without a handler still ends the program.
	run on h1 ./hostile_fd dies
	[ "$status" -ne 0 ]
	[[ "$output" != *"not so"* ]]
}

@test "fork with threads" {
	build
	plain
	up
	cases threads
}

@test "cancelled threads, small stacks, bad pointers" {
	build
	plain
	up
	cases cancel stack pointers
}

@test "a stack of 64 KiB" {
	build
	plain
	up
	(
		ulimit -s 64
		on h1 ibv_devinfo >devinfo.txt
		cases stack many
	)
	grep -q weft0 devinfo.txt
}

@test "the library by its name and the versions of its functions" {
	build
	up
	cases by-name
}
