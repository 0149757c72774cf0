# SPDX-License-Identifier: Apache-2.0
"""Published measurements: the tables of docs/validation.md."""

import statistics

from .measure import GIB, KIB, MIB, Block, busbw, figure, of, percent, ratio, size, span


FABRICS = ["ib-ndr", "roce-400g-spray", "roce-400g"]


def nccl_table(weft, sizes, **settings):
    """Two of nccl-tests' columns; and {fabric: median busbw of each size}. Only hashed paths depend on the seed by
    more than a per cent, so only they are run on several."""
    rows, got = [], {f: {} for f in FABRICS}
    for n in sizes:
        runs = weft.over("validate-tolly.yaml", job__bytes=n, fabric="roce-400g", **settings)
        even = weft.run("validate-tolly.yaml", job__bytes=n, fabric=FABRICS[:2], **settings)
        row = [str(n)]
        for f in FABRICS:
            seen = [even[f]] if f in even else [r[f] for r in runs]
            groups = [r["job"]["groups"][0] for r in seen]
            got[f][n] = statistics.median(map(busbw, seen))
            row += [span([(g["end_ps"] - g["begin_ps"]) / 1e6 for g in groups]), span(list(map(busbw, seen)))]
        rows.append(row)
    b = Block()
    b.table(["size (B)", *("%s: time (us) | busbw (GB/s)" % f for f in FABRICS)], rows)
    b.lines[1] = "|" + "---|" * (1 + 2 * len(FABRICS))
    return b, got


def averages(b, got, ranges):
    b.table(["average busbw (GB/s) over doubling sizes", *got],
            [["%s to %s" % (size(low), size(high)),
              *(figure(statistics.mean(v for n, v in g.items() if low <= n <= high)) for g in got.values())]
             for low, high in ranges])


def tolly_all_reduce(weft):
    sizes = [8, 1 * KIB, 32 * KIB, 256 * KIB, *(MIB << i for i in range(11))]
    b, got = nccl_table(weft, sizes)
    averages(b, got, [(MIB, GIB), (4 * MIB, GIB), (8 * MIB, GIB), (16 * MIB, GIB), (256 * MIB, GIB)])
    return b


def tolly_all_to_all(weft):
    sizes = [64 * KIB, 256 * KIB, *(MIB << i for i in range(9))]
    b, got = nccl_table(weft, sizes, job__kind="all-to-all", job__algorithm="auto")
    averages(b, got, [(MIB, 256 * MIB), (4 * MIB, 256 * MIB), (16 * MIB, 256 * MIB), (64 * MIB, 256 * MIB)])
    return b


def uplinks(weft):
    rows = []
    for n in (16 * MIB, 64 * MIB, 256 * MIB):
        for label, fabric, change in (("ECMP", "roce-400g", {}),
                                      ("ECMP, 4 queue pairs", "roce-400g", {"job__qps_per_connection": 4}),
                                      ("sprayed", "roce-400g-spray", {})):
            bw = {}
            for blocking, radix in ((2, 12), (1, 16)):
                runs = weft.over("validate-uplinks.yaml", fabric=fabric, job__bytes=n, topology__blocking=blocking,
                                 topology__radix=radix, **change)
                bw[blocking] = of(runs, fabric, busbw)
            rows.append([size(n), label, span(bw[2]), span(bw[1]), percent([x - 1 for x in ratio(bw[1], bw[2])])])
    b = Block()
    b.table(["ring all-reduce", "paths", "busbw, 2:1 (GB/s)", "busbw, 1:1 (GB/s)", "gain"], rows)
    return b


BLOCKS = {
    "tolly-all-reduce": (tolly_all_reduce, "full"),
    "tolly-all-to-all": (tolly_all_to_all, "full"),
    "uplinks": (uplinks, "full"),
}
