# SPDX-License-Identifier: Apache-2.0
"""Claims about jobs: MFU, its spread, and what communication costs a step."""

import math
import statistics

from .measure import MIB, Block, all_of, figure, job_us, mfu_of, of, percent, ratio, size, span, times

# A 32-port leaf for each rack of two servers; or what one would buy, which for 64 NICs is one switch of either kind.
RACKS = {"topology__kind": "leaf-spine", "topology__radix": 32}
BOUGHT = {"topology__kind": "auto", "topology__radix": "auto", "topology__gpus": 8}
# Everything divided by 8. Adapters' times are not, so this is for fabrics on which no congestion control acts.
EIGHTH = {"job__scale": "1/8", "job__scale_error": "5%"}


def step(weft, network, fabric, **change):
    """MFU of the claim's training step, one for each seed."""
    return of(weft.over("claim-mfu.yaml", fabric=fabric, **network, **change), fabric, mfu_of)


def differ(values):
    """Points of MFU between the seeds."""
    return 100 * (max(values) - min(values))


def mfu(weft):
    even, hashed = ["ib-ndr", "ib-ndr-static", "roce-400g-spray"], ["roce-400g-qps", "roce-400g", "roce-400g-mistuned"]
    got = {}
    for f in even + hashed:
        # Where flows meet on a link congestion control acts, and nothing may be scaled.
        got["racks", f] = step(weft, RACKS, f, **({} if f in hashed else EIGHTH))
        got["bought", f] = step(weft, BOUGHT, f, **EIGHTH)
    three = {"job__micro_batches": 3}
    got["three", "ib-ndr"] = step(weft, RACKS, "ib-ndr", **three, **EIGHTH)
    got["three", "roce-400g-mistuned"] = step(weft, RACKS, "roce-400g-mistuned", **three)
    b = Block()
    b.table(["MFU", *even, *hashed],
            [[label, *(percent(got[key, f]) if (key, f) in got else "-" for f in even + hashed)]
             for label, key in (("racks, 2 micro-batches a step", "racks"), ("as bought, the same", "bought"),
                                ("racks, 3 micro-batches", "three"))])
    base, bad = got["racks", "ib-ndr"], got["racks", "roce-400g-mistuned"]

    def close(network, f):
        r = ratio(got[network, f], got[network, "ib-ndr"])
        return percent([1 - x for x in r]) + " less", all_of(r, lambda x: x >= 0.95)

    def below(values):
        return percent(values), all_of(values, lambda x: x < 0.30)

    b.statements([
        ("tuned, RoCE is within a few percent (5) of InfiniBand: racks, sprayed", *close("racks", "roce-400g-spray")),
        ("racks, ECMP with 4 queue pairs", *close("racks", "roce-400g-qps")),
        ("as bought, ECMP, untuned", *close("bought", "roce-400g")),
        ("badly tuned, MFU falls below 30 %: racks", *below(bad)),
        ("that is a third less (three tenths at least)", percent([1 - x for x in ratio(bad, base)]) + " less",
         all_of(ratio(bad, base), lambda x: x <= 0.7)),
        ("it is the tuning that counts", "%s as shipped" % percent(got["racks", "roce-400g"]),
         all_of(ratio(bad, got["racks", "roce-400g"]), lambda x: x < 0.95)),
        ("badly tuned, MFU falls below 30 %: as bought", *below(got["bought", "roce-400g-mistuned"])),
        ("from the mid-40s to below 30 %, the same job", "from %s; a job that begins at %s falls to %s" % (
            percent(base), percent(got["three", "ib-ndr"]), percent(got["three", "roce-400g-mistuned"])),
         [a >= 0.43 and z < 0.30 for a, z in zip(got["three", "ib-ndr"], got["three", "roce-400g-mistuned"])]),
        ("InfiniBand's MFU is more stable (by 0.1 points over the seeds): than RoCE with 4 queue pairs",
         "it differs by %.2f points, RoCE's by %.2f" % (differ(base), differ(got["racks", "roce-400g-qps"])),
         differ(base) + 0.1 < differ(got["racks", "roce-400g-qps"])),
        ("than RoCE as shipped", "%.2f points" % differ(got["racks", "roce-400g"]),
         differ(base) + 0.1 < differ(got["racks", "roce-400g"])),
        ("than RoCE when sprayed", "%.2f points" % differ(got["racks", "roce-400g-spray"]),
         differ(base) + 0.1 < differ(got["racks", "roce-400g-spray"])),
    ])
    return b


SIXTEENTH = {"job__scale": "1/16", "job__scale_error": "5%"}


def took_ms(run, kind):
    """What the collectives of a kind took in a step, all together, whether hidden or not."""
    return sum(g["end_ps"] - g["begin_ps"] for g in run["job"]["groups"] if g["kind"] == kind) / 1e9


def part_ms(run, name):
    return run["job"]["train"][name + "_ps"] / 1e9


