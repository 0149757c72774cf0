#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: install
# deb.bats - the release tarball builds Debian packages without Node.js, lintian accepts them, and they work in a clean
# system: the essential packages of this machine's release, from where its apt has them, and what ours depend on.

bats_require_minimum_version 1.5.0
load common

# cannot WHY: where it must be able to, that is a failure.
cannot() {
	[ -n "${CI-}" ] || skip "$1"
	echo "$1, and \$CI is set"
	return 1
}

# The packages are those that a release would have, but that they are compiled quickly.
prepare() {
	command -v dpkg-buildpackage >/dev/null || return 0
	local tarball
	tarball=$("$WEFT_SOURCE_DIR/scripts/dist" "$stage/dist" 2>"$stage/dist.txt") || return 1
	tools_without "$stage/bin" node nodejs npm npx corepack
	PATH=$stage/bin:/usr/sbin:/sbin DEB_BUILD_OPTIONS="noopt noautodbgsym parallel=$(nproc)" DEB_CFLAGS_STRIP=-g \
		"$WEFT_SOURCE_DIR/scripts/deb" "$stage/my deb" "$tarball" >"$stage/deb.txt" 2>&1 || {
		cat "$stage/deb.txt"
		return 1
	}
}

# here: the clean system, made by the first who asks: of what our packages need there is what they say, and base-files, which
# makes the folders; dpkg installs them.
here() {
	local root=$stage/root ours=()
	[ -d "$stage/my deb" ] || cannot "the packages are made on Debian"
	[ "$(id -u)" -eq 0 ] || cannot "only root installs packages"
	[ ! -e "$root/usr/bin/weft" ] || return 0
	ours=("$stage/my deb"/{weft_,libweft1_,weft-doc_}*.deb)
	"$WEFT_SOURCE_DIR/scripts/debian-root" "$root" "$(dpkg --print-architecture)" base-files ibverbs-utils "${ours[@]}"
	PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --force-unsafe-io --install "${ours[@]}" >log.txt 2>&1 || {
		cat log.txt
		return 1
	}
	install -d -m 700 -o 65534 -g 65534 "$root/srv"
}

# inside COMMAND...: an ordinary user in the clean system, which has a /proc.
inside() {
	unshare --mount --pid --fork --mount-proc="$stage/root/proc" \
		env -i HOME=/srv TMPDIR=/srv PATH=/usr/sbin:/usr/bin:/bin WEFT_RUNTIME_DIR=/srv \
		chroot --userspec=65534:65534 "$stage/root" "$@"
}

@test "two release tarballs of the same sources are the same, and have the page" {
	[ -d "$stage/dist" ] || cannot "no tarball was made"
	run -0 "$WEFT_SOURCE_DIR/scripts/dist" again
	cmp again/*.tar.gz "$stage"/dist/*.tar.gz
	run -0 tar -tzf again/weft-*.tar.gz
	says "$output" /web/page_template.c
	says "$output" /examples/incast.yaml
	[[ "$output" != */build/* && "$output" != */debian/* ]]
}

@test "the packages hold what they are named for, and no path of the build" {
	[ -d "$stage/my deb" ] || cannot "the packages are made on Debian"
	for one in weft libweft1 libweft-dev weft-doc; do
		dpkg-deb -x "$stage/my deb"/"$one"_*.deb "$one"
	done
	[ -x weft/usr/bin/weft ]
	[ -f weft/usr/share/weft/profiles/ib-ndr.yaml ]
	[ -f weft/usr/share/man/man1/weft.1.gz ]
	[ -f libweft-dev/usr/include/weft/weft.h ]
	[ -f weft-doc/usr/share/doc/weft/examples/c/ping_pong.c ]
	[ -n "$(find libweft1 -name libweft.so.1)" ]
	run -1 grep -rlF -e "$stage" -e "$WEFT_SOURCE_DIR" weft libweft1 libweft-dev weft-doc
	[ -z "$output" ]
}

@test "lintian accepts the packages" {
	[ -d "$stage/my deb" ] || cannot "the packages are made on Debian"
	# scripts/deb fails where it does not; this is that it was asked, and about all of them.
	run -1 grep -E '^[EW]:' "$stage/my deb/lintian"
	run -0 grep -c '^ [0-9a-f]\{64\} .*_\(amd64\|arm64\|all\)\.deb$' "$stage/my deb"/*.changes
	[ "$output" -eq 4 ]
}

@test "in a clean system an ordinary user runs a scenario" {
	here
	inside weft run /usr/share/doc/weft/examples/incast.yaml --json >out.json
	grep -q '"weft"' out.json
	diff <(inside weft list profiles) <("$WEFT" list profiles)
}

@test "in a clean system the page of weft report is the usual one" {
	here
	"$WEFT" run "$WEFT_SOURCE_DIR/examples/incast.yaml" --record r.db >/dev/null 2>&1
	cp r.db "$stage/root/srv/r.db"
	chmod 644 "$stage/root/srv/r.db"
	inside weft report /srv/r.db -o - >clean.html
	"$WEFT" report r.db -o - >usual.html
	cmp clean.html usual.html
	grep -q "</html>" clean.html
}

@test "in a clean system an ordinary user runs an RDMA program" {
	here
	run -0 inside weft exec -- ibv_devinfo
	says "$output" "hca_id:	weft0"
	says "$output" PORT_ACTIVE
}

@test "in a clean system a program finds the library and its profiles" {
	here
	dpkg-deb -x "$stage/my deb"/libweft-dev_*.deb dev
	dpkg-deb -x "$stage/my deb"/libweft1_*.deb dev
	cc -I dev/usr/include -o "$stage/root/srv/ping_pong" "$WEFT_SOURCE_DIR/examples/c/ping_pong.c" \
		-L "$(dirname "$(find dev -name libweft.so)")" -lweft
	diff <(inside /srv/ping_pong) <("$build/examples/ping_pong")
}
