#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: install
# prefix.bats - what `make install` puts below a prefix works there, for any user, wherever it is moved to, and names
# nothing of where it was built.

bats_require_minimum_version 1.5.0
load common

prepare() {
	export prefix="$stage/my prefix"
	cmake --install "$(dirname "$WEFT")" --prefix "$prefix" >"$stage/install.txt"
}

# public: the functions that the headers declare, as the compiler sees them.
public() {
	echo '#include <weft/weft.h>' >all.c
	cc -I "$prefix/include" -fsyntax-only -aux-info all.txt all.c
	grep -F "$prefix/include" all.txt | grep -v typedef | grep -o 'weft_[a-z0-9_]* (' | tr -d ' (' |
		grep -v '_fn$' | sort
}

# ping_pong PROGRAM: the example gives what the one of the build tree gives.
ping_pong() {
	by_user "$@" >out.txt
	[ "$(wc -l <out.txt)" -gt 10 ]
	if [ -x "$build/examples/ping_pong" ]; then
		diff out.txt <("$build/examples/ping_pong")
	fi
}

@test "an ordinary user runs a scenario and lists the profiles" {
	by_user "$prefix/bin/weft" run "$prefix/share/doc/weft/examples/incast.yaml" --json >out.json
	grep -q '"weft"' out.json
	diff <(by_user "$prefix/bin/weft" list profiles) <("$WEFT" list profiles)
}

@test "an ordinary user runs an RDMA program" {
	command -v ibv_devinfo >/dev/null || skip "ibverbs-utils is not installed (scripts/setup --test)"
	run -0 by_user "$prefix/bin/weft" exec -- ibv_devinfo
	says "$output" "hca_id:	weft0"
	says "$output" PORT_ACTIVE
}

@test "all of it belongs to a component" {
	DESTDIR=$PWD/root cmake --install "$build" --prefix /opt --component Unspecified >log.txt
	[ ! -e root ]
}

@test "nothing that is installed names the sources or the build" {
	run -1 grep -rlF -e "$WEFT_SOURCE_DIR" -e "$build" "$prefix"
	[ -z "$output" ]
}

@test "programs and libraries look for others where the system does" {
	for file in "$prefix"/bin/weft "$prefix"/lib*/libweft.so.1 "$prefix"/lib*/weft/libibverbs.so.1; do
		[ -f "$file" ] || continue
		run -0 readelf -d "$file"
		[[ "$output" != *RPATH* && "$output" != *RUNPATH* && "$output" != *TEXTREL* ]]
	done
}

@test "the library exports what its headers declare, under its version, and nothing else" {
	lib=$(dirname "$(find "$prefix" -name libweft.so)")
	public >wanted.txt
	[ "$(wc -l <wanted.txt)" -gt 30 ]
	nm -D --defined-only "$lib/libweft.so" | grep -v ' A WEFT_1$' | awk '{ print $3 }' | sort >shared.txt
	diff <(sed 's/$/@@WEFT_1/' wanted.txt) shared.txt
	nm -g --defined-only "$lib/libweft.a" | awk 'NF == 3 { print $3 }' | sort >static.txt
	diff wanted.txt static.txt
	run -0 readelf -d "$lib/libweft.so"
	says "$output" "soname: [libweft.so.1]"
	[ "$(readlink "$lib/libweft.so")" = libweft.so.1 ]
	[ "$(readlink "$lib/libweft.so.1")" = libweft.so.1.0.0 ]
}

@test "pkg-config has what a program needs, linked shared and static" {
	PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
	export PKG_CONFIG_PATH
	eval "cc -std=c99 -pedantic -Wall -Werror -o shared '$prefix/share/doc/weft/examples/c/ping_pong.c' \
		$(pkg-config --cflags --libs weft)"
	cp shared "$stage/shared"
	ping_pong env LD_LIBRARY_PATH="$PKG_CONFIG_PATH/.." "$stage/shared"
	# The shared library alone does not find what is not there.
	run -127 by_user "$stage/shared"
	says "$output" libweft.so.1
	eval "cc -static -o static '$prefix/share/doc/weft/examples/c/ping_pong.c' \
		$(pkg-config --static --cflags --libs weft)"
	# It is no part of the prefix, so it is told where the profiles are.
	cp static "$stage/static"
	ping_pong env WEFT_PROFILES="$prefix/share/weft/profiles" "$stage/static"
}

@test "find_package has what a program needs, linked shared and static" {
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C)
find_package(weft 0.1 REQUIRED COMPONENTS shared static)
add_executable(shared "${EXAMPLE}")
target_link_libraries(shared PRIVATE weft::weft)
add_executable(static "${EXAMPLE}")
target_link_libraries(static PRIVATE weft::weft_static)
END
	cmake -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix" \
		-DEXAMPLE="$prefix/share/doc/weft/examples/c/ping_pong.c" >log.txt
	ninja -C b >>log.txt
	cp b/shared "$stage/cmake-shared"
	ping_pong "$stage/cmake-shared"
	run -0 readelf -d b/static
	[[ "$output" != *libweft* ]]
	cp b/static "$stage/cmake-static"
	ping_pong env WEFT_PROFILES="$prefix/share/weft/profiles" "$stage/cmake-static"
}

@test "another version of the package is refused" {
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C)
find_package(weft 0.2 REQUIRED)
END
	run -1 cmake -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix"
	says "$output" 'requested version "0.2"'
}

@test "a prefix that is moved works, with its own profiles and no others" {
	cp -a "$prefix" "$stage/moved"
	cp "$stage/moved/share/weft/profiles/ib-ndr.yaml" "$stage/moved/share/weft/profiles/mine.yaml"
	run -0 by_user "$stage/moved/bin/weft" list profiles
	says "$output" "  mine "
	cp "$prefix/share/doc/weft/examples/c/ping_pong.c" .
	lib=$(dirname "$(find "$stage/moved" -name libweft.so)")
	cc -I "$stage/moved/include" -o own ping_pong.c -L "$lib" -lweft
	cp own "$stage/own"
	ping_pong env LD_LIBRARY_PATH="$lib" "$stage/own"
	# Neither the sources nor the build are looked through.
	rm -r "$stage/moved/share/weft"
	[ ! -e /usr/local/share/weft ] || skip "another weft is installed below /usr/local"
	run -2 by_user "$stage/moved/bin/weft" run "$prefix/share/doc/weft/examples/incast.yaml"
	run -1 by_user env LD_LIBRARY_PATH="$lib" "$stage/own"
}

@test "DESTDIR is honoured, and uninstalling leaves nothing" {
	DESTDIR=$PWD/root cmake --install "$build" --prefix "/opt/my weft" >log.txt
	[ -x "root/opt/my weft/bin/weft" ]
	cp "$build/install_manifest.txt" manifest.txt
	[ "$(wc -l <manifest.txt)" -gt 50 ]
	touch "root/opt/my weft/share/weft/profiles/of-the-user.yaml"
	DESTDIR=$PWD/root cmake -D MANIFEST=manifest.txt -P "$WEFT_SOURCE_DIR/cmake/uninstall.cmake" >log.txt 2>&1
	[ "$(find root ! -type d)" = "root/opt/my weft/share/weft/profiles/of-the-user.yaml" ]
	[ ! -e "root/opt/my weft/include/weft" ]
	[ ! -e "root/opt/my weft/share/doc/weft" ]
}
