# SPDX-License-Identifier: Apache-2.0
"""Claims about what several have in common: storage beside a job, tenants, congestion that spreads."""

from .measure import LINE, Block, all_of, figure, job_us, of, percent, ratio, span, times


def slower(a, alone):
    return [x - 1 for x in ratio(a, alone)]


def storage(weft):
    fabrics = ["ib-ndr", "roce-400g-spray", "own lossless"]
    rows, job = [], {}
    cases = [("alone", "burst", ("traffic__start", "50ms"))]
    for what in ("burst", "steady"):
        cases += [("in the job's class", what, ("traffic__class", 3)),
                  ("in their own class", what, ("traffic__class", 4))]
    for label, what, (name, value) in cases:
        # The second lossless class matters only to those who use it.
        used = fabrics if label == "in their own class" else fabrics[:2]
        only = {} if used == fabrics else {"fabric": used}
        r = weft.over("claim-storage-%s.yaml" % what, **only, **{name: value})
        row = ["the job alone" if label == "alone" else "%s, reads %s" % (what, label)]
        for f in used:
            job[what, label, f] = of(r, f, job_us)
            reads = of(r, f, lambda x: x["flow_completion_ps"]["p99"] / 1e6)
            row.append(span(job[what, label, f], "us") + ("" if label == "alone" else ", reads " + span(reads, "us")))
        rows.append(row + ["-"] * (len(fabrics) - len(used)))
    b = Block()
    b.table(["all-reduce, and p99 of the reads", *fabrics], rows)
    alone = {f: job["burst", "alone", f] for f in fabrics[:2]}
    alone[fabrics[2]] = alone[fabrics[1]]
    cost = {(w, l, f): slower(v, alone[f]) for (w, l, f), v in job.items() if l != "alone"}

    def found(what, label, used, test):
        every = [x for f in used for x in cost[what, label, f]]
        by_seed = list(zip(*(cost[what, label, f] for f in used)))
        return ("%s to %s %% slower" % (figure(100 * min(every)), figure(100 * max(every))),
                [all(map(test, s)) for s in by_seed])

    both = fabrics[:2]
    b.statements([
        ("storage in the job's class hurts the all-reduce: a burst",
         *found("burst", "in the job's class", both, lambda x: x > 0.05)),
        ("the same, a steady load", *found("steady", "in the job's class", both, lambda x: x > 0.05)),
        ("a class of its own protects the job from a burst",
         *found("burst", "in their own class", fabrics, lambda x: x < 0.05)),
        ("and from a steady load", *found("steady", "in their own class", fabrics, lambda x: x < 0.05)),
        ("credits spare InfiniBand that", "a burst costs it %s, RoCE %s" % (
            percent(cost["burst", "in the job's class", "ib-ndr"]),
            percent(cost["burst", "in the job's class", "roce-400g-spray"])),
         all_of(ratio(cost["burst", "in the job's class", "ib-ndr"],
                      cost["burst", "in the job's class", "roce-400g-spray"]), lambda x: x < 0.5)),
    ])
    return b


def tenants(weft):
    cases = [("alone", {"traffic__start": "50ms"}), ("beside the other, in one class", {}),
             ("beside the other, in its own class", {"traffic__class": 4})]
    rows, job, other = [], {}, {}
    for label, change in cases:
        runs = weft.over("claim-tenants.yaml", **change)
        fabrics = list(runs[0])
        for f in fabrics:
            job[label, f] = of(runs, f, job_us)
            other[label, f] = of(runs, f, lambda r: r["completion_ps"] / 1e6)
        rows.append([label, *(span(job[label, f], "us") for f in fabrics)])
    alone, same, apart = (label for label, _ in cases)
    rows += [["the other's writes, in one class", *(span(other[same, f], "us") for f in fabrics)],
             ["the other's writes, in its own class", *(span(other[apart, f], "us") for f in fabrics)]]
    b = Block()
    b.table(["three all-reduces", *fabrics], rows)

    def isolated(label, f):
        cost = slower(job[label, f], job[alone, f])
        return percent(cost) + " slower", all_of(cost, lambda x: x < 0.05)

    two = "roce-400g-spray, second lossless class"
    b.statements([
        ("tenants in one class do not disturb each other (by 5 %): InfiniBand", *isolated(same, "ib-ndr")),
        ("sprayed RoCE", *isolated(same, "roce-400g-spray")),
        ("RoCE as shipped, ECMP", *isolated(same, "roce-400g")),
        ("badly tuned RoCE", *isolated(same, "roce-400g-mistuned")),
        ("Ultra Ethernet", *isolated(same, "uec-400g")),
        ("queues of their own isolate them: InfiniBand, a virtual lane", *isolated(apart, "ib-ndr")),
        ("sprayed RoCE, a second lossless class", *isolated(apart, two)),
        ("and the other tenant loses nothing by it", "its writes take %s with a second lossless class, %s without" % (
            span(other[apart, two], "us"), span(other[apart, "roce-400g-spray"], "us")),
         [x < 1.05 * z and y < 1.05 * z for x, y, z in zip(other[apart, two], other[apart, "roce-400g-spray"],
                                                           other[same, "roce-400g-spray"])]),
    ])
    return b


