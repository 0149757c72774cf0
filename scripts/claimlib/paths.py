# SPDX-License-Identifier: Apache-2.0
"""Claims about paths and topologies: collisions, adaptive and static routing, size, blocking."""

from .measure import MIB, Block, all_of, figure, job_us, of, percent, ratio, span, times

PAIRS = ("SELECT label, avg(bw), min(bw) FROM (SELECT r.id, r.label,"
         " sum(f.bytes) * 8e12 / (max(f.end_ps) - min(f.start_ps)) AS bw"
         " FROM flow f JOIN run r ON r.id = f.run GROUP BY r.id, f.src) GROUP BY id ORDER BY id")


def pairs(weft, repeat):
    """The table over seeds, and {fabric: mean share of the line, for each seed}."""
    means, worst = {}, {}
    for rows in weft.queries(PAIRS, "claim-collisions.yaml", traffic__repeat=repeat):
        for fabric, mean, slowest in rows:
            means.setdefault(fabric, []).append(mean / 10e9)
            worst.setdefault(fabric, []).append(slowest / 10e9)
    b = Block()
    b.table(["paths", "mean pair, of the line", "slowest pair"],
            [[f, percent(means[f]), percent(worst[f])] for f in means])
    return b, means


def collisions(weft):
    """Two exchanges in place of their twenty, for the tests: what is left of the claim is that paths count."""
    b, means = pairs(weft, 2)
    gain = {f: ratio(means[f], means["one path per pair"]) for f in ("adaptive, by bytes", "adaptive, by grades")}
    b.statements([
        ("adaptive routing gets half as much again, at least", "%s by bytes, %s by grades" % tuple(
            times(gain[f]) for f in gain), [min(pair) >= 1.5 for pair in zip(*gain.values())]),
    ])
    return b


def collisions_full(weft):
    b, means = pairs(weft, 20)

    def near(name, published):
        return percent(means[name]), all_of(means[name], lambda x: abs(x - published) <= 0.05)

    b.statements([
        ("one path for each pair gets 38 %, within 5 points", *near("one path per pair", 0.38)),
        ("adaptive routing gets 77 %, within 5 points: by bytes", *near("adaptive, by bytes", 0.77)),
        ("the same by grades", *near("adaptive, by grades", 0.77)),
    ])
    return b


def mean_us(run):
    return run["flow_completion_ps"]["mean"] / 1e6


def slowest_us(run):
    return run["flow_completion_ps"]["max"] / 1e6


# What so many hosts would be sold: one switch, two tiers or three, of switches of 64 ports (InfiniBand) or 128.
BOUGHT = {"topology__kind": "auto", "topology__radix": "auto", "topology__gpus": 1}


def scale(weft, sizes):
    fabrics = ["ib-ndr", "ib-ndr-static", "roce-400g", "roce-400g-spray", "uec-400g"]
    rows, got = [], {}
    for hosts in [64, *sizes]:
        runs = weft.over("claim-permutation.yaml", topology__hosts=hosts, **BOUGHT)
        row, switches = ["{:,}".format(hosts)], {f: runs[0][f]["switches"] for f in fabrics}
        for f in fabrics:
            got[hosts, f] = of(runs, f, mean_us)
            row.append("%s, slowest %s" % (span(got[hosts, f], "us"), span(of(runs, f, slowest_us), "us")))
        rows.append([row[0], "%d, %d" % (switches["ib-ndr"], switches["roce-400g"]), *row[1:]])
    b = Block()
    b.table(["hosts", "switches, InfiniBand and Ethernet", *fabrics], rows)

    def slower(f):
        """Than on one switch, at the largest size."""
        return ratio(got[sizes[-1], f], got[64, f])

    def keeps(f):
        return "%s as long as on one switch" % times(slower(f)), all_of(slower(f), lambda x: x < 1.5)

    large = "{:,} hosts".format(sizes[-1])
    b.statements([
        ("InfiniBand scales without loss of speed (less than half more time), %s: adaptive routing" % large, *keeps("ib-ndr")),
        ("the same with static tables", *keeps("ib-ndr-static")),
        ("RoCE does, too: ECMP, one queue pair", *keeps("roce-400g")),
        ("sprayed", *keeps("roce-400g-spray")),
        ("Ultra Ethernet", *keeps("uec-400g")),
        ("sprayed RoCE loses more than InfiniBand with adaptive routing", "%s against %s" % (
            times(slower("roce-400g-spray")), times(slower("ib-ndr"))),
         [x > 1.05 * y for x, y in zip(slower("roce-400g-spray"), slower("ib-ndr"))]),
    ])
    return b


