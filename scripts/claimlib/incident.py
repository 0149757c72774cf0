# SPDX-License-Identifier: Apache-2.0
"""What an incident is measured by: figures of its runs, statements that must be true of them, what a healthy twin must not
show, what it costs, and its picture.

The first fabric of a scenario is the healthy twin, the second the ill one; those whose names begin with "ib" are
InfiniBand, again the healthy one first. Further ones are what prevents it, or the same with something else; where
those need another topology they are in a scenario of their own.
"""

import re
import statistics

from .measure import Block, counts, ratio, span, times
from .picture import Panel, drawing
from .seen import all_seen

US, MS = 1e6, 1e9  # ps


class Figure:
    """Something that is read off a run: its title, a function of what was seen, and how it is written. A sign of the
    incident is 0 in healthy twins; what InfiniBand has not is for Ethernet alone."""

    def __init__(self, title, of, unit="", scale=1, sign=False, ether=False):
        self.title, self.of, self.unit, self.scale, self.sign, self.ether = title, of, unit, scale, sign, ether

    def text(self, values):
        if None in values:
            return "-"
        if self.scale == 1 and all(v == int(v) for v in values):
            return counts(values, self.unit).strip()
        return span(values, self.unit, self.scale)


ALL = object()


class Must:
    """A statement: what a figure is on a fabric, by itself, or over what it is on another one (than), or compared with the
    incident's first figure (than=ALL)."""

    def __init__(self, text, fabric, title, test, than=None):
        self.text, self.fabric, self.title, self.test, self.than = text, fabric, title, test, than


class Incident:
    """small: the flows whose p99 is told, a function of (from, to, bytes, start, end); None: there are none. every: how
    often the picture's curves have a point; until: where it ends. more: a second scenario, whose fabrics come before
    those of InfiniBand, and the first of which is in the picture as well."""

    def __init__(self, name, figures, musts, panels, every, until, small=lambda f: f[2] == 64000, more=None):
        self.name, self.figures, self.musts, self.panels = name, figures, musts, panels
        self.every, self.until, self.small, self.more = every, until, small, more


def over(bound):
    return lambda x: x > bound


def under(bound):
    return lambda x: x < bound


def none(x):
    return x == 0


def some(x):
    return x > 0


# What figures are of.


def value(name):
    return lambda s: s.value.get(name, 0)


def total(measure, at="", queue=None):
    return lambda s: s.total(measure, at, queue)


def ports_over(measure, bound, at="", queue=None):
    return lambda s: sum(v > bound for v in s.ports(measure, at, queue))


def share(measure, at="", queue=None):
    """Of what all ports have, the part of some."""
    return lambda s: s.total(measure, at, queue) / max(1, s.total(measure))


def took(test, which=statistics.median):
    return lambda s: which(s.took(test))


def gave_up(s):
    return sum(f[4] is None for f in s.flows)


def step_us(s):
    """A collective, on average; of training the step. None where one never ends, or there are none."""
    if "step_time" in s.value:
        return s.value["step_time"] / US
    return statistics.mean(s.steps) / US if s.steps and None not in s.steps else None


