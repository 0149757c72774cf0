#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""md2man.py PAGE.md SECTION - print a page of docs/ as a manual page of that section.

Of Markdown it knows what these pages use: headings, paragraphs, lists of one level, tables, code, links and
emphasis. Comments tell it what Markdown cannot:

    <!-- man: NAME: what it is -->     the page's NAME; comes first
    <!-- man: see weft(1), ... -->     SEE ALSO
    <!-- man: put WORD -->             here comes what the caller of page() has for WORD
    <!-- man: omit --> ... <!-- man: end -->   what stands between is left out

A first column that explains the others is a list of terms; wider tables are tables.
"""
import re
import sys

DIRECTIVE = re.compile(r"<!-- man: (.*?) -->$")
FENCE = re.compile(r"```")
ITEM = re.compile(r"- +")
HEADING = re.compile(r"(#+) +(.*)")
PAGES = {"scenario.md": "weft-scenario", "results.md": "weft-results"}


# ---- text ----


def escape(text, code=False):
    """Text as roff takes it literally; what is no ASCII by its number, so that no locale matters."""
    out = []
    for c in text:
        if c == "\\":
            out.append("\\e")
        elif c == "-" and code:
            out.append("\\-")
        elif c in "'`^~" and code:
            out.append({"'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}[c])
        elif c == "…":
            out.append("...")
        elif ord(c) > 126:
            out.append(f"\\[u{ord(c):04X}]")
        else:
            out.append(c)
    return "".join(out)


def link(match):
    text, url = match.group(1), match.group(2)
    file = url.split("#")[0]
    if file in PAGES:
        return f"**{PAGES[file]}**(5)"
    if file.endswith(".md"):
        return f"*docs/{file}*" if text == file else f"{text} (*docs/{file}*)"
    return text if text == url else f"{text} (*{url}*)"


MARKS = re.compile(r"(?P<code>`[^`]+`)|\*\*(?P<bold>[^*]+(?:`[^`]*`[^*]*)*)\*\*|(?<![\w*])\*(?P<italic>[^\s*][^*]*)\*")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def strong(literal_text):
    """Words as they are typed: bold, and never hyphenated."""
    return "\\fB" + re.sub(r"(?<![^ ])(?=[^ ]*[a-z]{5})", r"\\%", escape(literal_text, code=True)) + "\\fR"


def inline(text):
    """Code and strong words in bold, emphasis in italics, links as their text."""
    parts = re.split(r"(`[^`]+`)", text)
    text = "".join(p if p.startswith("`") else LINK.sub(link, p) for p in parts)
    out, at = [], 0
    for m in MARKS.finditer(text):
        out.append(escape(text[at:m.start()]))
        if m["code"]:
            out.append(strong(m["code"][1:-1]))
        elif m["bold"] in PAGES.values():
            out.append(strong(m["bold"]))
        elif m["bold"]:
            out.append("\\fB" + escape(m["bold"].replace("`", "")) + "\\fR")
        else:
            out.append("\\fI" + escape(m["italic"]) + "\\fR")
        at = m.end()
    out.append(escape(text[at:]))
    return "".join(out)


def guard(line):
    """A line of text that roff does not take for a request."""
    return "\\&" + line if line[:1] in (".", "'") else line


def literal(line):
    return guard(escape(line.expandtabs(4), code=True))


def words(text):
    """Sentences of roff in lines of their own, as formatters like them."""
    return [guard(s) for s in re.split(r"(?<=[A-Za-z0-9)%]\.)(?<!e\.g\.)(?<!i\.e\.) (?=[A-Z\\])", text)]


def prose(text):
    return words(inline(text))


# ---- blocks ----


def code(lines):
    while lines and not lines[-1].strip():
        lines.pop()
    return [".PP", ".RS 4", ".EX", *(literal(line) for line in lines), ".EE", ".RE"]


def cells(row):
    return [c.replace("\\|", "|").strip() for c in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def table(rows):
    """rows[0] is the heading."""
    out = []
    if len(rows[0]) == 2:
        for term, text in rows[1:]:
            term = inline(term if term.startswith("`") else f"**{term}**")
            out += [".TP", guard(term), *prose(text)]
        return out
    return grid(rows) if len(rows[0]) == 3 else terms(rows)


def tbl(columns, rows):
    """A table for tbl of cells in roff, in which long ones may be broken; it may go over several pages."""
    out = [".PP", ".TS", "nokeep;", *columns]
    for row in rows:
        out.append("")
        for i, cell in enumerate(row):
            out[-1] += "\t" if i > 0 else ""
            if len(cell) > 36:
                out[-1] += "T{"
                out += [guard(cell), "T}"]
            else:
                out[-1] += guard(cell)
    return [*out, ".TE"]


def grid(rows):
    """A table as it is: of three columns, which a terminal has room for."""
    return tbl(["lb lb lb", "l lx lx."], [[inline(cell) for cell in line] for line in rows])


def terms(rows):
    """A wide table as a list of its first column, with what the others say of each."""
    out = []
    for row in rows[1:]:
        out += [".TP", guard(inline(row[0]))]
        said = [f"\\fI{inline(head)}\\fR: {inline(cell)}" for head, cell in zip(rows[0][1:], row[1:]) if cell]
        for i, line in enumerate(said):
            out += [line] if i == 0 else [".br", line]
    return out


class Page:
    def __init__(self, put):
        self.put = put
        self.out = []
        self.name = self.what = ""
        self.see = ""
        self.section_begun = False

    def begin_section(self, title):
        self.out += [f".SH {inline(title).upper()}"] if " " not in title else [f'.SH "{inline(title).upper()}"']
        self.section_begun = True

    def text(self, lines):
        self.out += [".PP", *prose(" ".join(line.strip() for line in lines))]

    def items(self, lines):
        item = []
        for line in [*lines, "- "]:
            if ITEM.match(line) and item:
                self.out += [".IP \\(bu 2", *prose(" ".join(item))]
                item = []
            item.append(ITEM.sub("", line, count=1).strip() if ITEM.match(line) else line.strip())
        self.out.append(".PP")

    def directive(self, said):
        if said.startswith("see "):
            self.see = said[4:]
        elif said.startswith("put "):
            self.out += self.put[said[4:]]
        else:
            self.name, self.what = said.split(": ", 1)

    def heading(self, match):
        if len(match[1]) == 2:
            self.begin_section(match[2])
        elif len(match[1]) > 2:
            self.out.append(f".SS {inline(match[2])}")

    def read(self, lines):
        at = 0
        while at < len(lines):
            at = self.block(lines, at)

    def block(self, lines, at):
        """Takes the block that begins in line number at; returns where the next one does."""

        def until(stop, start):
            end = start
            while end < len(lines) and not stop(lines[end]):
                end += 1
            return end

        line = lines[at]
        said = DIRECTIVE.match(line)
        if line.strip() and not line.startswith(("<!--", "#")) and not self.section_begun:
            self.begin_section("Description")
        if said and said[1] == "omit":
            return until(lambda x: x == "<!-- man: end -->", at) + 1
        if said:
            self.directive(said[1])
        elif HEADING.match(line):
            self.heading(HEADING.match(line))
        elif FENCE.match(line):
            end = until(FENCE.match, at + 1)
            self.out += code(lines[at + 1:end])
            return end + 1
        elif line.startswith(("    ", "\t")):
            end = until(lambda x: x.strip() and not x.startswith(("    ", "\t")), at)
            self.out += code([re.sub(r"^(\t|    )", "", x) for x in lines[at:end]])
            return end
        elif line.startswith("|"):
            end = until(lambda x: not x.startswith("|"), at)
            rows = [cells(x) for x in lines[at:end]]
            self.out += table([rows[0], *rows[2:]])
            return end
        elif ITEM.match(line):
            end = until(lambda x: not (ITEM.match(x) or x.startswith("  ")), at)
            self.items(lines[at:end])
            return end
        elif line.strip() and not line.startswith("<!--"):
            end = until(lambda x: not x.strip() or FENCE.match(x) or ITEM.match(x) or x.startswith(("|", "<!--")), at)
            self.text(lines[at:end])
            return end
        return at + 1


def tidy(lines):
    """A paragraph that begins where another thing does is none."""
    out = []
    begins = (".SH", ".SS", ".PP", ".TP", ".IP")
    for line in lines:
        if out and out[-1] == ".PP" and line.startswith(begins):
            out.pop()
        if line == ".PP" and out and out[-1].startswith((".SH", ".SS")):
            continue
        out.append(line)
    return out


def see_also(text):
    pages = re.findall(r"([\w-]+)\((\d)\)", text)
    return [".SH SEE ALSO", *(f".BR {name.replace('-', chr(92) + '-')} ({n})" + ("," if i + 1 < len(pages) else "")
                              for i, (name, n) in enumerate(pages))]


def page(markdown, section, source, put=None):
    """The manual page that markdown is; source says where from, put has what is put in, as lists of lines."""
    p = Page(put or {})
    p.read(markdown.splitlines())
    if not p.name:
        raise ValueError(f"{source}: it does not say its name (<!-- man: NAME: ... -->)")
    name = p.name.replace("-", "\\-")
    head = ["'\\\" t", '.\\" SPDX-License-Identifier: Apache-2.0', f'.\\" {p.name}.{section} - made from {source}.',
            f'.TH {p.name.upper()} {section} "" "weft" "{"File Formats" if section == "5" else "User Commands"}"',
            ".ad l", ".SH NAME", f"{name} \\- {escape(p.what)}"]
    end = see_also(p.see) if p.see else []
    return "\n".join(tidy([*head, *p.out, *end])) + "\n"


def main():
    path, section = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        sys.stdout.write(page(file.read(), section, path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