def scale_quick(weft):
    return scale(weft, [512])


def scale_full(weft):
    return scale(weft, [512, 2048, 8192])


def blocking(weft):
    fabrics = ["ib-ndr", "roce-400g-spray"]
    jobs = [("all-reduce, 64 MiB", {"job__kind": "all-reduce", "job__algorithm": "auto", "job__bytes": 64 * MIB}),
            ("all-to-all, 16 MiB", {"job__kind": "all-to-all", "job__algorithm": "auto", "job__bytes": 16 * MIB})]
    nets = [("racks", "leaf-spine", 1), ("racks", "leaf-spine", 3), ("racks", "leaf-spine", 7), ("rails", "rail", 1),
            ("rails", "rail", 3)]
    rows, took, switches = [], {}, {}
    for name, kind, ratio_down in nets:
        row = []
        for job, change in jobs:
            runs = weft.over("claim-blocking.yaml", topology__kind=kind, topology__blocking=ratio_down, **change)
            switches[name, ratio_down] = runs[0]["ib-ndr"]["switches"]
            for f in fabrics:
                took[name, ratio_down, job, f] = of(runs, f, job_us)
                row.append(span(took[name, ratio_down, job, f], "us"))
        rows.append(["%s, %d:1" % (name, ratio_down), str(switches[name, ratio_down]), *row])
    b = Block()
    b.table(["96 GPUs", "switches", *("%s: %s" % (job, f) for job, _ in jobs for f in fabrics)], rows)

    def costs(name, down, job):
        r = [ratio(took[name, down, job, f], took[name, 1, job, f]) for f in fabrics]
        return ("%s on InfiniBand, %s on RoCE, with %d switches instead of %d" % (
            times(r[0]), times(r[1]), switches[name, down], switches[name, 1]), [max(x) for x in zip(*r)])

    reduce3, all3, rail3 = (costs("racks", 3, jobs[0][0]), costs("racks", 3, jobs[1][0]), costs("rails", 3, jobs[1][0]))
    b.statements([
        ("fewer uplinks save switches", "%d, %d and %d for 1:1, 3:1 and 7:1" % tuple(
            switches["racks", d] for d in (1, 3, 7)), switches["racks", 3] < switches["racks", 1]),
        ("and cost little: all-reduce on racks, 3:1 (less than a tenth)", reduce3[0], all_of(reduce3[1], lambda x: x < 1.1)),
        ("all-to-all on racks, 3:1", all3[0], all_of(all3[1], lambda x: x < 1.1)),
        ("all-to-all on rails, 3:1", rail3[0], all_of(rail3[1], lambda x: x < 1.1)),
    ])
    return b


def dragonfly(weft):
    nets = [("dragonfly", {"topology__kind": "dragonfly", "topology__global_links": 3, "topology__radix": 0}),
            ("fat tree, 12 ports", {"topology__kind": "fat-tree", "topology__radix": 12}),
            ("two tiers, 32 ports", {"topology__kind": "leaf-spine", "topology__radix": 32})]
    loads = [("random permutation", {}), ("each group to the next", {"traffic__kind": "shift", "traffic__distance": 18})]
    rows, got, switches = [], {}, {}
    for name, net in nets:
        row = []
        for load, change in loads:
            runs = weft.over("claim-permutation.yaml", fabric="ib-ndr", topology__hosts=342, **net, **change)
            switches[name] = runs[0]["ib-ndr"]["switches"]
            got[name, load] = of(runs, "ib-ndr", mean_us)
            row.append("%s, slowest %s" % (span(got[name, load], "us"), span(of(runs, "ib-ndr", slowest_us), "us")))
        rows.append([name, str(switches[name]), *row])
    b = Block()
    b.table(["342 hosts, 1 MB each", "switches", *(load for load, _ in loads)], rows)

    def free(name, load):
        # 1 MB takes 20.1 us on the line; a fat tree's latency is 3 us more.
        return "%s us on average, 20.1 on the line" % span(got[name, load]), all_of(got[name, load], lambda x: x < 1.5 * 20.1)

    b.statements([
        ("a fat tree has low blocking", *free("fat tree, 12 ports", loads[0][0])),
        ("whatever is sent", *free("fat tree, 12 ports", loads[1][0])),
        ("a dragonfly has", *free("dragonfly", loads[0][0])),
        ("whatever is sent", *free("dragonfly", loads[1][0])),
        ("it needs fewer switches of the same size", "%d of 11 ports, %d of 12" % (
            switches["dragonfly"], switches["fat tree, 12 ports"]), switches["dragonfly"] < switches["fat tree, 12 ports"]),
    ])
    return b


