# SPDX-License-Identifier: Apache-2.0
"""Claims about losing packets, and about not losing them."""

import statistics

from .measure import Block, all_of, counts, of, percent, ratio, span, times

LOST = ["0", "0.01%", "0.1%", "1%"]
RECOVERY = ["go-back-n", "selective"]
LOSS = ("SELECT r.label, max(CASE v.name WHEN 'goodput' THEN v.value END) / 8e9,"
        " max(CASE v.name WHEN 'job_end' THEN v.value END) / 1e6,"
        " max(CASE v.name WHEN 'local_ack_timeout_err' THEN v.value END)"
        " FROM run r JOIN value v ON v.run = r.id GROUP BY r.id")


def loss(weft):
    stream, reduce = {}, {}
    rows = []
    for lost in LOST:
        row = [lost.replace("%", " %")]
        for got, scenario, column in ((stream, "claim-loss.yaml", 1), (reduce, "claim-loss-all-reduce.yaml", 2)):
            seen = weft.queries(LOSS, scenario, fabric__link__loss=lost)
            for r in RECOVERY:
                got[lost, r] = [x[column] for found in seen for x in found if x[0] == r]
                waits = [x[3] or 0 for found in seen for x in found if x[0] == r]
                row.append("%s, %s" % (span(got[lost, r], "GB/s" if got is stream else "us"), counts(waits, "timeouts")))
        rows.append(row)
    b = Block()
    b.table(["loss on each link", "stream, go-back-n", "stream, selective", "2 all-reduces, go-back-n",
             "2 all-reduces, selective"], rows)
    part = {k: ratio(v, stream["0", k[1]]) for k, v in stream.items()}
    slower = {k: ratio(v, reduce["0", k[1]]) for k, v in reduce.items()}
    b.statements([
        ("a stream with go-back-N falls sharply", "%s of the bandwidth are left at 0.1 %%, %s at 1 %%" % (
            percent(part["0.1%", "go-back-n"]), percent(part["1%", "go-back-n"])),
         all_of(part["1%", "go-back-n"], lambda x: x < 0.5)),
        ("already at 0.01 %", percent(part["0.01%", "go-back-n"]) + " are left",
         all_of(part["0.01%", "go-back-n"], lambda x: x < 0.9)),
        ("selective repeat keeps the bandwidth at 0.1 %", percent(part["0.1%", "selective"]) + " are left",
         all_of(part["0.1%", "selective"], lambda x: x >= 0.95)),
        ("and at 1 %", percent(part["1%", "selective"]) + " are left",
         all_of(part["1%", "selective"], lambda x: x >= 0.9)),
        ("selective repeat saves an all-reduce at 0.1 %", "%s slower, with go-back-N %s" % (
            times(slower["0.1%", "selective"]), times(slower["0.1%", "go-back-n"])),
         all_of(slower["0.1%", "selective"], lambda x: x < 1.1)),
    ])
    return b


def standing(db):
    """{fabric: (payload in GB/s, packets dropped, in a lossless class, pauses, the longest queue in MB, the median of that
    queue in the middle half of the run)}"""
    got = {}
    for run, label, end in db.execute("SELECT id, label, end_ps FROM run").fetchall():
        value = dict(db.execute("SELECT name, value FROM value WHERE run = ?", (run,)))
        queues = {}
        for node, port, t, v in db.execute("SELECT node, port, t_ps, value FROM reading WHERE run = ?"
                                           " AND measure = 'queue_bytes' ORDER BY t_ps", (run,)):
            queues.setdefault((node, port), []).append((t, v))
        readings = max(queues.values(), key=lambda q: max(v for _, v in q))
        at = [end / 4 + i * end / 400 for i in range(200)]
        held = [max((r for r in readings if r[0] <= t), default=(0, 0))[1] for t in at]
        got[label] = (value["goodput"] / 8e9, value["drops_buffer"] or 0, value["lossless_drops"] or 0,
                      value["pause_tx"] or 0, value["max_queue"] / 1e6, statistics.median(held) / 1e6)
    return got


