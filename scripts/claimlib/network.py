# SPDX-License-Identifier: Apache-2.0
"""Claims about single messages and small collectives: latency, bandwidth, hops."""

from .measure import (KIB, MIB, Block, all_of, figure, job_us, of, percent, ratio, size, span, times)


def write(weft):
    fabrics = ["ib-ndr", "roce-400g", "tcp-400g"]
    names = ",".join(fabrics)
    one = weft.perf("--fabric", names, "--size", "8,8M", "--iters", "50")
    three = weft.perf("--fabric", names, "--size", "8", "--iters", "50", "--hops", "3", "--test", "lat")
    stream = weft.run("claim-write.yaml")
    lat = {f: one[f]["latency"][0]["mean_ps"] / 1e6 for f in fabrics}
    bw = {f: one[f]["bandwidth"][1]["average_bps"] / 8e9 for f in fabrics}
    # 26 bytes around 4096 on InfiniBand; 62 of headers and 20 of preamble and gap on Ethernet.
    most = {"ib-ndr": 50 * 4096 / 4122, "roce-400g": 50 * 4096 / 4178}
    b = Block()
    b.table(["", *fabrics], [
        ["RDMA write of 8 B, one switch", *(figure(lat[f]) + " us" for f in fabrics)],
        ["the same, three switches",
         *(figure(three[f]["latency"][0]["mean_ps"] / 1e6) + " us" for f in fabrics)],
        ["writes of 8 MiB", *(figure(bw[f]) + " GB/s" for f in fabrics)],
        ["one write of 256 MiB (claim-write.yaml)",
         *(figure(stream[f]["goodput_bps"] / 8e9) + " GB/s" for f in fabrics)],
        ["50 GB/s less headers", figure(most["ib-ndr"]) + " GB/s", figure(most["roce-400g"]) + " GB/s", "-"],
    ])
    b.statements([
        ("the same bandwidth on both", "RoCE has %s of InfiniBand's" % percent(bw["roce-400g"] / bw["ib-ndr"]),
         bw["roce-400g"] > 0.97 * bw["ib-ndr"]),
        ("50 GB/s less headers", "within %s of it" % percent(max(1 - bw[f] / most[f] for f in most)),
         all(bw[f] > 0.99 * most[f] for f in most)),
        ("a write takes about 1 us on InfiniBand", figure(lat["ib-ndr"]) + " us", 0.8 <= lat["ib-ndr"] <= 1.3),
        ("1.5 to 2 us on RoCE", figure(lat["roce-400g"]) + " us", 1.5 <= lat["roce-400g"] <= 2),
        ("tens of us through the kernel's TCP", figure(lat["tcp-400g"]) + " us", 10 <= lat["tcp-400g"] < 100),
        ("bypassing the kernel brings milliseconds down to microseconds",
         "%s us to %s and %s us: %s and %s" % (*(figure(lat[f]) for f in ("tcp-400g", "roce-400g", "ib-ndr")),
                                               times(lat["tcp-400g"] / lat["roce-400g"]),
                                               times(lat["tcp-400g"] / lat["ib-ndr"])),
         lat["tcp-400g"] >= 1000),
        ("a tenth to a twenty-fifth is left (50 us, 5 us, 2 us)",
         "%s and %s of TCP's" % (percent(lat["roce-400g"] / lat["tcp-400g"]), percent(lat["ib-ndr"] / lat["tcp-400g"])),
         lat["roce-400g"] <= 0.1 * lat["tcp-400g"] and lat["ib-ndr"] <= 0.06 * lat["tcp-400g"]),
    ])
    return b


