# SPDX-License-Identifier: Apache-2.0
"""Pictures of incidents: what happened over time, a column for each fabric and a row for each panel, as SVG. The same
figures make the same bytes."""

import math

UNITS = {"us": 1e6, "ms": 1e9}
WIDE, HIGH, GAP, LEFT, TOP = 230, 84, 14, 62, 40


class Panel:
    """A row: its title, and a function of what was seen (seen.py) to a value for each tick."""

    def __init__(self, title, of):
        self.title, self.of = title, of


def nice(top):
    """The least of 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15 ... that is not below."""
    if top <= 0:
        return 1
    power = 10 ** math.floor(math.log10(top))
    return next(m * power for m in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if m * power >= top * 0.999)


def number(x):
    return "%g" % float("%.6g" % x)


def line(ticks, values, end, top, x, y):
    """A path of steps: what is between two ticks is what the later one says."""
    at = [(t, v) for t, v in zip(ticks, values) if t <= end]
    path, before = [], None
    for t, v in at:
        px, py = x + WIDE * t / end, y + HIGH * (1 - min(v, top) / top)
        path.append("M%.1f %.1f" % (x, py) if before is None else "V%.1f" % py)
        path.append("H%.1f" % px)
        before = py
    return "".join(path)


def drawing(panels, fabrics, until):
    """fabrics: {label: ([curve of each panel], ticks)}; until: "6ms"."""
    unit = until.lstrip("0123456789")
    end = int(until[: -len(unit)]) * UNITS[unit]
    width = LEFT + len(fabrics) * (WIDE + GAP) + 6
    height = TOP + len(panels) * (HIGH + 34) + 4
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">' % (
            width, height, width, height),
        "<!-- SPDX-License-Identifier: Apache-2.0; made by scripts/claims.py -->",
        "<style>text{font:12px sans-serif;fill:#24292f}.t{font-weight:bold}.s{font-size:11px;fill:#57606a}"
        ".f{fill:none;stroke:#afb8c1}.g{stroke:#d8dee4;fill:none}.l{fill:none;stroke:#0969da;stroke-width:1.5}"
        ".i{stroke:#cf222e}.b{fill:#ffffff}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}"
        ".f{stroke:#6e7681}.g{stroke:#30363d}.l{stroke:#58a6ff}.i{stroke:#ff7b72}.b{fill:#0d1117}}</style>",
        '<rect class="b" width="100%" height="100%"/>',
    ]
    for c, label in enumerate(fabrics):
        x = LEFT + c * (WIDE + GAP)
        out.append('<text class="t" x="%d" y="16">%s</text>' % (x, label))
    for r, panel in enumerate(panels):
        y = TOP + r * (HIGH + 34)
        top = nice(max(v for curves, ticks in fabrics.values() for t, v in zip(ticks, curves[r]) if t <= end))
        out.append('<text class="s" x="%d" y="%d">%s</text>' % (LEFT, y - 6, panel.title))
        out.append('<text class="s" x="%d" y="%d" text-anchor="end">%s</text>' % (LEFT - 6, y + 9, number(top)))
        out.append('<text class="s" x="%d" y="%d" text-anchor="end">0</text>' % (LEFT - 6, y + HIGH))
        for c, (curves, ticks) in enumerate(fabrics.values()):
            x = LEFT + c * (WIDE + GAP)
            out.append('<path class="g" d="M%d %.1fH%dM%.1f %dV%d"/>' % (x, y + HIGH / 2, x + WIDE, x + WIDE / 2, y, y + HIGH))
            out.append('<rect class="f" x="%d" y="%d" width="%d" height="%d"/>' % (x, y, WIDE, HIGH))
            out.append('<path class="l%s" d="%s"/>' % (" i" if c else "", line(ticks, curves[r], end, top, x, y)))
            if r == len(panels) - 1:
                out.append('<text class="s" x="%d" y="%d">0</text>' % (x, y + HIGH + 14))
                out.append('<text class="s" x="%d" y="%d" text-anchor="end">%s %s</text>' % (
                    x + WIDE, y + HIGH + 14, until[: -len(unit)], unit))
    return "\n".join([*out, "</svg>", ""])