VICTIM = ("SELECT r.label, max(CASE WHEN x.node = 'h0' AND x.measure = 'hca_rx_bytes' THEN x.value END) * 8 / 10e-3,"
          " (SELECT value FROM value WHERE run = r.id AND name = 'pause_tx'),"
          " (SELECT value FROM value WHERE run = r.id AND name = 'credit_wait') / 1e9"
          " FROM reading x JOIN run r ON r.id = x.run GROUP BY r.id")


def victim(weft):
    seen = [{f: (rate / LINE, pauses or 0, waits or 0) for f, rate, pauses, waits in rows}
            for rows in weft.queries(VICTIM, "claim-victim.yaml", unfinished=True)]
    got = {f: [s[f][0] for s in seen] for f in seen[0]}
    b = Block()
    b.table(["", "the victim gets, of its line", "pauses", "waiting for credits, sum of ports"],
            [[f, percent(got[f]), span([s[f][1] for s in seen], digits=2), span([s[f][2] for s in seen], "ms")]
             for f in got])

    def keeps(f, share=0.9):
        return percent(got[f]), all_of(got[f], lambda x: x >= share)

    def loses(f):
        return percent(got[f]), all_of(got[f], lambda x: x < 0.5)

    b.statements([
        ("without tuning, congestion spreads (the victim has less than half): RoCE as shipped", *loses("roce-400g")),
        ("badly tuned", *loses("roce-400g-mistuned")),
        ("PFC alone blocks the head of the line", *loses("roce-400g-nocc")),
        ("tuned, it does not spread (nine tenths): CNPs for each queue pair", *keeps("roce-400g, CNPs for each queue pair")),
        ("credits eliminate head-of-line blocking", *keeps("ib-ndr")),
        ("with InfiniBand's congestion control, too", *keeps("ib-ndr, congestion control on")),
        ("Ultra Ethernet has none", *keeps("uec-400g")),
    ])
    return b


def quantiles(db):
    """{fabric: (p50, p99, p99.9) of the small writes, us}"""
    got = {}
    for run, label in db.execute("SELECT id, label FROM run").fetchall():
        took = sorted(t for t, in db.execute("SELECT (end_ps - start_ps) / 1e6 FROM flow WHERE run = ? AND bytes = 4096", (run,)))
        got[label] = tuple(took[min(len(took) - 1, int(len(took) * q))] for q in (0.5, 0.99, 0.999))
    return got