def hops(weft):
    fabrics = ["ib-ndr", "ib-hdr", "roce-400g", "uec-400g", "tcp-400g"]
    got = {}
    for n in (1, 3, 5):
        out = weft.perf("--fabric", ",".join(fabrics), "--size", "8", "--iters", "20", "--hops", str(n), "--test", "lat")
        for f in fabrics:
            got[f, n] = out[f]["latency"][0]["mean_ps"] / 1e3
    inner = {f: (got[f, 3] - got[f, 1]) / 2 for f in fabrics}
    core = {f: (got[f, 5] - got[f, 3]) / 2 for f in fabrics}
    b = Block()
    b.table(["RDMA write of 8 B", *fabrics],
            [["%d switch%s" % (n, "es" if n > 1 else ""), *(figure(got[f, n]) + " ns" for f in fabrics)]
             for n in (1, 3, 5)] + [
            ["a hop within a row (30 m)", *(figure(inner[f]) + " ns" for f in fabrics)],
            ["a hop to the core (100 m)", *(figure(core[f]) + " ns" for f in fabrics)]])
    b.statements([
        ("InfiniBand: less than 1 us a hop", "%s and %s ns" % (figure(inner["ib-ndr"]), figure(core["ib-ndr"])),
         max(inner["ib-ndr"], core["ib-ndr"]) < 1000),
        ("RoCE: 1.2 to 2 us a hop", "%s and %s ns" % (figure(inner["roce-400g"]), figure(core["roce-400g"])),
         1200 <= min(inner["roce-400g"], core["roce-400g"]) and max(inner["roce-400g"], core["roce-400g"]) <= 2000),
        ("a hop of RoCE takes longer than one of InfiniBand", times(inner["roce-400g"] / inner["ib-ndr"]),
         inner["roce-400g"] > inner["ib-ndr"]),
        ("InfiniBand from port to port 1 to 2 us", "%s to %s ns over one to five switches" % (
            figure(got["ib-ndr", 1]), figure(got["ib-ndr", 5])), 1000 <= got["ib-ndr", 1] and got["ib-ndr", 5] <= 2000),
        ("RoCE 3 to 5 us or more", "%s to %s ns" % (figure(got["roce-400g", 1]), figure(got["roce-400g", 5])),
         got["roce-400g", 1] >= 3000),
    ])
    return b


def tree(weft):
    small, large = [8, 512, 4 * KIB, 32 * KIB], [MIB, 128 * MIB]
    slower = {}
    rows = []
    for n in small + large:
        row = [size(n)]
        for what, scenario in (("bare", "claim-tree-bare.yaml"), ("nccl", "claim-tree-nccl.yaml")):
            # Large ones go over rings, as NCCL would send them; without NVLink that is another matter.
            if n == large[-1] and what == "bare":
                row += ["-", "-", "-"]
                continue
            r = weft.over(scenario, job__bytes=n, job__algorithm="ring" if n == large[-1] else "tree")
            ib, roce = of(r, "ib-ndr", job_us), of(r, "roce-400g-spray", job_us)
            slower[what, n] = ratio(roce, ib)
            row += [span(ib, "us"), span(roce, "us"), span(slower[what, n])]
        rows.append(row)
    b = Block()
    b.table(["all-reduce", "network alone: ib-ndr", "roce-400g-spray", "ratio", "with NCCL's costs: ib-ndr",
             "roce-400g-spray", "ratio"], rows)

    def between(what):
        """Seed by seed, the least and the most over the small sizes."""
        by_seed = list(zip(*(slower[what, n] for n in small)))
        found = "%s to %s times" % (figure(min(map(min, by_seed))), figure(max(map(max, by_seed))))
        return found, [min(s) >= 1.5 and max(s) <= 2 for s in by_seed]

    b.statements([
        ("8 B is 1.5 to 2 times slower on RoCE: the network alone", times(slower["bare", 8]),
         all_of(slower["bare", 8], lambda x: 1.5 <= x <= 2)),
        ("so is everything up to 32 KB", *between("bare")),
        ("the same, of NCCL on GPUs", *between("nccl")),
        ("large ones take the same", "%s at %s" % (times(slower["nccl", large[-1]]), size(large[-1])),
         all_of(slower["nccl", large[-1]], lambda x: x <= 1.02)),
    ])
    return b


BLOCKS = {
    "write": (write, "normal"),
    "hops": (hops, "normal"),
    "tree": (tree, "normal"),
}
