# SPDX-License-Identifier: Apache-2.0
"""What is read of a run's results file (docs/results.md): totals of ports, flows, collectives, and how things went over time."""

import re


class Seen:
    """One run of an open file. Ports are named node:peer, leaf0:h5 or leaf0:spine1."""

    def __init__(self, db, run, end):
        self.db, self.run, self.end = db, run, end
        self.value = {n: v or 0 for n, v in db.execute("SELECT name, value FROM value WHERE run = ?", (run,))}
        names = dict(db.execute("SELECT id, name FROM node WHERE run = ?", (run,)))
        self.names = {(n, p): "%s:%s" % (names[n], names[q]) for n, p, q in
                      db.execute("SELECT node, port, peer FROM port WHERE run = ?", (run,))}
        self.ticks = [t for t, in db.execute("SELECT t_ps FROM tick WHERE run = ? ORDER BY t_ps", (run,))]
        # (node, port), measure, queue, value
        self.totals = [((n, p), m, q, v * f) for n, p, m, q, f, v in db.execute(
            "SELECT t.node, t.port, c.measure, c.queue, c.factor, t.value FROM total t JOIN counter c ON c.id = t.counter"
            " WHERE t.run = ?", (run,))]
        # (from host, to host, bytes, start, end), ps
        self.flows = db.execute("SELECT s.host, d.host, f.bytes, f.start_ps, f.end_ps FROM flow f"
                                " JOIN node s ON s.run = f.run AND s.id = f.src JOIN node d ON d.run = f.run AND d.id = f.dst"
                                " WHERE f.run = ? ORDER BY f.id", (run,)).fetchall()
        # (port, when it was complete, for how long it was there), of each queue of a deadlock
        self.deadlocks = [(self.names[n, p], t, d) for n, p, t, d in db.execute(
            "SELECT node, port, t_ps, dur_ps FROM event WHERE run = ? AND kind = 'deadlock' ORDER BY t_ps, node, port", (run,))]
        self.steps = [t for t, in db.execute("SELECT took_ps FROM collective WHERE run = ? ORDER BY id", (run,))]

    def ports(self, measure, at="", queue=None):
        """What each port whose name a pattern fits has in the end: a list."""
        got = {port: 0 for port, name in self.names.items() if re.search(at, name)}
        for port, m, q, v in self.totals:
            if m == measure and port in got and queue in (None, q):
                got[port] += v
        return list(got.values())

    def total(self, measure, at="", queue=None):
        return sum(self.ports(measure, at, queue))

    def by_queue(self, measure):
        """Whether ports count that for each queue."""
        return any(m == measure and q is not None for _, m, q, _ in self.totals)

    def took(self, test=lambda flow: True):
        """What flows took, us, the shortest first; of one that did not end, all the time that there was."""
        return sorted(((f[4] or self.end) - f[3]) / 1e6 for f in self.flows if test(f))

    def curves(self, measure, at="", queue=None):
        """What each port and queue has at every tick: a list of lists."""
        found, ticks = {}, {t: i for i, t in enumerate(self.ticks)}
        for node, port, t, counter, q, value in self.db.execute(
                "SELECT s.node, s.port, s.t_ps, s.counter, c.queue, s.value * c.factor FROM sample s JOIN counter c ON c.id ="
                " s.counter WHERE s.run = ? AND c.measure = ? ORDER BY s.t_ps", (self.run, measure)):
            if re.search(at, self.names[node, port]) and queue in (None, q) and t in ticks:
                found.setdefault((node, port, counter), []).append((ticks[t], value))
        got = []
        for points in found.values():
            line = [0] * len(self.ticks)
            for (i, value), (until, _) in zip(points, points[1:] + [(len(line), 0)]):
                line[i:until] = [value] * (until - i)
            got.append(line)
        return got


def all_seen(db):
    """{fabric: what was seen}, in the order of the scenario"""
    return {label: Seen(db, run, end) for run, label, end in db.execute("SELECT id, label, end_ps FROM run ORDER BY id").fetchall()}
