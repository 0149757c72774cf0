#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands.py pages | check PAGE... | cli PAGE | live PAGE - the commands that README.md and docs/ tell people to type.

A block of a page (indented, or between lines of ```) whose first line, comments aside, begins with a prompt or a
program's name, or which has a command of weft anywhere, is commands. `pages` lists the pages that have some. `check` fails on a command for which nothing here says how it
is tested. `cli` and `live` print a page's commands as a script of bash, for tests/cli/docs.bats and
tests/live/docs.bats: blocks with a command of live fabrics are live, others are not.

They are run as they are written, but for what PLAN says: what a reader is to fill in is filled in, what would take
long is made small, and what cannot run here names what runs it instead.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ("weft", "make", "cmake", "ctest", "cc", "sqlite3", "scripts/", "jq", "man", "cat", "mpirun",
            "build/", "apt-get", "sudo", "git", "tar", "dpkg", "pkg-config", "source", "./")
PROMPT = re.compile(r"^(?:machine(\d))?\$ ")
SAYS = re.compile(r"weft \w+: ")  # it is what weft prints
SETS = re.compile(r"^(?:\w+=\S* )+")  # variables of one command
WEFT = re.compile(r"(?:^|[|&;] *)weft [a-z]+\b(?!:)")
LIVE = re.compile(r"(^|[|&;(] *|machine \d )weft (up|down|status|exec|fault|capture)\b")
PREPARE = {
    "README.md": "sed -n '/^```yaml$/,/^```$/{/^```/d;p}' \"$WEFT_SOURCE_DIR/README.md\" >mine.yaml; mkdir DIR",
    "docs/results.md": "mkdir examples; cp small.yaml examples/incast.yaml; "
                       "weft sweep examples/incast.yaml --vary seed=1,2 --record kmin.db",
    "docs/json.md": "mkdir examples; cp small.yaml examples/incast.yaml",
    "docs/ib.md": "ln -s \"$WEFT_SOURCE_DIR/examples\" examples",
    "docs/audit.md": "ln -s \"$WEFT_SOURCE_DIR/examples\" examples; cp -r examples/audit/clean net",
    "docs/diagnose.md": "ln -s \"$WEFT_SOURCE_DIR/examples\" examples",
    "docs/incidents.md": "ln -s \"$WEFT_SOURCE_DIR/examples\" examples",
    "docs/c-api.md": "cp \"$WEFT_SOURCE_DIR/examples/c/ping_pong.c\" my_program.c",
}
# Of a page: what is replaced in its commands (pattern, text), and where others are tested (pattern, place).
PLAN = {
    "README.md": {
        "instead": [(r"--size 2\.\.8M", "--size 2..8"),
                    (r"config\.txt --out", '"$hpcc/config.txt" --paths "$hpcc/paths.txt" --out')],
        "elsewhere": [(r"^make (run|test)", "what a change must pass, .ci/run; cli_compare has what `make run` prints")],
    },
    "CONTRIBUTING.md": {
        "elsewhere": [(r"^(cmake|ctest) --", "scripts/build and scripts/test, which do just that")],
    },
    "docs/c-api.md": {
        "elsewhere": [(r"^build/release/examples/ping_pong", "example_ping_pong"),
                      (r"^cc .*pkg-config", "the tests of what is installed")],
    },
    "docs/claims.md": {
        "elsewhere": [(r"^scripts/claims.py", "cli_claims, which runs --check")],
    },
    "docs/incidents.md": {
        "elsewhere": [(r"^scripts/claims.py", "cli_claims, which runs --check")],
    },
    "docs/diagnose.md": {
        "elsewhere": [(r"^weft diagnose", "cli_diagnose, which knows their exit status")],
    },
    "docs/ib.md": {
        "elsewhere": [(r"--engine minhop$|fabric\.net --lfts|^ibnetdiscover|/var/log", "cli_ib")],
    },
    "docs/json.md": {
        "elsewhere": [(r"\bjq\b", "the test docs/json.md of tests/cli/docs.bats")],
    },
    "docs/live-wire.md": {
        "instead": [(r"192\.0\.2\.", "$net."), (r"ib_write_bw -x 1$", "ib_write_bw -x 1 &")],
    },
    "docs/live.md": {
        "elsewhere": [(r"rank\.sh|^mpirun|^-x UCX", "live_programs: Open MPI over UCX, eight ranks on four hosts"),
                      (r"librspreload", "live_cm: programs with librspreload"),
                      (r"-- (iblinkinfo|perfquery|saquery)\b", "live_umad: each of the tools"),
                      (r"\bopensm\b|^mkdir -p osm", "live_opensm")],
    },
    "docs/packaging.md": {
        "elsewhere": [(r"^make (install|uninstall|dist|deb)\b|^(DESTDIR=\S+ )?cmake ", "the tests in tests/install")],
    },
    "docs/nccl.md": {
        "elsewhere": [(r"train\.py", "scripts/nccl, on a machine with a GPU")],
    },
}
# In every page: a port that no other test has, a run that the clock of the CPU does not end, and captures that end.
INSTEAD = [
    (r"\bib_write_bw\b", "ib_write_bw -F -p $port"),
    (r"\bweft capture\b", "weft capture --duration 1s"),
    (r"\bwireshark -k -i -", "tshark -r - >packets.txt"),
]


