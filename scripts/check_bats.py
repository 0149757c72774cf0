#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bats.py [ROOT] - find what makes tests pass, or fail, for no reason.

In tests/**/*.bats and *.bash:
  sleep             a fixed wait: too short on one machine, too long on another. Wait for what is to
                    happen (until_true). Where time itself is what is tested, say so: `# time: why`,
                    in the line or in the one above.
  run               without an option that says how it ends (-N, !), and nobody looks at $status
  || true           hides how a command ends: say why it may fail, `|| true # why`. After `kill`, and
                    in teardown, it needs no word. (|| : is the same.)
  a && b            as a line of its own: that a fails is heard by nobody. Two lines, or an if.
  for x in $(...)   with checks inside passes when the list is empty: `# some: why there are some`, or
                    read it into an array and look how many there are.
In C and Python below tests/: sleep(), usleep(), nanosleep(), time.sleep(): `time: why` as above.
Files that others wrote are none of these.
"""
import pathlib
import re
import sys

HEREDOC = re.compile(r"<<(-?)\s*(\\?)(['\"]?)(\w+)\3")
SLEEP = re.compile(r"(?:^|[;&|{(]|\bdo\b|\bthen\b|\belse\b)\s*sleep\b(?![^;]*&\s*$)")
RUN = re.compile(r"(?:^|;|\bdo\b|\bthen\b)\s*run\s+(?!-\d|!|--separate-stderr\s+-\d)")
ANY_RUN = re.compile(r"(?:^|;|\bdo\b|\bthen\b)\s*run\s")
SWALLOW = re.compile(r"\|\|\s*(?:true|:)(?=\s*(?:$|[;)}]))")
KILL = re.compile(r"\bkill\b[^;&|]*\|\|\s*(?:true|:)")
WORDS = re.compile(r"^\s*(?:if|elif|while|until|for|case|local|return)\b")
LIST = re.compile(r"\bfor\s+\w+\s+in\s+[^;]*\$\((?!seq\b)")
C_SLEEP = re.compile(r"(?<![\w.])(?:u?sleep|nanosleep)\s*\(\s*[^)\s]")
PY_SLEEP = re.compile(r"\btime\.sleep\s*\(")


class Line:
    """A line of a shell script: its code, with what is quoted left out, and its comment."""

    def __init__(self, number, code, comment):
        self.number = number
        self.code = code
        self.comment = comment


def close_of(text, at):
    """Where the $( that begins before `at` ends: behind its parenthesis."""
    depth = 1
    quote = ""
    while at < len(text) and depth > 0:
        c = text[at]
        if quote:
            if c == "\\" and quote == '"':
                at += 1
            elif c == quote:
                quote = ""
        elif c in "'\"":
            quote = c
        elif c == "\\":
            at += 1
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        at += 1
    return at


def quoted_end(text, at):
    """Where the quotation that begins at `at` ends: behind its last character."""
    quote = text[at]
    at += 1
    while at < len(text) and text[at] != quote:
        if quote == '"' and text.startswith("$(", at):
            at = close_of(text, at + 2)
            continue
        at += 2 if text[at] == "\\" and quote == '"' else 1
    return at + 1


def shell_lines(text):
    """The lines of a script. What is quoted is "" there, and a here-document nothing."""
    out = []
    code, number, at, line = "", 1, 0, 1
    documents = []

    def put(comment):
        nonlocal code, number
        out.append(Line(number, code, comment))
        code = ""

    while at < len(text):
        c = text[at]
        if c == "\\" and at + 1 < len(text):
            line += text[at + 1] == "\n"
            at += 2
            code += " "
        elif c in "'\"":
            end = quoted_end(text, at)
            # What is looked at within quotes still counts.
            code += '"' + " ".join(re.findall(r"\$\{?\w+", text[at:end])) + '"'
            line += text.count("\n", at, end)
            at = end
        elif c == "#" and (at == 0 or text[at - 1] in " \t\n;"):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            put(text[at:end])
            # The rest of the line is empty, and is not a line of its own.
            at = end + 1
            line += 1
            number = line
        elif c == "\n":
            put("")
            at += 1
            line += 1
            for word, tabs in documents:
                while at < len(text):
                    end = text.find("\n", at)
                    end = len(text) if end < 0 else end
                    row = text[at:end]
                    at = end + 1
                    line += 1
                    if (row.lstrip("\t") if tabs else row) == word:
                        break
            documents = []
            number = line
        else:
            match = HEREDOC.match(text, at) if c == "<" else None
            if match and not text.startswith("<<<", at):
                documents.append((match[4], match[1] == "-"))
                code += match[0]
                at = match.end()
            else:
                code += c
                at += 1
    if code:
        put("")
    return out


def explained(lines, i, mark):
    """Whether the line's comment, or those right above it, have the mark."""
    if mark in lines[i].comment:
        return True
    while i > 0 and not lines[i - 1].code.strip() and lines[i - 1].comment:
        i -= 1
        if mark in lines[i].comment:
            return True
    return False


def is_looked_at(lines, i):
    """Whether somebody looks at $status between the `run` in line i and the next, or the end."""
    rest = lines[i].code[RUN.search(lines[i].code).end():]
    if "status" in rest:
        return True
    for line in lines[i + 1:]:
        if line.code.startswith("}") or line.code.startswith("@test"):
            return False
        if "status" in line.code:
            return True
        if ANY_RUN.search(line.code):
            return False
    return False


def is_silent_list(lines, i):
    """Whether the line is `a && b`, and is followed by more in its test."""
    code = lines[i].code.strip()
    if "&&" not in code or "||" in code or WORDS.match(code) or code.endswith(("&&", "{", "then")):
        return False
    if i > 0 and lines[i - 1].code.rstrip().endswith(("&&", "||", "|")):
        return False
    # In a condition, in a subshell, in a function of one line: somebody hears it.
    if re.search(r"\[\[.*&&.*\]\]|\(\(.*&&.*\)\)|\$\(|^\(|\(\)\s*\{", code):
        return False
    if re.search(r"&&\s*(?:return|break|continue|skip|exit)\b", code):
        return False
    for line in lines[i + 1:]:
        if line.code.strip():
            return not line.code.strip().startswith("}")
    return False


def has_checks(lines, i):
    """Whether the loop that begins in line i is in a test and checks something."""
    depth = 0
    for line in lines[i:]:
        depth += len(re.findall(r"\bdo\b", line.code)) - len(re.findall(r"\bdone\b", line.code))
        if line is not lines[i] and re.match(r"\s*(?:\[|(?:grep|cmp|diff|run|says)\b)", line.code):
            return True
        if depth <= 0 and line is not lines[i]:
            return False
    return False


def shell_faults(text):
    """Yields (line number, what is wrong)."""
    lines = shell_lines(text)
    place = ""
    for i, line in enumerate(lines):
        code = line.code
        begin = re.match(r"@test\b|(\w+)\s*\(\)\s*\{", code)
        if begin:
            place = begin[1] or "@test"
        if SLEEP.search(code) and not explained(lines, i, "time:"):
            yield line.number, "a fixed sleep: wait for what is to happen, or say `# time: why`"
        if RUN.search(code) and not is_looked_at(lines, i):
            yield line.number, "nobody looks at the status of this `run`"
        if (SWALLOW.search(code) and not KILL.search(code) and not line.comment and
                not place.startswith("teardown")):
            yield line.number, "`|| true` without a word why it may fail"
        if is_silent_list(lines, i):
            yield line.number, "that the left side of && fails is heard by nobody"
        if (place == "@test" and LIST.search(code) and has_checks(lines, i) and
                not explained(lines, i, "some:")):
            yield line.number, "the loop checks nothing when its list is empty"


def code_faults(text, pattern):
    """The same for C and Python: fixed sleeps."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if pattern.search(line) and "time:" not in line and (i == 0 or "time:" not in lines[i - 1]):
            yield i + 1, "a fixed sleep: wait for what is to happen, or say `time: why`"


def faults(path):
    text = path.read_text(errors="replace")
    if path.suffix in (".bats", ".bash"):
        return shell_faults(text)
    return code_faults(text, PY_SLEEP if path.suffix == ".py" else C_SLEEP)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    failed = False
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix not in (".bats", ".bash", ".c", ".h", ".py") or "scripts" in path.parts[-2:-1]:
            continue
        for number, what in faults(path):
            print(f"{path.relative_to(root)}:{number}: {what}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
