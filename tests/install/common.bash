# SPDX-License-Identifier: Apache-2.0
# common.bash - what the tests of installing and packaging share. $WEFT is the program in the build tree. A file's tests
# share the folder $stage, which others may come into.

load ../live/user

setup_file() {
	unset WEFT_PROFILES
	stage=$(mktemp -d "${TMPDIR:-/tmp}/weft-install.XXXXXX")
	chmod 755 "$stage"
	export stage
	prepare
}

teardown_file() {
	rm -rf "$stage"
}

setup() {
	: "${WEFT:?is the path of the program under test}"
	build=$(dirname "$WEFT")
	unset WEFT_FABRIC WEFT_HOST WEFT_SOCKET LD_PRELOAD LD_LIBRARY_PATH PKG_CONFIG_PATH DESTDIR
	unset XDG_RUNTIME_DIR
	cd "$BATS_TEST_TMPDIR" || return 1
}

# says TEXT WANTED: fails, and shows both, when TEXT does not contain WANTED.
says() {
	if [[ "$1" != *"$2"* ]]; then
		echo "expected: $2"
		echo "     got: $1"
		return 1
	fi
}

# tools_without FOLDER PROGRAM...: fills it with all that the system has but these, for a PATH.
tools_without() {
	local folder=$1 program
	shift
	mkdir -p "$folder"
	ln -s /usr/bin/* "$folder/"
	for program in "$@"; do
		rm -f "$folder/$program"
	done
}

# by_user COMMAND...: an ordinary user in a folder of its own.
by_user() {
	export WEFT_RUNTIME_DIR=$stage/home
	mkdir -p "$stage/home"
	if [ "$(id -u)" -ne 0 ]; then
		(cd "$stage/home" && "$@")
		return
	fi
	ordinary_user weft-test
	chown "$user:" "$stage/home"
	(cd "$stage/home" && become "$user" "$stage/home" "$@")
}