def tails(weft):
    rows, got = [], {}
    for label, change in (("idle", {"traffic__1__load": 0.00002}), ("loaded to 60 %", {})):
        seen = weft.recorded(quantiles, "claim-tails.yaml", **change)
        for f in seen[0]:
            for i, q in enumerate(("p50", "p99", "p99.9")):
                got[label, f, q] = [s[f][i] for s in seen]
            rows.append([label, f, *(span(got[label, f, q], "us") for q in ("p50", "p99", "p99.9"))])
    b = Block()
    b.table(["", "", "p50", "p99", "p99.9"], rows)

    def tail(f, label="loaded to 60 %"):
        return got[label, f, "p99.9"]

    def worse(f, than, by):
        r = ratio(tail(f), tail(than))
        return "p99.9 is %s that of %s" % (times(r), than), all_of(r, lambda x: x > by)

    def jitter(f):
        return ratio(tail(f, "idle"), got["idle", f, "p50"])

    b.statements([
        ("RoCE's latency is higher: idle", times(ratio(got["idle", "roce-400g", "p50"], got["idle", "ib-ndr", "p50"])),
         all_of(ratio(got["idle", "roce-400g", "p50"], got["idle", "ib-ndr", "p50"]), lambda x: x > 1.1)),
        ("and more variable: idle", "p99.9 is %s the median, InfiniBand's %s" % (
            times(jitter("roce-400g")), times(jitter("ib-ndr"))),
         [a > 1.1 * c for a, c in zip(jitter("roce-400g"), jitter("ib-ndr"))]),
        ("more variable: loaded, ECMP", *worse("roce-400g", "ib-ndr", 1.1)),
        ("more variable: loaded, sprayed", *worse("roce-400g-spray", "ib-ndr", 1.1)),
        ("badly tuned, it has spikes", *worse("roce-400g-mistuned", "roce-400g", 1.5)),
        ("InfiniBand has minimal jitter under load (p99.9 below twice the median)", "%s the median" % times(
            ratio(tail("ib-ndr"), got["loaded to 60 %", "ib-ndr", "p50"])),
         all_of(ratio(tail("ib-ndr"), got["loaded to 60 %", "ib-ndr", "p50"]), lambda x: x < 2)),
    ])
    return b


def parity(weft):
    """Ultra Ethernet beside InfiniBand, in the patterns of other claims; more is worse in every row."""
    both = ["ib-ndr", "uec-400g"]
    lat = weft.perf("--fabric", ",".join(both), "--size", "8", "--iters", "20", "--test", "lat")
    rows = [("RDMA write of 8 B, one switch", "us", *([lat[f]["latency"][0]["mean_ps"] / 1e6] for f in both))]

    def row(label, scenario, value, **settings):
        runs = weft.over(scenario, fabric=both, **settings)
        rows.append((label, "us", *(of(runs, f, value) for f in both)))

    row("permutation, 64 hosts on racks, mean", "claim-permutation.yaml", lambda r: r["flow_completion_ps"]["mean"] / 1e6)
    row("permutation, slowest", "claim-permutation.yaml", lambda r: r["flow_completion_ps"]["max"] / 1e6)
    row("incast and permutation", "claim-drops.yaml", lambda r: r["completion_ps"] / 1e6)
    seen = weft.queries(VICTIM, "claim-victim.yaml", unfinished=True, fabric=both)
    rows.append(("a victim's MB, each", "us", *([8e12 / x[1] for found in seen for x in found if x[0] == f] for f in both)))
    small = weft.recorded(quantiles, "claim-tails.yaml", fabric=both)
    rows.append(("small writes under load, p99.9", "us", *([s[f][2] for s in small] for f in both)))
    row("all-reduce of 1 MiB, 64 GPUs on one switch", "claim-size.yaml", job_us)
    row("all-reduce of 16 MiB", "claim-size.yaml", job_us, job__bytes="16MiB")
    row("all-to-all of 16 MiB, 96 GPUs on racks", "claim-blocking.yaml", job_us, job__kind="all-to-all",
        job__algorithm="auto", job__bytes="16MiB")
    row("stream of 256 MB, bit errors of 1e-9", "claim-errors.yaml", lambda r: r["completion_ps"] / 1e6, fabric__link__ber="1e-9")
    b = Block()
    b.table(["", *both, "ratio"], [[label, span(x, unit), span(y, unit), span(ratio(y, x))] for label, unit, x, y in rows])
    b.statements([("as good as InfiniBand (within 10 %): " + label, times(ratio(y, x)), all_of(ratio(y, x), lambda q: q <= 1.1))
                  for label, _, x, y in rows])
    return b


BLOCKS = {
    "victim": (victim, "normal"),
    "tails": (tails, "normal"),
    "storage": (storage, "normal"),
    "tenants": (tenants, "full"),
    "parity": (parity, "full"),
}
