#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: install
# bare.bats - weft is built where Node.js, npm's registry or Linux are missing, and says what it then lacks. The sources
# are a clean copy of what git knows but the tests, held to what POSIX promises; where systems have more, it is not used.

bats_require_minimum_version 1.5.0
load common

# configure SOURCES BUILD
configure() {
	PATH=$stage/bin cmake -G Ninja -S "$1" -B "$2" -DWEFT_LIVE=OFF -DWEFT_TESTS=OFF -DCMAKE_BUILD_TYPE=None \
		-DCMAKE_OPTIMIZE_DEPENDENCIES=ON \
		"-DCMAKE_C_FLAGS=-O0 -D_POSIX_C_SOURCE=200809L -U__linux__"
}

prepare() {
	mkdir "$stage/src"
	(cd "$WEFT_SOURCE_DIR" && git ls-files -z -- ':!tests' ':!fuzz' | tar --create --null --files-from - --ignore-failed-read) |
		tar -x -C "$stage/src"
	tools_without "$stage/bin" node nodejs npm npx corepack bash flock
	# As little as shows it, quickly compiled: without what needs Linux, as on a system that has what POSIX has.
	configure "$stage/src" "$stage/build" >"$stage/configure.txt" 2>&1 &&
		PATH=$stage/bin ninja -C "$stage/build" weft >"$stage/build.txt" 2>&1 || {
		cat "$stage/configure.txt" "$stage/build.txt"
		return 1
	}
	export bare=$stage/build/weft
	# Such a system does not say where a program is.
	export WEFT_PROFILES=$stage/src/profiles
}

@test "configuring and building say once that there will be no page" {
	[ "$(grep -c "weft report will have no page: Node.js is missing" "$stage/configure.txt")" -eq 1 ]
	[ "$(grep -c "weft is built without the page of weft report: Node.js was not there" "$stage/build.txt")" -eq 1 ]
}

@test "weft report says that there is no page, why, and what to do, and writes nothing" {
	"$bare" run "$WEFT_SOURCE_DIR/examples/incast.yaml" --record r.db >/dev/null 2>&1
	run -1 --separate-stderr "$bare" report r.db
	[ -z "$output" ]
	says "$stderr" "this weft has no page: Node.js was not there when weft was built"
	says "$stderr" "scripts/setup"
	[ ! -e r.html ]
	run -1 "$bare" report r.db -o -
	[[ "$output" != *"<html"* ]]
}

@test "everything else is there: a comparison gives the same bytes" {
	cat >small.yaml <<'END'
name: a small job
topology: {kind: single, hosts: 4}
fabric: [ib-ndr, roce-400g]
job: {kind: all-reduce, algorithm: ring, bytes: 1MiB, gpus_per_server: 1}
END
	"$bare" compare small.yaml --seeds 2 --json >bare.json
	grep -q roce-400g bare.json
	diff bare.json <("$WEFT" compare small.yaml --seeds 2 --json)
}

@test "without its profiles it says where they are looked for" {
	unset WEFT_PROFILES
	run -2 "$bare" run "$WEFT_SOURCE_DIR/examples/incast.yaml"
	says "$output" ib-ndr
}

@test "two builds of the same sources in two folders are the same" {
	cp -a "$stage/src" "$stage/other src"
	configure "$stage/other src" "$stage/other build" >log.txt
	# Those that know a folder, or are made of files in the build's; all others are compiled alike.
	PATH=$stage/bin ninja -C "$stage/other build" weft_results weft_scenario >log.txt
	for one in libweft_results.a libweft_scenario.a; do
		cmp "$stage/build/$one" "$stage/other build/$one"
	done
}

@test "a configuration anew, with Node.js there, tries again" {
	cp -a "$stage/build/web/page_template.c" before.c
	PATH=$stage/bin cmake -S "$stage/src" -B "$stage/build" >log.txt
	[ ! -e "$stage/build/web/page_template.c" ]
	cp before.c "$stage/build/web/page_template.c"
}

@test "a registry of npm that cannot be reached is no failure, unless the page must be" {
	command -v npm >/dev/null || skip "npm is not installed"
	export npm_config_registry=http://127.0.0.1:9 npm_config_cache=$PWD/cache
	run -0 "$stage/src/scripts/page" "$PWD/page.c" "$PWD/modules"
	says "$output" "npm could not fetch the page's packages"
	grep -q 'wf_page_missing = "npm could not fetch' page.c
	cc -I "$WEFT_SOURCE_DIR/src" -c page.c
	run -1 "$stage/src/scripts/page" --must "$PWD/other.c" "$PWD/modules"
	[ ! -e other.c ]
}

@test "without Linux there are no live fabrics: help lists what there is, and the rest is named" {
	run -0 "$bare" help
	[[ "$output" == *"weft compare"* && "$output" != *"weft up"* && "$output" != *"weft exec"* ]]
	for one in up exec status capture fault down; do
		run -1 "$bare" "$one"
		says "$output" "'$one' is about live fabrics, which need Linux, and this weft has none"
		run -1 "$bare" help "$one"
		says "$output" "need Linux"
	done
	run -2 "$bare" upp
	says "$output" "there is no command 'upp'"
	run -0 find "$stage/build" -name 'libibverbs*' -o -name 'libweft_live*'
	[ -z "$output" ]
}