def lossless(weft):
    seen = weft.recorded(standing, "claim-lossless.yaml", sample="50us")
    got = {f: list(zip(*(s[f] for s in seen))) for f in seen[0]}
    b = Block()
    b.table(["16 to one", "received", "dropped", "of them lossless", "pauses", "longest queue", "its median"],
            [[f, span(g[0], "GB/s"), *(span(g[i], digits=2) for i in (1, 2, 3)), span(g[4], "MB"), span(g[5], "MB")]
             for f, g in got.items()])
    shipped, paced, pfc, ecn, none, short = list(got)[1:]

    def queue(f):
        return "%s (%s)" % (span(got[f][5], "MB"), f)

    b.statements([
        ("PFC stops drops", "%s packets dropped with it, %s with neither" % (
            span(got[pfc][1], digits=2), span(got[none][1], digits=2)),
         [with_it == 0 < without for with_it, without in zip(got[pfc][1], got[none][1])]),
        ("ECN alone does so, too, here", "%s dropped" % span(got[ecn][1], digits=2), all_of(got[ecn][1], lambda x: x == 0)),
        ("ECN stops standing queues: as adapters are shipped", queue(shipped), all_of(got[shipped][5], lambda x: x < 1.5)),
        ("with CNPs for each queue pair", queue(paced), all_of(got[paced][5], lambda x: x < 1.5)),
        ("PFC alone leaves one", queue(pfc), all_of(got[pfc][5], lambda x: x > 1.5)),
        ("both together are as good as InfiniBand's credits", "%s GB/s received with CNPs for each queue pair, %s with credits"
         % (span(got[paced][0]), span(got["ib-ndr"][0])),
         all_of(ratio(got[paced][0], got["ib-ndr"][0]), lambda x: x >= 0.95)),
        ("drops in the lossless class mean that PFC is wrong", "%s where the headroom is too small, %s elsewhere" % (
            span(got[short][2], digits=2), span([x for f in got if f != short for x in got[f][2]], digits=2)),
         [short_of > 0 and not any(got[f][2][i] for f in got if f != short) for i, short_of in enumerate(got[short][2])]),
    ])
    return b


def drops(weft):
    runs = weft.over("claim-drops.yaml")
    fabrics = list(runs[0])
    dropped = {f: of(runs, f, lambda r: r["total"]["drops_buffer"]) for f in fabrics}
    b = Block()
    b.table(["an incast and a permutation", "dropped for want of buffer", "took", "pauses", "longest queue"],
            [[f, span(dropped[f], digits=2), span(of(runs, f, lambda r: r["completion_ps"] / 1e6), "us"),
              span(of(runs, f, lambda r: r["total"]["pauses_sent"]), digits=2),
              span(of(runs, f, lambda r: r["total"]["max_queue_bytes"] / 1e6), "MB")] for f in fabrics])

    def none(names):
        return ("%d packets in all" % sum(sum(dropped[f]) for f in names),
                [not any(dropped[f][i] for f in names) for i in range(len(runs))])

    took = {f: of(runs, f, lambda r: r["completion_ps"]) for f in fabrics}
    b.statements([
        ("InfiniBand never drops for want of buffer", *none([f for f in fabrics if f.startswith("ib-")])),
        ("that costs nothing, whatever the buffers", "with buffers of 8 KiB it takes %s as long" % times(
            ratio(took[fabrics[1]], took[fabrics[0]])), all_of(ratio(took[fabrics[1]], took[fabrics[0]]), lambda x: x < 1.1)),
        ("RoCE with PFC does not drop either", *none(["roce-400g", "roce-400g-spray", "roce-400g-mistuned"])),
        ("without PFC it does", "%s packets" % span(dropped["roce-400g-lossy"], digits=2),
         all_of(dropped["roce-400g-lossy"], lambda x: x > 0)),
    ])
    return b


FAILED = ("SELECT r.label, max(CASE v.name WHEN 'completion' THEN v.value END) / 1e6,"
          " max(CASE v.name WHEN 'flows_failed' THEN v.value END) FROM run r JOIN value v ON v.run = r.id GROUP BY r.id")


