# SPDX-License-Identifier: Apache-2.0
# adding.bats - a subcommand takes its own file and one row: subcommand.patch adds one to a copy of the
# sources, and what is built of it is the program with that command.

load common

# build_patched: compiles what the patch touches, as the build did, and links it before its libraries.
build_patched() {
	python3 - "$(dirname "$WEFT")" "$WEFT_SOURCE_DIR" "$PWD/tree" <<-'END'
		import pathlib, shlex, subprocess, sys
		build, source, tree = map(pathlib.Path, sys.argv[1:])
		lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "weft"], check=True,
		                       capture_output=True, text=True).stdout.splitlines()
		def line_of(name):
		    return next(line for line in lines if line.endswith(f" -c {source}/src/cli/{name}"))
		def compile(name, like):
		    words = shlex.split(line_of(like).replace(str(source), str(tree)))
		    words = words[words.index(next(word for word in words if word.startswith("-"))) - 1:]
		    words[words.index("-o") + 1] = f"{tree}/{name}.o"
		    words[words.index("-MF") + 1] = f"{tree}/{name}.d"
		    words[-1] = f"{tree}/src/cli/{name}"
		    subprocess.run(words, check=True, cwd=build)
		    return f"{tree}/{name}.o"
		objects = [compile("main.c", "main.c"), compile("commands.c", "commands.c"),
		           compile("manual_overview.c", "manual_overview.c"), compile("cmd_greet.c", "commands.c")]
		link = shlex.split(lines[-1])
		link = link[2:link.index("&&", 2)]
		main = next(word for word in link if word.endswith("/main.c.o"))
		link[link.index(main):link.index(main) + 1] = objects
		link[link.index("-o") + 1] = f"{tree}/weft"
		subprocess.run(link, check=True, cwd=build)
	END
}

# Linking takes long with optimisation.
# bats test_tags=checked
@test "a subcommand is a file and a row" {
	[ -f "$(dirname "$WEFT")/build.ninja" ] || skip "the program was not built here"
	patch=$WEFT_SOURCE_DIR/tests/cli/subcommand.patch
	[ "$(grep -c '^+++ ' "$patch")" -eq 2 ]
	mkdir tree
	cp -r "$WEFT_SOURCE_DIR/src" "$WEFT_SOURCE_DIR/include" tree
	patch -s -d tree -p1 <"$patch"
	build_patched

	WEFT=$PWD/tree/weft
	weft greet --whom fabric
	[ "$status" -eq 0 ]
	[ "$out" = "hello, fabric" ]
	weft greet -j
	[ "$out" = '{"hello": "world"}' ]
	weft greet --whim you
	[ "$status" -eq 2 ]
	says "$err" "weft greet: there is no option --whim; did you mean whom?"
	weft gret
	says "$err" "did you mean greet?"
	# Its page, in the list of all and by itself, its manual, and completion are there of themselves.
	weft help
	says "$out" "  weft greet       say hello"
	weft help greet
	says "$out" "usage: weft greet [--whom WORD] [--json]"
	says "$out" "  -W, --whom WORD         Whom it greets; the world if not given."
	python3 -B "$WEFT_SOURCE_DIR/scripts/check_options.py" --weft "$WEFT"
	weft help --pages man
	grep -q 'weft\\-greet \\- say hello' man/weft-greet.1
	weft completion --words -- weft gr
	[ "$out" = "greet	say hello" ]
	weft completion --words -- weft greet --whom f
	[ "$out" = "fabric	" ]
}