def blocks(page):
    """Yields (number of its first line, lines) for each block of code."""
    fence, block, first = False, [], 0
    for number, line in enumerate((ROOT / page).read_text().splitlines() + [""], 1):
        mark = line.lstrip().startswith("```")
        inside = fence and not mark or not fence and re.match(r"\t|    ", line)
        if inside or (block and not fence and not line.strip() and not mark):
            if not block:
                first = number
            block.append(line)
        elif block:
            yield first, block
            block = []
        if mark:
            fence = not fence
    if block:
        yield first, block


def is_commands(text):
    begin = SETS.sub("", text[0])
    if SAYS.match(begin):
        return False
    return bool(PROMPT.match(begin)) or begin.startswith(PROGRAMS) or any(WEFT.search(SETS.sub("", t)) for t in text)


def commands(page):
    """Yields lists of (line, command), one for each block of commands. Those of machines begin with `machine N `."""
    for first, lines in blocks(page):
        text = [line.strip() for line in lines]
        if not is_commands([line for line in text if not line.startswith("#")] or text):
            continue
        prompts = any(PROMPT.match(line) for line in text)
        found, continued = [], False
        for number, line in enumerate(text, first):
            if continued:
                found[-1] = (found[-1][0], found[-1][1][:-1] + line)
            elif line and (PROMPT.match(line) if prompts else not line.startswith("#")):
                found.append((number, PROMPT.sub(lambda m: f"machine {m[1]} " if m[1] else "", line)))
            else:
                continue
            continued = found[-1][1].endswith("\\")
        yield [(number, re.sub(r"\s+#\s.*", "", command)) for number, command in found]


def pages():
    names = ["README.md", "CONTRIBUTING.md"] + sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))
    return [name for name in names if any(commands(name))]


def elsewhere(page, command):
    return any(re.search(pattern, command) for pattern, _ in PLAN.get(page, {}).get("elsewhere", []))


def chosen(page, live):
    """The blocks of one kind, without what is tested elsewhere."""
    for block in commands(page):
        rest = [(n, c) for n, c in block if not elsewhere(page, c)]
        if rest and any(LIVE.search(c) for _, c in block) == live:
            yield rest


def script(page, live):
    print("set -euo pipefail")
    if not live and page in PREPARE:
        print(PREPARE[page])
    for block in chosen(page, live):
        if live and not any(re.search(r"\bweft up\b", c) for _, c in block):
            print("weft up")
        for number, command in block:
            for pattern, text in PLAN.get(page, {}).get("instead", []) + INSTEAD * live:
                command = re.sub(pattern, lambda _, text=text: text, command)
            print(f"step {page}:{number}")
            print(command)
        if live:
            print("end_block")


def check(names):
    """Commands that no test would run, and rules for commands that are there no more."""
    good = True
    for page in names:
        found = [c for block in commands(page) for _, c in block]
        for number, command in [pair for block in commands(page) for pair in block]:
            known = elsewhere(page, command) or re.match(r"(machine \d )?weft |sqlite3 |jq ", command)
            if not known:
                print(f"{page}:{number}: nothing tests: {command}")
                good = False
        plan = PLAN.get(page, {})
        for pattern, _ in plan.get("elsewhere", []) + plan.get("instead", []):
            if not any(re.search(pattern, command) for command in found):
                print(f"{page}: has no command any more that is like {pattern}")
                good = False
    return good


def main():
    what, names = sys.argv[1], sys.argv[2:]
    if what == "pages":
        print("\n".join(pages()))
    elif what == "check":
        sys.exit(0 if names and check(names) else 1)
    else:
        script(names[0], what == "live")


if __name__ == "__main__":
    main()
