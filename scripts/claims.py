#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what is claimed of InfiniBand and RoCE, and what was published, with weft.

usage: claims.py [--weft PROGRAM] [--check [--sample] | --write] [--full] [--only NAME,...] [--seeds N] [--jobs N] [--list]

Every claim is one or more scenarios, examples/claim-*.yaml, and some statements that its figures make
true or false; examples/validate-*.yaml are set-ups of published measurements; examples/incidents/*.yaml are
what goes wrong, with a signature that must be true, and a picture. Prints the figures, the statements and the
verdict of each. The claims themselves are in scripts/claimlib, incidents in scripts/claimlib/incidents.py.

What depends on a seed is run on seeds 1 to N (5): figures are the median, with the least and the most in
brackets, and a statement holds ("yes") only if it does on every seed; else the page says on how many.

  --check  compare with docs/claims.md, docs/validation.md and docs/incidents.md: the same statements hold, figures
           are within 1 %, pictures are the same; exit status 1 where not
  --sample compare one seed of each claim, not always the same one: its figures are within what the page has for all
           seeds, and what holds on every seed, or on none, does so on this one
  --write  put them there, between the lines <!-- claims.py NAME --> and <!-- end -->, with a summary
  --full   also what takes minutes: larger runs and training steps, the validation
  --jobs   so many simulations at a time; what comes out is the same
"""

import argparse
import os
import re
import sys

from claimlib import incidents, jobs, losses, network, paths, published, sharing
from claimlib.measure import ROOT, SEEDS, Weft

PAGES = [os.path.join(ROOT, "docs", page) for page in ("claims.md", "validation.md", "incidents.md")]
TOLERANCE = 0.01

# name: (what makes it: takes a Weft, returns a Block; how long it takes; "all" where what it says is about seeds, so that
# one does not do)
BLOCKS = {}
MODULES = (network, losses, paths, sharing, jobs, published, incidents)
for module in MODULES:
    BLOCKS.update(module.BLOCKS)


def sample_seed(name):
    """Which seed a sample of a block has."""
    return next(1 + list(m.BLOCKS).index(name) % SEEDS for m in MODULES if name in m.BLOCKS)


def pattern(name):
    return re.compile(r"(<!-- claims\.py %s -->\n)(.*?)(<!-- end -->)" % re.escape(name), re.S)


def find(name):
    """The page that has the block, and the text between its marks."""
    for page in PAGES:
        found = pattern(name).search(read(page))
        if found is not None:
            return page, found.group(2)
    sys.exit("claims.py: no page has the mark <!-- claims.py %s -->" % name)


def put(name, text):
    page, _ = find(name)
    whole = pattern(name).sub(lambda m: m.group(1) + text + "\n" + m.group(3), read(page))
    with open(page, "w", encoding="utf-8") as f:
        f.write(whole)


def read(page):
    with open(page, encoding="utf-8") as f:
        return f.read()


def summary():
    """Every section of the page of claims with its verdict, and how many of its statements hold: from the page itself."""
    sections = re.split(r"^## ", read(PAGES[0]), flags=re.M)[1:]
    rows = []
    for section in sections:
        title, body = section.split("\n", 1)
        verdict = re.search(r"^\*\*(.*)\.\*\*$", body, re.M)
        if verdict is None:
            continue
        anchor = re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        held = re.findall(r"^\| .* \| (yes|no|on \d+ of \d+ seeds) \|$", body[:verdict.start()], re.M)
        rows.append("| [%s](#%s) | %s | %d of %d |" % (title, anchor, verdict.group(1), held.count("yes"), len(held)))
    return "\n".join(["| claim | verdict | statements that hold |", "|---|---|---|", *rows, ""])


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# A figure; with what it is on the seeds, if that differs: median (least to most), or least to most.
SPAN = re.compile(r"(N)(?: \((N) to (N)\)| to (N))?".replace("N", NUMBER.pattern))
SOME = re.compile(r"\| on \d+ of \d+ seeds \|$")


def same(a, b):
    """Whether two lines have the same words, and numbers within the tolerance."""
    return NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(
        abs(float(x) - float(y)) <= TOLERANCE * abs(float(x)) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def ends(span):
    """Least and most of a match of SPAN."""
    return float(span[2] or span[1]), float(span[3] or span[4] or span[1])


def within(a, b):
    """Whether b may be what one of the seeds gives of which the line a is."""
    if a.startswith("**") and b.startswith("**"):
        return True  # it follows from the words above
    if SOME.search(a):
        a, b = SOME.sub("| ? |", a), re.sub(r"\| (yes|no) \|$", "| ? |", b)
    if SPAN.sub("#", a) != SPAN.sub("#", b):
        return False
    for x, y in zip(map(ends, SPAN.finditer(a)), map(ends, SPAN.finditer(b))):
        if y[0] < x[0] - TOLERANCE * abs(x[0]) or y[1] > x[1] + TOLERANCE * abs(x[1]):
            return False
    return True


def differences(name, text, agree=same):
    """Lines that do not agree with the page's."""
    page, recorded = find(name)
    was = [line for line in recorded.split("\n") if line]
    now = [line for line in text.split("\n") if line]
    told = []
    for i in range(max(len(was), len(now))):
        a = was[i] if i < len(was) else "(nothing)"
        b = now[i] if i < len(now) else "(nothing)"
        if not agree(a, b):
            told.append("%s, %s\n  recorded: %s\n  measured: %s" % (os.path.relpath(page, ROOT), name, a, b))
    return told


def other_files(block):
    """Files of a block that are not what they would be now."""
    return ["%s: is not what is measured now" % path for path, whole in block.files.items()
            if not os.path.exists(os.path.join(ROOT, path)) or read(os.path.join(ROOT, path)) != whole]


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--weft", default=os.path.join(ROOT, "build", "release", "weft"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.seeds < 1 or args.jobs < 1:
        parser.error("--seeds and --jobs: 1 or more")
    if args.seeds != SEEDS and (args.check or args.write):
        parser.error("the pages are of %d seeds: --seeds goes with neither --check nor --write" % SEEDS)
    if args.sample and not args.check:
        parser.error("--sample goes with --check")
    return args


def main():
    args = arguments()
    wanted = {"normal"} | ({"full"} if args.full else set())
    names = args.only or [n for n, block in BLOCKS.items() if block[1] in wanted]
    for name in names:
        if name not in BLOCKS:
            sys.exit("claims.py: there is no %s; there are %s" % (name, ", ".join(BLOCKS)))
    if args.list:
        print("\n".join(names))
        return 0
    status = 0
    for name in names:
        weft = Weft(args.weft, args.seeds, args.jobs)
        agree = same
        if args.sample and "all" not in BLOCKS[name]:
            weft.seeds = [sample_seed(name)]
            agree = within
        block = BLOCKS[name][0](weft)
        text = block.text()
        print("%s\n\n%s" % (name, text), flush=True)
        if args.write:
            put(name, text)
            for path, whole in block.files.items():
                with open(os.path.join(ROOT, path), "w", encoding="utf-8") as f:
                    f.write(whole)
        if args.check:
            for told in differences(name, text, agree) + other_files(block):
                print(told, file=sys.stderr)
                status = 1
    for name, text in (("summary", summary()), ("incidents", incidents.index(read(PAGES[2])))):
        if args.write:
            put(name, text)
        if args.check:
            for told in differences(name, text):
                print(told, file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
