# SPDX-License-Identifier: Apache-2.0
"""The incidents of docs/incidents.md, a row for each: what is read off the runs of examples/incidents/NAME.yaml, what must
be true of it on every seed, and what its picture shows. What the words mean is in incident.py."""

from .incident import (ALL, MFU, MS, P99, STEP, US, Figure, Incident, Must, gave_up, gbps, grows, held, index, measured, none,
                       over, ports_over, some, took, total, under, unfinished, value, waiting)
from .measure import SEEDS
from .picture import Panel


LOST = Figure("dropped in lossless classes", value("lossless_drops"), "packets", sign=True)
HELD = Figure("ports stopped for over 1 ms", ports_over("stopped_ps", MS), sign=True)
STOPPED = Figure("stopped, sum of ports", total("stopped_ps"), "ms", 1 / MS)
MARKS = Figure("packets marked", total("ecn_marked"))
RESENT = Figure("packets sent again", value("packets_resent"))
TIMEOUTS = Figure("timeouts", value("local_ack_timeout_err"))
DOWN = Figure("lost to links that were down", value("drops_down"), "packets", sign=True)

STOPPED_PORTS = Panel("ports that are stopped", held())
# Of h0 to h11, where none of the congestion is meant for.
OTHERS = Panel("received by h0 to h11, Gb/s", gbps(r"^leaf\d+:h(\d|10|11)$"))
HOSTS = Panel("received by all hosts, Gb/s", gbps(r"^leaf\d+:h\d+$"))
AT_12 = Panel("waiting for h12 at its leaf, MB", waiting("^leaf3:h12$"))


def of_12(f):
    return f[1] == 12 and f[2] != 64000