def one_switch(weft):
    one = of(weft.over("claim-one-switch.yaml"), "ib-ndr", mean_us)
    two = weft.over("claim-two-switches.yaml")
    mean, slow = of(two, "ib-ndr", mean_us), of(two, "ib-ndr", slowest_us)
    b = Block()
    b.table(["200 Gb/s, 4 MB each", "mean", "slowest"], [
        ["100 nodes, one switch of 128 ports", span(one, "us"), "the same"],
        ["200 nodes, two switches, 28 links between them", span(mean, "us"), span(slow, "us")]])
    # 4 MB on the line, with 26 B around 4096.
    line = 4e6 * 4122 / 4096 * 8 / 200e3
    b.statements([
        ("one switch takes 100 nodes, at full speed", "%s us, %s on the line" % (span(one), figure(line)),
         all_of(one, lambda x: x < 1.1 * line)),
        ("two take 200, at full speed", "%s us on average, %s the slowest" % (span(mean), span(slow)),
         all_of(slow, lambda x: x < 1.1 * line)),
    ])
    return b


def ports(db):
    """{fabric: the bytes that each port of a switch sent}"""
    got = {}
    for label, node, port, sent in db.execute(
            "SELECT r.label, x.node, x.port, max(x.base) FROM reading x JOIN run r ON r.id = x.run"
            " WHERE x.measure = 'tx_bytes' GROUP BY r.id, x.node, x.port, x.queue"):
        mine = got.setdefault(label, {})
        mine[node, port] = mine.get((node, port), 0) + sent
    return got


def deterministic(weft):
    fabrics = ["ib-ndr-static", "ib-ndr", "roce-400g", "roce-400g-spray"]
    settings = {"fabric": fabrics, "topology__radix": 16, "topology__hosts": 128}
    fixed = {"traffic__kind": "shift", "traffic__distance": 37}
    seen = weft.recorded(ports, "claim-permutation.yaml", **settings, **fixed)
    used = {f: {p for s in seen for p in s[f]} for f in fabrics}
    differ = {f: sum(len({s[f].get(p, 0) for s in seen}) > 1 for p in used[f]) for f in fabrics}
    runs = weft.over("claim-permutation.yaml", **settings, **fixed)
    drawn = weft.over("claim-permutation.yaml", **settings)
    b = Block()
    b.table(["128 hosts, 16-port switches", *fabrics], [
        ["ports whose bytes depend on the seed", *("%d of %d" % (differ[f], len(used[f])) for f in fabrics)],
        ["every host to the 37th further on: slowest", *(span(of(runs, f, slowest_us), "us") for f in fabrics)],
        ["a random permutation: mean", *(span(of(drawn, f, mean_us), "us") for f in fabrics)],
        ["a random permutation: slowest", *(span(of(drawn, f, slowest_us), "us") for f in fabrics)],
    ])
    static, even = of(drawn, "ib-ndr-static", slowest_us), of(drawn, "ib-ndr", slowest_us)
    b.statements([
        ("the subnet manager's tables make paths deterministic", "%d ports differ" % differ["ib-ndr-static"],
         differ["ib-ndr-static"] == 0),
        ("so they are with adaptive routing", "%d ports differ" % differ["ib-ndr"], differ["ib-ndr"] == 0),
        ("so they are on RoCE with ECMP", "%d ports differ" % differ["roce-400g"], differ["roce-400g"] == 0),
        ("deterministic paths make the behaviour of the links predictable: a regular pattern", "%s us" % span(
            of(runs, "ib-ndr-static", slowest_us)), all_of(of(runs, "ib-ndr-static", slowest_us), lambda x: x < 30)),
        ("a random pattern", "the slowest flow takes %s us, with adaptive routing %s" % (span(static), span(even)),
         [x < 1.1 * y for x, y in zip(static, even)]),
    ])
    return b


