# SPDX-License-Identifier: Apache-2.0
# user.bash - ordinary users for tests that root starts. Sourced.

# ordinary_user NAME: sets $user to an account of that name, made where it is missing, with no password, no home
# and no group but its own. Several may ask for it at once. Where accounts cannot be made, it is nobody.
ordinary_user() {
	user=$1
	id -u "$user" >/dev/null 2>&1 || (
		flock 9
		id -u "$user" >/dev/null 2>&1 || useradd --system --user-group --no-create-home \
			--home-dir /nonexistent --shell /usr/sbin/nologin "$user"
	) 9</etc/passwd || user=nobody
}

# become NAME HOME COMMAND...: runs it as that user, without root's rights and environment: HOME is its home, it
# has no XDG_RUNTIME_DIR, and of all other variables only those that the tests are told by.
become() {
	local name=$1 home=$2 keep=() one
	shift 2
	for one in PATH LANG TERM WEFT WEFT_SOURCE_DIR WEFT_TEST_SHORT WEFT_TEST_ALL WEFT_RUNTIME_DIR ASAN_OPTIONS UBSAN_OPTIONS \
		TSAN_OPTIONS; do
		[ -z "${!one+set}" ] || keep+=("$one=${!one}")
	done
	env -i "${keep[@]}" USER="$name" LOGNAME="$name" HOME="$home" SHELL=/bin/bash \
		setpriv --reuid "$name" --regid "$(id -g "$name")" --clear-groups --no-new-privs \
		--bounding-set=-all --inh-caps=-all "$@"
}