INCIDENTS = [
    Incident("pause-storm", [
        HELD,
        Figure("the same but h15's", ports_over("stopped_ps", MS, "^(?!leaf3:h15$)"), sign=True),
        STOPPED,
        Figure("watchdog acted", value("watchdog_acted"), "times", ether=True),
        Figure("lost", value("drops"), "packets", sign=True),
    ], [
        Must("the storm stops more than 20 ports for over 1 ms", "storm", HELD.title, over(20)),
        Must("the watchdog leaves one, that of h15", "storm, watchdog", HELD.title, lambda x: x == 1),
        Must("none of the others", "storm, watchdog", "the same but h15's", none),
        Must("the watchdog acts once", "storm, watchdog", "watchdog acted", lambda x: x == 1),
        Must("the storm by itself loses nothing", "storm", "lost", none),
        Must("p99 of writes that have nothing to do with h15: 50 times the healthy", "storm", P99, over(50), "healthy"),
        Must("with the watchdog as if nothing had been", "storm, watchdog", P99, under(1.2), "healthy"),
        Must("the job takes more than twice as long", "storm", STEP, over(2), "healthy"),
        Must("with the watchdog as if nothing had been", "storm, watchdog", STEP, under(1.1), "healthy"),
        Must("InfiniBand stops as many", "ib storm", HELD.title, over(20)),
    ], [STOPPED_PORTS, OTHERS], "50us", "6ms", lambda f: 15 not in f[:2]),
    Incident("deaf-adapter", [
        LOST,
        Figure("the same at h13's port of its leaf", total("drops_buffer", "^leaf3:h13$"), "packets"),
        Figure("pauses sent to h13", total("pause_tx", "^leaf3:h13$"), ether=True),
        RESENT, TIMEOUTS,
    ], [
        Must("the lossless class loses packets, with PFC on", "deaf", LOST.title, over(100)),
        Must("all where h13's come in", "deaf", "the same at h13's port of its leaf", lambda x: x == 1, ALL),
        Must("it is told to stop", "deaf", "pauses sent to h13", some),
        Must("the job takes more than twice as long", "deaf", STEP, over(2), "healthy"),
    ], [Panel("dropped, thousands", grows("drops_buffer")), Panel("sent by h13, Gb/s", gbps("^h13:"))], "10us", "1ms"),
    Incident("stock-map", [
        Figure("packets in queue 3 to leaf3's hosts", total("tx_packets", "^leaf3:h", 3), ether=True),
        Figure("in queue 0", total("tx_packets", "^leaf3:h", 0), sign=True, ether=True),
        Figure("dropped there", total("drops_buffer", "^leaf3:", 0), "packets", sign=True, ether=True),
        LOST, RESENT, TIMEOUTS,
    ], [
        Must("RoCE's packets leave that leaf by queue 0", "stock map", "in queue 0", over(10000)),
        Must("none by queue 3", "stock map", "packets in queue 3 to leaf3's hosts", none),
        Must("and are dropped", "stock map", "dropped there", over(1000)),
        Must("no counter of a lossless class says so", "stock map", LOST.title, none),
        Must("the job takes more than 10 times as long", "stock map", STEP, over(10), "healthy"),
        Must("on the other lane InfiniBand loses nothing", "ib other lane", RESENT.title, none),
    ], [Panel("dropped, thousands", grows("drops_buffer")), AT_12], "10us", "1ms"),
    Incident("forgotten-tos", [
        Figure("packets in queue 3 to hosts", total("tx_packets", "^leaf.*:h", 3), ether=True),
        Figure("in queue 0", total("tx_packets", "^leaf.*:h", 0), sign=True, ether=True),
        Figure("dropped for want of buffer", value("drops_buffer"), "packets", sign=True),
        Figure("pauses", value("pause_tx"), ether=True), RESENT, TIMEOUTS,
    ], [
        Must("the job's packets are in queue 0", "forgotten", "in queue 0", over(10000)),
        Must("none in queue 3", "forgotten", "packets in queue 3 to hosts", none),
        Must("PFC never acts", "forgotten", "pauses", none),
        Must("packets are dropped", "forgotten", "dropped for want of buffer", over(1000)),
        Must("the job takes more than 10 times as long", "forgotten", STEP, over(10), "healthy"),
    ], [Panel("dropped, thousands", grows("drops_buffer")), AT_12], "10us", "1ms"),
    Incident("cnp-class", [
        Figure("pauses", value("pause_tx"), sign=True, ether=True),
        Figure("packets marked on their way to h12", total("ecn_marked", "^leaf3:h12$"), ether=True),
        Figure("longest queue there", total("max_queue_bytes", "^leaf3:h12$"), "MB", 1e-6),
        STOPPED,
        Figure("CNPs sent", value("np_cnp_sent"), ether=True),
    ], [
        Must("PFC acts", "CNPs with data", "pauses", some),
        Must("more packets are marked before their senders know", "CNPs with data", "packets marked on their way to h12",
             over(1.05), "healthy"),
        Must("p99 of the others' writes: a quarter longer at least", "CNPs with data", P99, over(1.25), "healthy"),
        Must("the queue gets longer, by a quarter at least", "CNPs with data", "longest queue there", over(1.25), "healthy"),
    ], [AT_12, STOPPED_PORTS], "50us", "5ms"),
    Incident("ecn-off", [
        Figure("marked by leaf3", total("ecn_marked", "^leaf3:"), "packets"),
        HELD, STOPPED,
        Figure("longest queue to h12", total("max_queue_bytes", "^leaf3:h12$"), "MB", 1e-6),
    ], [
        Must("leaf3 marks nothing", "ECN off", "marked by leaf3", none),
        Must("PFC stops ports for over 1 ms", "ECN off", HELD.title, some),
        Must("p99 of the others' writes: 5 times", "ECN off", P99, over(5), "healthy"),
        Must("without FECN InfiniBand's ports wait for credits for over 1 ms", "ib FECN off", HELD.title, some),
    ], [STOPPED_PORTS, AT_12], "50us", "6ms"),
    Incident("ecn-above-pfc", [
        MARKS, HELD, STOPPED,
        Figure("longest queue", value("max_queue"), "MB", 1e-6),
    ], [
        Must("no packet is marked", "ECN above PFC", MARKS.title, none),
        Must("PFC stops ports for over 1 ms", "ECN above PFC", HELD.title, some),
        Must("the job, which has nothing to do with it, takes a tenth longer", "ECN above PFC", STEP, over(1.1), "healthy"),
        Must("p99 of the others' writes: 5 times", "ECN above PFC", P99, over(5), "healthy"),
    ], [STOPPED_PORTS, AT_12], "50us", "6ms"),
    Incident("no-cc", [
        HELD, STOPPED, MARKS,
        Figure("CNPs acted upon", value("rp_cnp_handled"), ether=True),
    ], [
        Must("more than 8 ports are stopped for over 1 ms", "no DCQCN", HELD.title, over(8)),
        Must("the job, most of which has nothing to do with it, takes half as long again", "no DCQCN", STEP, over(1.5),
             "healthy"),
        Must("p99 of the others' writes: 5 times", "no DCQCN", P99, over(5), "healthy"),
        Must("as shipped, DCQCN does not help", "as shipped", STEP, over(1.5), "healthy"),
        Must("InfiniBand without congestion control stops as many", "ib no congestion control", HELD.title, over(8)),
    ], [STOPPED_PORTS, OTHERS], "50us", "6ms"),
    Incident("dcqcn-off", [
        Figure("20 MB from h15 take", took(lambda f: of_12(f) and f[0] == 15), "us"),
        Figure("from the others, median", took(lambda f: of_12(f) and f[0] != 15), "us"),
        Figure("how often h15's share is another's", lambda s: took(lambda f: of_12(f) and f[0] != 15)(s)
               / took(lambda f: of_12(f) and f[0] == 15)(s), "times"),
        Figure("CNPs that nobody acts upon", lambda s: s.value.get("np_cnp_sent", 0) - s.value.get("rp_cnp_handled", 0),
               sign=True, ether=True),
        MARKS,
    ], [
        Must("h15 gets more than three times another's share", "h15 without", "how often h15's share is another's", over(3)),
        Must("the healthy one shares, within half", "healthy", "how often h15's share is another's",
             lambda x: 1 / 1.5 < x < 1.5),
        Must("more packets are marked, twice as many", "h15 without", MARKS.title, over(2), "healthy"),
        Must("it is told, and does not act", "h15 without", "CNPs that nobody acts upon", some),
    ], [Panel("sent by h15, Gb/s", gbps("^h15:")), Panel("sent by h14, Gb/s", gbps("^h14:")), AT_12], "50us", "5ms"),
    Incident("small-alpha", [
        Figure("pauses of leaf3", total("pause_tx", "^leaf3:"), sign=True, ether=True),
        STOPPED,
        Figure("fullest shared buffer", value("max_switch"), "MB", 1e-6, ether=True),
        Figure("marked by leaf3", total("ecn_marked", "^leaf3:"), "packets", ether=True),
    ], [
        Must("leaf3 pauses its senders", "small alpha", "pauses of leaf3", over(20)),
        Must("and marks fewer packets", "small alpha", "marked by leaf3", under(0.9), "healthy"),
    ], [STOPPED_PORTS, AT_12], "50us", "5ms"),
    Incident("short-headroom", [
        LOST,
        Figure("the same, for want of buffer at ports between leaves and spines",
               total("drops_buffer", r"^(leaf\d+:spine|spine)"), "packets", sign=True),
        STOPPED, RESENT,
    ], [
        Must("the lossless class loses packets, with PFC on", "short",
             "the same, for want of buffer at ports between leaves and spines", over(100)),
        Must("the job takes more than twice as long", "short", STEP, over(2), "healthy"),
        Must("InfiniBand loses nothing", "ib short", LOST.title, none),
    ], [Panel("dropped, thousands", grows("drops_buffer")), HOSTS], "20us", "2ms"),
    Incident("mtu", [
        Figure("larger than the port passes", value("drops_mtu"), "packets", sign=True),
        Figure("writes given up", gave_up, sign=True),
        Figure("small writes given up", lambda s: sum(f[4] is None and f[2] == 512 for f in s.flows), sign=True),
        Figure("median of the writes", took(lambda f: f[2] == 64000), "us"),
        RESENT, TIMEOUTS,
    ], [
        Must("full packets are dropped", "small MTU", "larger than the port passes", over(100)),
        Must("writes are given up", "small MTU", "writes given up", over(10)),
        Must("no small one is", "small MTU", "small writes given up", none),
        Must("most never notice", "small MTU", "median of the writes", under(1.1), "healthy"),
        Must("a path MTU of 1024 B cures it", "path MTU 1024", "writes given up", none),
    ], [Panel("dropped, thousands", grows("drops_mtu")), Panel("writes that wait", unfinished)], "2ms", "700ms"),
    Incident("polarised", [
        Figure("links to the core that carry next to nothing",
               lambda s: sum(v < 1e5 for v in s.ports("tx_bytes", r"-agg\d+:core")), sign=True),
        Figure("of", lambda s: len(s.ports("tx_bytes", r"-agg\d+:core")), "links"),
        MARKS,
        Figure("longest queue", value("max_queue"), "MB", 1e-6),
    ], [
        Must("three of four links to the core are idle", "polarised", "links to the core that carry next to nothing",
             lambda x: x == 48),
        Must("the job takes half as long again", "polarised", STEP, over(1.5), "healthy"),
        Must("p99 of the writes: three times", "polarised", P99, over(3), "healthy"),
        Must("another seed in the middle tier: no link is idle", "two seeds", "links to the core that carry next to nothing",
             none),
    ], [Panel("waiting in all queues, MB", waiting("")), HOSTS], "10us", "800us"),
    Incident("slow-link", [
        Figure("carried by the two links, of what leaf0 sends up", lambda s: s.total("tx_bytes", "^leaf0:spine0$")
               / s.total("tx_bytes", "^leaf0:spine"), "%", 100),
        Figure("longest queue for them", lambda s: max(s.ports("max_queue_bytes", "leaf0:spine0$|spine0:leaf0$")), "MB", 1e-6),
        Figure("packets lost", value("drops"), sign=True),
    ], [
        Must("the job takes half as long again", "slow", STEP, over(1.5), "healthy"),
        Must("p99 of the writes: 10 times", "slow", P99, over(10), "healthy"),
        Must("sprayed, too", "sprayed, slow", P99, over(10), "healthy"),
        Must("nothing is lost", "slow", "packets lost", none),
        Must("drained, the job takes less than a quarter more", "drained", STEP, under(1.25), "healthy"),
        Must("InfiniBand's job takes less than a quarter more", "ib slow", STEP, under(1.25), "ib healthy"),
    ], [Panel("waiting for the slow links, MB", waiting("leaf0:spine0$|spine0:leaf0$")), HOSTS], "50us", "6ms"),
    Incident("slow-pcie", [
        Figure("exposed communication, of the step", lambda s: s.value["exposed"] / s.value["step_time"], "%", 100),
        Figure("ports stopped at all", ports_over("stopped_ps", 0), sign=True),
        Figure("packets marked", total("ecn_marked"), sign=True),
        Figure("packets lost", value("drops"), sign=True),
    ], [
        Must("MFU falls below half of the healthy one's", "slow", MFU, under(0.5), "healthy"),
        Must("no port is ever stopped", "slow", "ports stopped at all", none),
        Must("and no packet marked", "slow", "packets marked", none),
        Must("the same on InfiniBand", "ib slow", MFU, under(0.5), "ib healthy"),
    ], [Panel("sent by h9, Gb/s", gbps("^h9:")), Panel("sent by h10, Gb/s", gbps("^h10:"))], "100us", "10ms"),
    Incident("flap", [
        DOWN, RESENT, TIMEOUTS,
    ], [
        Must("packets are lost to links that were down", "flapping", DOWN.title, some),
        Must("the job takes more than twice as long", "flapping", STEP, over(2), "healthy"),
        Must("more than where the links were drained", "flapping", STEP, over(1.2), "drained"),
        Must("so it does on InfiniBand", "ib flapping", STEP, over(2), "ib healthy"),
    ], [HOSTS, Panel("sent by spine0 to leaf0, Gb/s", gbps("^spine0:leaf0$"))], "50us", "8ms"),
    Incident("dead-spine", [
        DOWN,
        Figure("longest queue", value("max_queue"), "MB", 1e-6), TIMEOUTS, MARKS,
    ], [
        Must("what was on its way is lost", "dead spine", DOWN.title, some),
        Must("the job takes a quarter longer at least", "dead spine", STEP, over(1.25), "healthy"),
        Must("so it does on InfiniBand", "ib dead spine", STEP, over(1.25), "ib healthy"),
    ], [HOSTS, Panel("sent by spine1, Gb/s", gbps("^spine1:"))], "50us", "4ms"),
    Incident("one-way-loss", [
        Figure("lost to errors", value("drops_error"), "packets", sign=True),
        Figure("of them in what leaf0 receives from spine0", total("drops_error", "^leaf0:spine0$"), "packets"),
        RESENT,
        Figure("sent again for each", lambda s: s.value["packets_resent"] / max(1, s.value["drops_error"]), ""),
        TIMEOUTS,
    ], [
        Must("packets are lost", "loss", "lost to errors", some),
        Must("all one way", "loss", "of them in what leaf0 receives from spine0", lambda x: x == 1, ALL),
        Must("go-back-N sends more than 5 again for each", "loss", "sent again for each", over(5)),
        Must("the job takes a tenth longer at least", "loss", STEP, over(1.1), "healthy"),
        Must("with selective repeat a quarter", "loss, selective", STEP, over(1.25), "healthy"),
        Must("so it does on InfiniBand", "ib loss", STEP, over(1.25), "ib healthy"),
    ], [HOSTS, Panel("lost, thousands", grows("drops_error"))], "50us", "8ms"),
    Incident("marginal-link", [
        Figure("packets lost", value("drops_error"), "packets", sign=True),
        Figure("of them between leaf0 and spine0", total("drops_error", "^(leaf0:spine0|spine0:leaf0)$"), "packets"),
        Figure("packets in codewords that FEC could not mend", total("fec_uncorrected"), sign=True),
        Figure("sent again by the links", total("link_retries"), "packets"),
        RESENT, TIMEOUTS,
    ], [
        Must("packets are lost", "marginal", "packets lost", over(10)),
        Must("all between leaf0 and spine0", "marginal", "of them between leaf0 and spine0", lambda x: x == 1, ALL),
        Must("the job takes more than twice as long", "marginal", STEP, over(2), "healthy"),
        Must("with links that send again nothing is lost", "marginal, retry", "packets lost", none),
        Must("and the job takes less than half of that", "marginal, retry", STEP, under(0.5), "marginal"),
        Must("the same on InfiniBand", "ib marginal", STEP, over(2), "ib healthy"),
        Must("which links that send again cure", "ib marginal, retry", STEP, under(1.1), "ib healthy"),
    ], [HOSTS, Panel("lost, thousands", grows("drops_error"))], "50us", "8ms"),
    Incident("late-leaf", [
        Figure("passed 63 switches", value("drops_hops"), "packets", sign=True),
        Figure("went up again at leaf2", total("tx_packets", "^leaf2:spine", 3), "packets", sign=True, ether=True),
        DOWN, TIMEOUTS,
    ], [
        Must("packets circle to their hop limit", "late", "passed 63 switches", some),
        Must("and take a valley", "late", "went up again at leaf2", some),
        Must("the job takes half as long again", "late", STEP, over(1.5), "healthy"),
        Must("p99 of the writes: 10 times", "late", P99, over(10), "healthy"),
        Must("in time, nothing circles", "in time", "passed 63 switches", none),
    ], [Panel("received by h0 to h3, Gb/s", gbps("^leaf0:h")), Panel("sent by spine0 to leaf1, Gb/s", gbps("^spine0:leaf1$"))],
        "50us", "6ms", lambda f: f[2] == 20000),
    Incident("deadlock", [
        Figure("writes that never ended", gave_up, sign=True),
        Figure("packets stuck in the fabric", value("packets_inside"), sign=True),
        HELD,
        Figure("queues that wait for one another in a circle", lambda s: len(s.deadlocks), sign=True),
        Figure("of them between leaf1 and spine0",
               lambda s: sum(d[0] in ("leaf1:spine0", "spine0:leaf1") for d in s.deadlocks), sign=True),
        Figure("the circle is complete at", lambda s: s.deadlocks[0][1] / US if s.deadlocks and gave_up(s) else None, "us"),
        LOST,
        Figure("dropped by the watchdog", value("drops_watchdog"), "packets", ether=True),
    ], [
        Must("writes never end", "late", "writes that never ended", some),
        Must("packets are stuck", "late", "packets stuck in the fabric", over(100)),
        Must("in queues that wait for one another in a circle", "late", "queues that wait for one another in a circle", over(1)),
        Must("which are those between leaf1 and spine0", "late", "of them between leaf1 and spine0", lambda x: x == 2),
        Must("the lossless class lost nothing", "late", LOST.title, none),
        Must("the watchdog breaks it", "late, watchdog", "writes that never ended", none),
        Must("without the late switch there is none", "in time", "writes that never ended", none),
        Must("InfiniBand has none here", "ib late", "writes that never ended", none),
    ], [STOPPED_PORTS, HOSTS], "50us", "6ms", lambda f: True),
    Incident("slow-receiver", [
        HELD,
        Figure("the same but h15's", ports_over("stopped_ps", MS, "^(?!leaf3:h15$)"), sign=True),
        STOPPED,
        Figure("pauses sent by h15", total("pause_tx", "^h15:"), sign=True, ether=True),
        Figure("watchdog acted", value("watchdog_acted"), "times", sign=True, ether=True),
        Figure("lost", value("drops"), "packets", sign=True),
        Figure("of them at h15", total("drops_buffer", "^h15:"), "packets", sign=True),
    ], [
        Must("the slow receiver stops more than 20 ports for over 1 ms", "slow receiver", HELD.title, over(20)),
        Must("it pauses its leaf", "slow receiver", "pauses sent by h15", over(100)),
        Must("nothing is lost", "slow receiver", "lost", none),
        Must("p99 of writes that have nothing to do with h15: 50 times the healthy", "slow receiver", P99, over(50), "healthy"),
        Must("the job takes half as long again", "slow receiver", STEP, over(1.5), "healthy"),
        Must("a watchdog does not act, for it moves", "slow, watchdog", "watchdog acted", none),
        Must("an adapter that drops stops nobody", "slow, drops", HELD.title, none),
        Must("and the writes of others are as if nothing had been", "slow, drops", P99, under(1.2), "healthy"),
        Must("InfiniBand stops as many", "ib slow receiver", HELD.title, over(20)),
    ], [STOPPED_PORTS, OTHERS], "50us", "6ms", lambda f: 15 not in f[:2]),
    Incident("tcp-backup", [
        Figure("ports stopped for over 1 ms", ports_over("stopped_ps", MS), sign=True, ether=True),
        LOST, STOPPED,
        Figure("longest queue", value("max_queue"), "MB", 1e-6),
        Figure("20 MB of backup take, median", took(lambda f: f[2] == 20000000), "us"),
    ], [
        Must("more than 5 ports are stopped for over 1 ms", "DSCP 26", "ports stopped for over 1 ms", over(5)),
        Must("the lossless class loses packets", "DSCP 26", LOST.title, over(100)),
        Must("the job takes a quarter longer at least", "DSCP 26", STEP, over(1.25), "healthy"),
        Must("p99 of the RDMA writes: five times", "DSCP 26", P99, over(5), "healthy"),
        Must("with DCTCP no port is stopped", "DSCP 26, DCTCP", "ports stopped for over 1 ms", none),
        Must("and nothing is lost", "DSCP 26, DCTCP", LOST.title, none),
        Must("InfiniBand loses nothing on one lane", "ib same lane", LOST.title, none),
    ], [STOPPED_PORTS, OTHERS], "100us", "15ms"),
    Incident("checkpoint-burst", [
        Figure("ports whose class 3 was stopped for over 50 us", ports_over("stopped_ps", 50 * US, "", 3), sign=True, ether=True),
        Figure("whose class 4 was", ports_over("stopped_ps", 50 * US, "", 4), ether=True),
        Figure("the slowest step", lambda s: max(s.steps) / US, "us"),
        Figure("the checkpoint takes", value("storage.0.time"), "us", 1 / US),
    ], [
        Must("the job's class is stopped at more than 10 ports", "same class",
             "ports whose class 3 was stopped for over 50 us", over(10)),
        Must("the slowest step takes half as long again", "same class", "the slowest step", over(1.5), "healthy"),
        Must("p99 of the others' writes: five times", "same class", P99, over(5), "healthy"),
        Must("which does not help the checkpoint", "same class", "the checkpoint takes", over(0.9), "healthy"),
        Must("on one lane InfiniBand's slowest step takes a quarter longer", "ib same lane", "the slowest step", over(1.25),
             "ib healthy"),
    ], [Panel("ports whose class 3 is stopped (InfiniBand: any)", held("", 3)), OTHERS], "20us", "3ms"),
    Incident("dead-leaf", [
        Figure("jobs that end", value("job_finished")),
        Figure("the slowest collective", lambda s: None if None in s.steps else max(s.steps) / US, "us"),
        Figure("the last collective", lambda s: s.steps[-1] and s.steps[-1] / US, "us"),
        DOWN, TIMEOUTS,
        Figure("requests out of retries", lambda s: s.value["req_cqe_error"] - s.value["req_cqe_flush_error"], sign=True),
        Figure("writes given up", gave_up, sign=True),
    ], [
        Must("the job stands still while the leaf is away", "one port", "the slowest collective", over(4500)),
        Must("and goes on when it is back", "one port", "jobs that end", lambda x: x == 1),
        Must("p99 of the writes: 20 times", "one port", P99, over(20), "healthy"),
        Must("when it does not come back, retries are used up", "one port, for good", "requests out of retries", over(100)),
        Must("and the job never ends", "one port, for good", "jobs that end", none),
        Must("with two ports nobody runs out of retries", "two ports, for good", "requests out of retries", none),
        Must("and the job ends", "two ports, for good", "jobs that end", lambda x: x == 1),
        Must("its slowest collective takes half as long as with one port", "two ports", "the slowest collective", under(0.5),
             "one port"),
        Must("with half of four hosts' lines gone, a collective takes twice as long", "two ports, for good",
             "the last collective", lambda x: 1.7 < x < 2.3, "healthy"),
        Must("and when the leaf is back as long as before", "two ports", "the last collective", under(1.25), "healthy"),
        Must("InfiniBand's job stands still as long", "ib one port", "the slowest collective", over(4500)),
    ], [HOSTS, Panel("sent by h0 to h3, Gb/s", gbps(r"^h[0-3]:"))], "50us", "10ms", more="dead-leaf-two-ports"),
]

# name: what makes it. The seed of a sample is that of its place here.
BLOCKS = {"incident-" + x.name: (measured(x, 1 + i % SEEDS), "normal") for i, x in enumerate(INCIDENTS)}