def p99_us(small):
    def of(s):
        t = s.took(small)
        return t[min(len(t) - 1, len(t) * 99 // 100)] if t else None
    return of


# Curves of pictures: a value for each tick.


def rates(line, ticks):
    """How fast a counter rose up to each tick, a second."""
    return [0.0] + [(b - a) / (u - t) * 1e12 if u > t else 0.0 for a, b, t, u in zip(line, line[1:], ticks, ticks[1:])]


def add(lines, ticks):
    return [sum(v) for v in zip(*lines)] if lines else [0] * len(ticks)


def gbps(at, queue=None):
    """What ports send."""
    return lambda s: [v * 8 / 1e9 for v in rates(add(s.curves("tx_bytes", at, queue), s.ticks), s.ticks)]


def waiting(at, queue=None):
    """What waits at ports, MB."""
    return lambda s: [v / 1e6 for v in add(s.curves("queue_bytes", at, queue), s.ticks)]


def held(at="", queue=None):
    """How many ports were stopped for most of the time since the tick before; where a queue is named and ports count by
    queue, that queue of them."""
    def of(s):
        lines = s.curves("stopped_ps", at, queue if s.by_queue("stopped_ps") else None)
        return add([[r > 0.5e12 for r in rates(line, s.ticks)] for line in lines], s.ticks)
    return of


def unfinished(s):
    """How many flows have begun and not ended."""
    return [sum(f[3] <= t and (f[4] is None or f[4] > t) for f in s.flows) for t in s.ticks]


def grows(measure, at="", queue=None):
    """How many there have been, in thousands."""
    return lambda s: [v / 1e3 for v in add(s.curves(measure, at, queue), s.ticks)]


STEP, P99, MFU = "a step", "p99 of the writes", "MFU"


def fabric_twin(label, labels):
    """The healthy one of the same kind."""
    return next(x for x in labels if x.startswith("ib") == label.startswith("ib"))


def read(incident):
    """What is read of a results file: {fabric: ({title: value}, [curve of each panel], ticks)}"""
    figures = [Figure(STEP, step_us, "us"), Figure(MFU, lambda s: s.value.get("mfu"), "%", 100),
               Figure(P99, p99_us(incident.small), "us"), *incident.figures]

    def of(db):
        got = {}
        for label, s in all_seen(db).items():
            values = {f.title: None if f.ether and label.startswith("ib") else f.of(s) for f in figures}
            got[label] = values, [p.of(s) for p in incident.panels], s.ticks
        return got

    return figures, of


def found(must, seen, incident):
    """What a statement found, as text, and whether it holds, seed by seed: not where there is no such figure."""
    mine = [s[must.fabric][0][must.title] for s in seen]
    if must.than is ALL:
        rest = [s[must.fabric][0][incident.figures[0].title] for s in seen]
        return "%s of %s" % (counts(mine, "").strip(), counts(rest, "packets")), [x == y for x, y in zip(mine, rest)]
    if must.than is not None:
        rest = [s[must.than][0][must.title] for s in seen]
        if None in mine + rest:
            return "-", [False] * len(seen)
        r = ratio(mine, rest)
        return times(r), [must.test(x) for x in r]
    figure = next(f for f in read(incident)[0] if f.title == must.title)
    return figure.text(mine), [x is not None and must.test(x) for x in mine]


def healthy(incident, labels, seen):
    """A statement: the healthy twins show none of it."""
    twins = sorted({fabric_twin(x, labels) for x in labels}, key=labels.index)
    signs = [f for f in incident.figures if f.sign]
    held = [all(s[t][0][f.title] in (0, None) for t in twins for f in signs) for s in seen]
    return "the healthy twins show none of it", ", ".join("%s: %s" % (f.title, " and ".join(
        f.text([s[t][0][f.title] for s in seen]) for t in twins)) for f in signs), held


class Incidence(Block):
    head = ("its signature", "found", "so it is")

    def verdict(self):
        if all(w == "yes" for w in self.words):
            return "Reproduced"
        return "Not reproduced" if all(w == "no" for w in self.words) else "Reproduced in part"


def cost(label, twin, seen, title):
    values = [(s[label][0][title], s[twin][0][title]) for s in seen]
    if any(None in v for v in values):
        return "-"
    return times([a / b for a, b in values])


def joined(first, more):
    """What was seen of an incident's two scenarios, by fabric: InfiniBand's come last."""
    order = [*(x for x in first if not x.startswith("ib")), *more, *(x for x in first if x.startswith("ib"))]
    return {x: first[x] if x in first else more[x] for x in order}


def measured(incident, seed):
    """What claims.py calls. The picture is of one seed, that of a sample, so that it is compared whenever figures are."""
    def block(weft):
        figures, of = read(incident)
        seen, more = (weft.recorded(of, "incidents/%s.yaml" % x, sample=incident.every, events="deadlock", unfinished=True)
                      if x else None for x in (incident.name, incident.more))
        remedy = [] if more is None else list(more[0])[:1]
        if more is not None:
            seen = [joined(a, b) for a, b in zip(seen, more)]
        labels = list(seen[0])
        rows = [(f, [[s[x][0][f.title] for s in seen] for x in labels]) for f in figures]
        b = Incidence()
        b.table(["", *labels], [[f.title, *(f.text(v) for v in values)] for f, values in rows
                                if any(None not in v for v in values)])
        b.table(["cost, of the healthy twin's", "step", P99], [
            [x, cost(x, fabric_twin(x, labels), seen, STEP), cost(x, fabric_twin(x, labels), seen, P99)]
            for x in labels if x != fabric_twin(x, labels)])
        b.statements([healthy(incident, labels, seen), *((m.text, *found(m, seen, incident)) for m in incident.musts)])
        shown = [labels[0], labels[1]] + remedy + [x for x in labels if x.startswith("ib")][1:2]
        if seed in weft.seeds:
            b.files["docs/incidents/%s.svg" % incident.name] = drawing(
                incident.panels, {x: seen[weft.seeds.index(seed)][x][1:] for x in shown}, incident.until)
        return b

    return block


def index(page):
    """All incidents of the page: the first sentence of each, its verdict, and what it costs, from the page itself."""
    rows = []
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        title, body = section.split("\n", 1)
        verdict = re.search(r"^\*\*(.*)\.\*\*$", body, re.M)
        short = re.search(r"^Signature: (.*?)\.$", body, re.M | re.S)
        costs = re.search(r"^\| cost, .*\n\|.*\n((?:\|.*\n)*)", body, re.M)
        if verdict is None or short is None:
            continue
        lines = [[c.strip() for c in line.strip("|").split("|")] for line in costs.group(1).splitlines()]
        ib = next((c for c in lines if c[0].startswith("ib")), ["", "-", "-"])
        anchor = re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        rows.append("| [%s](#%s) | %s | %s | %s | %s | %s | %s |" % (
            title, anchor, " ".join(short.group(1).split()), lines[0][1], lines[0][2], ib[1], ib[2], verdict.group(1)))
    return "\n".join(["| incident | signature | RoCE: step | p99 | InfiniBand: step | p99 | |", "|---|---|---|---|---|---|---|",
                      *rows, ""])
