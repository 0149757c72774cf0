# SPDX-License-Identifier: Apache-2.0
"""Claims about jobs: MFU, its spread, and what communication costs a step."""

from .measure import Block, all_of, mfu_of, of, percent, ratio

# A leaf for each rack of two servers; or a rail for each NIC, with the switches that the fabric is sold with.
RACKS = {"topology__kind": "leaf-spine", "topology__radix": 32}
RAILS = {"topology__kind": "rail", "topology__radix": "auto"}
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
        got["rails", f] = step(weft, RAILS, f, **EIGHTH)
    three = {"job__micro_batches": 3}
    got["three", "ib-ndr"] = step(weft, RACKS, "ib-ndr", **three, **EIGHTH)
    got["three", "roce-400g-mistuned"] = step(weft, RACKS, "roce-400g-mistuned", **three)
    b = Block()
    b.table(["MFU", *even, *hashed],
            [[label, *(percent(got[key, f]) if (key, f) in got else "-" for f in even + hashed)]
             for label, key in (("racks, 2 micro-batches a step", "racks"), ("rails, the same", "rails"),
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
        ("rails, ECMP, untuned", *close("rails", "roce-400g")),
        ("badly tuned, MFU falls below 30 %: racks", *below(bad)),
        ("that is a third less", percent([1 - x for x in ratio(bad, base)]) + " less",
         all_of(ratio(bad, base), lambda x: x <= 0.7)),
        ("it is the tuning that counts", "%s as shipped" % percent(got["racks", "roce-400g"]),
         all_of(ratio(bad, got["racks", "roce-400g"]), lambda x: x < 0.95)),
        ("badly tuned, MFU falls below 30 %: rails", *below(got["rails", "roce-400g-mistuned"])),
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


BLOCKS = {
    "mfu": (mfu, "full"),
}
