#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man5.py scenario|results OUT [PARAMETERS.json] - write weft-scenario(5) or weft-results(5) to OUT.

The words are those of docs/scenario.md and docs/results.md. The parameters are the program's own, as `weft list
parameters --json` prints them to PARAMETERS.json; the tables of a results file are those of
src/results/record_schema.c, with its comments. It fails where docs/results.md has other tables or columns.
"""
import json
import pathlib
import re
import sqlite3
import sys

import md2man

ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- parameters ----

LONG_WORD = 40  # of what has no blanks: longer ones may be broken at commas


def group_of(name, sizes):
    """A section of the scenario file, or a part of a large one."""
    words = name.split(".")
    if len(words) == 1 or words[0] == "compare":
        return "run and compare" if words[0] in ("compare", "matters") else "name and seed"
    for depth in (3, 2):
        group = ".".join(words[:depth])
        if words[0] == "fabric" and len(words) > depth and sizes.get(group, 0) >= 4:
            return group
    return "run and compare" if words[0] == "run" else words[0]


def span(row):
    text = row["range"]
    if not text:
        return ""
    limits, auto = (text[:-5], ", or auto") if text.endswith("|auto") else (text, "")
    if "|" in text and ".." not in text:
        return "; one of " + text.replace("|", ", ")
    return "; " + " to ".join(limits.split("..")) + auto


def whose(row):
    """Who may have a value of its own, and when."""
    if not row["per"]:
        return ""
    return " Of each " + ", ".join(row["per"]) + ("; may change." if row["changes"] else ".")


def parameters(rows):
    sizes = {}
    for row in rows:
        words = row["name"].split(".")
        for depth in range(1, len(words)):
            group = ".".join(words[:depth])
            sizes[group] = sizes.get(group, 0) + 1
    groups, out = {}, [".SH PARAMETERS", "All that a scenario may set, with the names of",
                       "\\fBweft list parameters\\fR and \\fB\\-\\-set\\fR. What is of each host, switch, port or link",
                       "may be set by \\fBdevices\\fR, and by \\fBfaults\\fR where it may change."]
    for row in rows:
        groups.setdefault(group_of(row["name"], sizes), []).append(row)
    for group, members in groups.items():
        out.append(f".SS {md2man.escape(group)}")
        for row in members:
            default = md2man.escape(row["default"] or "none", code=True)
            if len(default) > LONG_WORD:
                default = default.replace(",", ",\\:")  # a line may end there
            out += [".TP", "\\fB" + md2man.escape(row["name"], code=True) + "\\fR",
                    md2man.guard(md2man.escape(row["help"]) + "."),
                    f"Default \\fB{default}\\fR{md2man.escape(span(row))} "
                    f"({md2man.escape(row['unit'])}).{whose(row)}"]
    return out


# ---- tables ----


def unquote(literals):
    """What C makes of string literals one after the other."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace("\\n", "\n").replace("\\t", "\t")


def statements(source, header):
    """(comment, SQL) of each entry of the table wf_record_schema; header has what it names."""
    body = source[source.index("wf_record_schema[] = {"):]
    body = body[:body.index("NULL,\n};")]
    macros = re.findall(r"#define (WF_RECORD_\w+)[ \t]+((?:.*\\\n)*.*)\n", header)
    for name, text in macros:
        literals = " ".join(re.findall(r'"(?:[^"\\]|\\.)*"', text))
        body = re.sub(rf"\b{name}\b", lambda _, to=literals: to, body)
    found = re.findall(r'(?:/\*(.*?)\*/\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+),', body, re.S)
    return [(" ".join(re.sub(r"^\s*\*", "", comment, flags=re.M).split()), unquote(sql)) for comment, sql in found]


def columns(sql):
    """(name, type, comment) of each column of CREATE TABLE."""
    found = []
    for line in sql.splitlines()[1:]:
        line = re.sub(r"/\*(.*?)\*/(,?)", r"\2 --\1", line)
        text, _, comment = line.strip().partition("--")
        words = text.rstrip(" ,").split(None, 1)
        if comment and not words:
            found[-1][2] += " " + comment.strip()
        elif words and words[0].islower():
            kind = (words[1:] or [""])[0]
            found.append([words[0].rstrip(","), kind.rstrip(" ,"), comment.strip()])
    return found


def check_sql(all_sql):
    """The columns that SQLite itself sees, by table and view."""
    db = sqlite3.connect(":memory:")
    for _, sql in all_sql:
        db.execute(sql)
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}


def documented(markdown):
    """(a row is, columns) of each table in the overview of docs/results.md."""
    text = markdown[markdown.index("| table | a row is"):]
    rows = [md2man.cells(line) for line in text[:text.index("\n\n")].splitlines()[2:]]
    return {row[0].strip("`"): (row[1], re.findall(r"`([^`]*)`", re.sub(r"\([^)]*\)", "", row[2]))) for row in rows}


def described(column, kind, comment):
    """A column as a row of a table: its name, type and comment."""
    refers = re.search(r"REFERENCES (\w+)", kind)
    if "PRIMARY KEY" in kind:
        comment = comment or "the row's number"
    if refers:
        comment = "; ".join(filter(None, (f"a row of {refers[1]}", comment)))
    comment = re.sub(r",? and$", "", comment)  # the next column's goes on
    types = re.findall(r"^(?:INTEGER|TEXT|REAL)", kind)
    return [md2man.escape(column, code=True), types[0].lower() if types else "any", md2man.escape(comment)]


def introduced(comment, row):
    """What a table is: the words above it, or of the overview a row is, whichever say more."""
    said = f"A row is {row}."
    return md2man.prose(said) if len(said) > len(comment) else md2man.words(md2man.escape(comment))


def tables(source, header, markdown):
    known = documented(markdown)
    found = statements(source, header)
    real = check_sql(found)
    out = []
    for comment, sql in found:
        made = re.match(r"CREATE (TABLE|VIEW) (\w+)", sql)
        if not made:
            continue
        name = made[2]
        out.append(f".SS {name}" + (" (view)" if made[1] == "VIEW" else ""))
        if made[1] == "VIEW":
            out += [*(md2man.words(md2man.escape(comment)) if comment else []), ".PP", "Columns: " + ", ".join(f"\\fB{c}\\fR" for c in real[name]) + "."]
            continue
        listed = columns(sql)
        if [c[0] for c in listed] != real[name]:
            raise ValueError(f"record_schema.c: {name}: the columns cannot be told: {listed}")
        if name not in known or known[name][1] != real[name]:
            raise ValueError(f"docs/results.md: table {name} has the columns {', '.join(real[name])}")
        out += introduced(comment, known.pop(name)[0])
        out += md2man.tbl(["lb l lx."], [described(*column) for column in listed])
    if known:
        raise ValueError(f"docs/results.md: there is no table {', '.join(known)}")
    return out


def main():
    what, path = sys.argv[1:3]
    source = ROOT / "docs" / f"{what}.md"
    markdown = source.read_text(encoding="utf-8")
    try:
        if what == "scenario":
            rows = json.loads(pathlib.Path(sys.argv[3]).read_text(encoding="utf-8"))["parameters"]
            put = {"parameters": parameters(rows)}
        else:
            schema = (ROOT / "src/results/record_schema.c").read_text(encoding="utf-8")
            header = (ROOT / "src/results/record_priv.h").read_text(encoding="utf-8")
            put = {"tables": tables(schema, header, markdown)}
        made = md2man.page(markdown, "5", f"docs/{what}.md", put)
    except ValueError as error:
        print(f"man5.py: {error}", file=sys.stderr)
        return 1
    pathlib.Path(path).write_text(made, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