def exceeds(weft):
    rows, got = [], {}
    for rate in (400, 200, 100):
        for batches in (1, 2, 4, 8):
            r = weft.run("claim-mfu.yaml", fabric="ib-ndr", topology__host_rate="%dGbps" % rate, job__micro_batches=batches,
                         **BOUGHT, **SIXTEENTH)["ib-ndr"]
            got[rate, batches] = took_ms(r, "dp") / part_ms(r, "computing")
            rows.append(["%d Gb/s, %d x 8,192 tokens" % (rate, batches), *(figure(16 * x) + " ms" for x in (
                part_ms(r, "computing"), took_ms(r, "dp"), part_ms(r, "exposed_dp"), took_ms(r, "tp"))), percent(mfu_of(r))])
    b = Block()
    b.table(["a step", "computing", "gradients and parameters", "of it exposed", "tensor parallel, NVLink", "MFU"], rows)

    def more(rate, batches):
        return "%s of computing" % percent(got[rate, batches]), got[rate, batches] > 1

    b.statements([
        ("all-reduce takes longer than computing: 400 Gb/s, 8,192 tokens for each replica", *more(400, 1)),
        ("16,384 tokens", *more(400, 2)),
        ("65,536 tokens", *more(400, 8)),
        ("100 Gb/s, 16,384 tokens", *more(100, 2)),
        ("100 Gb/s, 65,536 tokens", *more(100, 8)),
    ])
    return b


def line(xs, ys):
    """Slope and correlation of a line through points."""
    mx, my = statistics.mean(xs), statistics.mean(ys)
    sxx, syy = sum((x - mx) ** 2 for x in xs), sum((y - my) ** 2 for y in ys)
    sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    return sxy / sxx, sxy / math.sqrt(sxx * syy)


def tax(weft):
    setups = [(f, 400) for f in ("ib-ndr", "ib-ndr-static", "roce-400g-spray", "roce-400g-meta")]
    setups += [(f, rate) for rate in (200, 100) for f in ("ib-ndr", "roce-400g-spray")]
    rows, points = [], []
    for f, rate in setups:
        net = {"fabric": f, "topology__host_rate": "%dGbps" % rate, **RACKS}
        steps = [r[f] for r in weft.over("claim-mfu.yaml", **net, **SIXTEENTH)]
        alone = of(weft.over("claim-mfu.yaml", job__kind="all-reduce", job__algorithm="ring", job__bytes=128 * MIB, **net),
                   f, lambda r: job_us(r) / 1e3)
        dp = [16 * took_ms(r, "dp") for r in steps]
        exposed = [16 * part_ms(r, "exposed_dp") for r in steps]
        whole = [16 * job_us(r) / 1e3 for r in steps]
        mfus = [mfu_of(r) for r in steps]
        points.append((alone, dp, exposed, whole, mfus))
        rows.append(["%s, %d Gb/s" % (f, rate), span(alone, "ms"), span(dp, "ms"), span(exposed, "ms"), span(whole, "ms"),
                     percent(mfus)])
    b = Block()
    b.table(["racks", "all-reduce of 128 MiB by itself", "gradients and parameters in the step", "of it exposed", "step", "MFU"],
            rows)
    seeds = range(len(weft.seeds))
    fits = [line([p[1][i] for p in points], [p[3][i] for p in points]) for i in seeds]
    with_mfu = [line([p[0][i] for p in points], [p[4][i] for p in points])[1] for i in seeds]
    hidden = [1 - points[0][2][i] / points[0][1][i] for i in seeds]
    b.statements([
        ("the longer an all-reduce takes, the lower is MFU (correlation below -0.9)", "correlation %s" % span(with_mfu),
         all_of(with_mfu, lambda x: x < -0.9)),
        ("each millisecond more costs the step one (0.9 to 1.1)", "%s ms; correlation %s" % (
            span([x[0] for x in fits]), span([x[1] for x in fits])), all_of(fits, lambda x: 0.9 <= x[0] <= 1.1)),
        ("all of it is a tax", "%s are hidden behind computing on ib-ndr at 400 Gb/s" % percent(hidden),
         all_of(hidden, lambda x: x < 0.05)),
    ])
    return b


def size_of(weft):
    fabrics = ["ib-ndr", "roce-400g", "uec-400g"]
    rows, took, switches = [], {}, {}
    for hosts in (64, 256, 1024):
        for n in (MIB, 16 * MIB):
            runs = weft.over("claim-size.yaml", topology__hosts=hosts, job__bytes=n)
            for f in fabrics:
                took[hosts, n, f] = of(runs, f, job_us)
                switches[hosts, f] = runs[0][f]["switches"]
            rows.append(["{:,} GPUs, {}".format(hosts, size(n)), "%d, %d" % (
                switches[hosts, "ib-ndr"], switches[hosts, "roce-400g"]), *(span(took[hosts, n, f], "us") for f in fabrics)])
    b = Block()
    b.table(["all-reduce", "switches, InfiniBand and Ethernet", *fabrics], rows)

    def gain(hosts, n):
        return ratio(took[hosts, n, "roce-400g"], took[hosts, n, "ib-ndr"])

    b.statements([
        ("InfiniBand is faster below 2,048 GPUs (by 5 %%): %d GPUs, %s" % (hosts, size(n)), "RoCE as shipped takes %s as long"
         % times(gain(hosts, n)), all_of(gain(hosts, n), lambda x: x > 1.05)) for hosts in (64, 1024) for n in (MIB, 16 * MIB)
    ] + [("its advantage shrinks with size", "%s at 64 GPUs, %s at 1,024 (16 MiB)" % (
        times(gain(64, 16 * MIB)), times(gain(1024, 16 * MIB))),
          [x > y for x, y in zip(gain(64, 16 * MIB), gain(1024, 16 * MIB))])])
    return b


BLOCKS = {
    "mfu": (mfu, "full"),
    "tax": (tax, "full"),
    "exceeds": (exceeds, "full"),
    "size": (size_of, "full"),
}
