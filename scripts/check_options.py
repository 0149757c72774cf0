#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_options.py [--weft PROGRAM | FILE] - fail where the commands' options do not agree.

FILE has what `weft help --json` prints; otherwise PROGRAM is asked, which is the first of build/release,
build/debug and build/clang that has been built. Each option means one thing in the whole program,
and each letter; no command has a spelling twice, old ones among them; the page that --help prints and the page of the manual say the
same; and nothing is left unsaid. mandoc reads the manual's pages.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

BUILDS = ("release", "debug", "clang")


def disagreements(commands):
    """Options, letters and old spellings that stand for two things."""
    meaning, letters = {}, {}
    for command in commands:
        for option in command["options"]:
            name = option["name"]
            what = (option["letter"], option["argument"], option["help"])
            first, seen = meaning.setdefault(name, (what, command["name"]))
            for part, here, there in zip(("letter", "argument", "meaning"), what, first):
                if here != there:
                    yield (f"weft {command['name']}: --{name} has another {part} than in weft {seen}: "
                           f"'{here}', not '{there}'")
            letter = option["letter"]
            first, seen = letters.setdefault(letter, (name, command["name"])) if letter else (name, "")
            if first != name:
                yield (f"weft {command['name']}: -{letter} is --{name}, and --{first} in weft {seen}")


def repeated(command):
    """Spellings that a command has twice, old ones included."""
    spelled = collections.Counter()
    for option in command["options"]:
        spelled.update("--" + option[key] for key in ("name", "old") if option[key])
        spelled.update("-" + option[key] for key in ("letter", "old_letter") if option[key])
    for word, times in spelled.items():
        if times > 1:
            yield f"weft {command['name']}: {word} is there {times} times"


def documented(command):
    """The options that the page has: lines of its list."""
    part = re.search(r"^Options:\n(.*?)(?=^\S|\Z)", command["text"], re.M | re.S)
    lines = part[1].splitlines() if part else []
    return [match[1] for match in (re.match(r" {2}(?:-\w, | {4})--([\w-]+)", line) for line in lines)
            if match]


def undocumented(command):
    told = documented(command)
    for option in command["options"]:
        name = option["name"]
        if option["gone"] and name in told:
            yield f"weft {command['name']}: --{name} is of an older version, and its page tells of it"
        elif not option["gone"] and name not in told:
            yield f"weft {command['name']}: its page says nothing of --{name}"
        elif not option["help"].strip():
            yield f"weft {command['name']}: --{name} has no help"
    for name in set(told) - {option["name"] for option in command["options"]}:
        yield f"weft {command['name']}: its page has --{name}, which is no option"


def normal(words):
    """Words in small letters without what is around them, each part of a list by itself."""
    text = re.sub("[\u2018\u2019`'\"]", "", words.lower())
    return [word for word in re.split(r"[\s,]+", text) if re.search(r"\w", word) and word != "o"]


def manual_words(roff):
    """The words of a page of the manual behind its NAME, without head and foot."""
    text = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000"], input=roff, text=True,
                          capture_output=True, check=False).stdout
    text = re.sub(".\b", "", text).rstrip()
    return normal("\n".join(text.split("SYNOPSIS", 1)[-1].splitlines()[:-1]))


def help_words(text):
    words = re.sub(r"^usage:", "", text)
    words = re.sub(r"^(\w[\w ]*):$", r"\1", words, flags=re.M)
    return normal(words)


def differences(command):
    """What stands on one of a command's two pages only."""
    here = collections.Counter(help_words(command["text"]))
    there = collections.Counter(manual_words(command["roff"]))
    # The manual has a title where the help has an empty line.
    there.subtract(["description"])
    which = " ".join(filter(None, ("weft", command.get("name"))))
    for name, words in (("help", here - there), ("manual", there - here)):
        if words:
            yield f"{which}: only its {name} has {', '.join(sorted(words.elements())[:8])}"


def errors(told):
    commands = told["commands"]
    yield from disagreements(commands)
    if "overview" in told:
        yield from differences(told["overview"])
    for command in commands:
        yield from repeated(command)
        yield from undocumented(command)
        yield from differences(command)


def tables(args):
    if args and args[0] != "--weft":
        return json.loads(pathlib.Path(args[0]).read_text())
    root = pathlib.Path(__file__).resolve().parent.parent
    built = [root / "build" / build / "weft" for build in BUILDS]
    program = args[1] if args else next((path for path in built if path.exists()), None)
    if program is None:
        sys.exit("check_options.py: weft is not built")
    done = subprocess.run([program, "help", "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    if shutil.which("mandoc") is None:
        sys.exit("check_options.py: mandoc is missing (scripts/setup --test)")
    found = list(errors(tables(sys.argv[1:])))
    for message in found:
        print(message)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