def failed_cell(took, lost):
    """When all writes were done; or how many senders gave up, after their seven retries."""
    if not any(lost):
        return span(took, "us")
    return "%d of %d seeds: up to %d writes given up" % (sum(x > 0 for x in lost), len(lost), max(lost))


def failure(weft):
    fabrics = ["ib-ndr", "ib-ndr-static", "roce-400g", "roce-400g-spray", "uec-400g"]
    cases = [("routes mended after 1 ms", {}), ("after 100 ms", {"run__reconverge": "100ms"}),
             ("after 1 ms, timeouts of 1 ms", {"fabric__sender__timeout": "1ms"})]
    same = {"topology__hosts": 32, "topology__radix": 8, "traffic__size": "4MB"}
    runs = weft.over("claim-permutation.yaml", **same)
    whole = {f: of(runs, f, lambda r: r["completion_ps"] / 1e6) for f in fabrics}
    rows = [["no failure", *(span(whole[f], "us") for f in fabrics)]]
    took, lost = {}, {}
    for label, change in cases:
        for found in weft.queries(FAILED, "claim-failure.yaml", unfinished=True, **change):
            for f, us, given_up in found:
                took.setdefault((label, f), []).append(us)
                lost.setdefault((label, f), []).append(given_up or 0)
        rows.append([label, *(failed_cell(took[label, f], lost[label, f]) for f in fabrics)])
    b = Block()
    b.table(["all 32 writes are done", *fabrics], rows)
    one, hundred, short = (label for label, _ in cases)

    def recovers(label, f):
        late = [None if x else max(0, round(t - w)) for t, w, x in zip(took[label, f], whole[f], lost[label, f])]
        held = [x is not None and x < 2000 for x in late]
        done = [x for x in late if x is not None]
        return ("%s later" % span(done, "us") if len(done) == len(late) else
                "%d of %d seeds: writes given up" % (len(late) - len(done), len(late)), held)

    b.statements([
        ("InfiniBand recovers fast (within 2 ms): adaptive routing", *recovers(one, "ib-ndr")),
        ("static tables", *recovers(one, "ib-ndr-static")),
        ("RoCE with ECMP recovers as fast", *recovers(one, "roce-400g")),
        ("Ultra Ethernet does", *recovers(one, "uec-400g")),
        ("InfiniBand does if senders wait for 1 ms only", *recovers(short, "ib-ndr")),
        ("Ultra Ethernet does if routes are mended after 100 ms", *recovers(hundred, "uec-400g")),
    ])
    return b


def errors(weft):
    rates = ["1e-12", "1e-10", "1e-9", "1e-8"]
    fabrics = ["ib-ndr", "ib-ndr-static", "roce-400g", "uec-400g"]
    left, rows = {}, []
    for ber in rates:
        runs = weft.over("claim-errors.yaml", fabric=fabrics, fabric__link__ber=ber)
        for f in fabrics:
            left[ber, f] = of(runs, f, lambda r: r["goodput_bps"] / 8e9)
        rows.append([ber, *("%s, %s sent again" % (span(left[ber, f], "GB/s"), span(of(
            runs, f, lambda r: r["packets_resent"]), digits=2)) for f in fabrics)])
    b = Block()
    b.table(["bit errors behind the FEC", *fabrics], rows)

    def keeps(ber, f):
        best = max(left["1e-12", f])
        return percent([x / best for x in left[ber, f]]) + " of the bandwidth", all_of(left[ber, f], lambda x: x > 0.95 * best)

    b.statements([
        ("CRCs and sending again hide the errors that vendors allow (1e-12)", *keeps("1e-12", "ib-ndr")),
        ("and those of a bad transceiver (1e-9): adaptive routing", *keeps("1e-9", "ib-ndr")),
        ("the same: static tables", *keeps("1e-9", "ib-ndr-static")),
        ("the same: RoCE", *keeps("1e-9", "roce-400g")),
    ])
    return b


BLOCKS = {
    "lossless": (lossless, "normal"),
    "drops": (drops, "normal"),
    "loss": (loss, "normal"),
    "failure": (failure, "normal", "all"),
    "errors": (errors, "normal"),
}