def cost(weft):
    fabrics = ["ib-ndr", "roce-400g", "roce-400g-th5"]
    sizes = (64, 256, 1024, 2048, 8192)
    bill = {n: weft.compare("claim-cost.yaml", topology__hosts=n) for n in sizes}

    def dollars(n, f):
        return "%s to %s" % tuple(figure(bill[n][f][end]["cost"] / 1e6, 2) for end in ("low", "high"))

    b = Block()
    b.table(["NICs", *("%s: switches, tiers | transceivers | kW | million dollars" % f for f in fabrics)], [
        ["{:,}".format(n), *(x for f in fabrics for x in (
            "%d, %d" % (bill[n][f]["switches"], bill[n][f]["tiers"]), "%d" % bill[n][f]["optics"],
            figure(bill[n][f]["power"] / 1e3), dollars(n, f)))] for n in sizes])
    b.lines[1] = "|" + "---|" * (1 + 4 * len(fabrics))

    def dearer(n, f):
        """Whether InfiniBand costs more than a fabric at every price: the ranges do not meet."""
        return bill[n]["ib-ndr"]["low"]["cost"] > bill[n][f]["high"]["cost"]

    def half(n, f):
        return bill[n]["ib-ndr"]["cost"] / bill[n][f]["cost"]

    def found(f):
        return "%s times %s's price, in the middle of both" % (" to ".join(figure(x, 2) for x in (
            min(half(n, f) for n in sizes), max(half(n, f) for n in sizes))), f)

    more = [bill[n]["ib-ndr"]["switches"] / bill[n]["roce-400g"]["switches"] for n in sizes]
    b.statements([
        ("InfiniBand costs more (at every price): than NVIDIA's Ethernet, 1,024 NICs",
         "%s against %s million dollars" % (dollars(1024, "ib-ndr"), dollars(1024, "roce-400g")), dearer(1024, "roce-400g")),
        ("8,192 NICs", "%s against %s" % (dollars(8192, "ib-ndr"), dollars(8192, "roce-400g")), dearer(8192, "roce-400g")),
        ("than a white box, 1,024 NICs", "%s against %s" % (dollars(1024, "ib-ndr"), dollars(1024, "roce-400g-th5")),
         dearer(1024, "roce-400g-th5")),
        ("its total cost is not always higher: than NVIDIA's Ethernet", found("roce-400g"),
         any(half(n, "roce-400g") < 1 for n in sizes)),
        ("than a white box", found("roce-400g-th5"), any(half(n, "roce-400g-th5") < 1 for n in sizes)),
        ("its network is simpler: fewer switches", "%s to %s times as many" % (figure(min(more), 2), figure(max(more), 2)),
         max(more) < 1),
        ("who looks at power takes InfiniBand", "%s times RoCE's at 64 NICs, %s at 1,024, %s at 8,192" % tuple(
            figure(bill[n]["ib-ndr"]["power"] / bill[n]["roce-400g"]["power"]) for n in (64, 1024, 8192)),
         all(bill[n]["ib-ndr"]["power"] < bill[n]["roce-400g"]["power"] for n in sizes)),
    ])
    return b


BLOCKS = {
    "scale": (scale_quick, "normal"),
    "scale-full": (scale_full, "full"),
    "collisions": (collisions, "normal"),
    "collisions-full": (collisions_full, "full"),
    "deterministic": (deterministic, "normal", "all"),
    "dragonfly": (dragonfly, "normal"),
    "one-switch": (one_switch, "normal"),
    "blocking": (blocking, "full"),
    "cost": (cost, "normal"),
}
