# SPDX-License-Identifier: Apache-2.0
"""What scripts/claims.py reads off a results file for docs/incidents.md, and the pictures it draws: by hand."""
import os
import sqlite3
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
from claimlib.incident import Figure, Incident, Must, found, gbps, healthy, held, index, joined, none, over, step_us  # noqa: E402
from claimlib.picture import Panel, drawing, nice  # noqa: E402
from claimlib.seen import all_seen  # noqa: E402

US = 10**6

# Of docs/results.md, what is read. Two hosts on a switch; the second link is there twice.
FILE = """
CREATE TABLE run (id, label, end_ps); INSERT INTO run VALUES (1, 'ill', 40000000);
CREATE TABLE value (run, name, value); INSERT INTO value VALUES (1, 'drops', 3), (1, 'pause_tx', NULL);
CREATE TABLE event (run, t_ps, kind, node, port, dur_ps);
INSERT INTO event VALUES (1, 30000000, 'deadlock', 2, 0, 7), (1, 20000000, 'drop', 2, 0, NULL);
CREATE TABLE node (run, id, name, host); INSERT INTO node VALUES (1, 0, 'h0', 0), (1, 1, 'h1', 1), (1, 2, 'leaf0', NULL);
CREATE TABLE port (run, node, port, peer);
INSERT INTO port VALUES (1, 0, 0, 2), (1, 1, 0, 2), (1, 1, 1, 2), (1, 2, 0, 0), (1, 2, 1, 1), (1, 2, 2, 1);
CREATE TABLE tick (run, t_ps); INSERT INTO tick VALUES (1, 10000000), (1, 20000000), (1, 30000000), (1, 40000000);
CREATE TABLE counter (id, measure, queue, factor);
INSERT INTO counter VALUES (1, 'tx_bytes', 3, 4.0), (2, 'stopped_ps', 3, 1.0), (3, 'tx_bytes', 0, 4.0);
CREATE TABLE sample (run, t_ps, node, port, counter, value);
INSERT INTO sample VALUES (1, 10000000, 2, 1, 1, 250), (1, 30000000, 2, 1, 1, 750), (1, 20000000, 2, 2, 1, 100),
    (1, 20000000, 2, 1, 3, 5), (1, 20000000, 2, 1, 2, 9000000), (1, 30000000, 2, 1, 2, 12000000);
CREATE VIEW total AS SELECT run, node, port, counter, value, max(t_ps) FROM sample GROUP BY run, node, port, counter;
CREATE TABLE flow (run, id, src, dst, bytes, start_ps, end_ps);
INSERT INTO flow VALUES (1, 0, 0, 1, 64000, 0, 7000000), (1, 1, 1, 0, 64000, 10000000, NULL), (1, 2, 0, 1, 5, 0, 1000000);
CREATE TABLE collective (run, id, took_ps); INSERT INTO collective VALUES (1, 0, 5000000);
"""


class Reads(unittest.TestCase):
    def setUp(self):
        self.db = sqlite3.connect(":memory:")
        self.db.executescript(FILE)
        self.seen = all_seen(self.db)["ill"]

    def tearDown(self):
        self.db.close()

    def test_totals_are_of_ports_and_queues(self):
        self.assertEqual(self.seen.ports("tx_bytes", "^leaf0:h1$"), [3020, 400])
        self.assertEqual(self.seen.total("tx_bytes", "^leaf0:", 3), 3400)
        self.assertEqual(self.seen.total("tx_bytes", "^leaf0:h0$"), 0)
        self.assertEqual((self.seen.value["drops"], self.seen.value["pause_tx"]), (3, 0))
        self.assertEqual(self.seen.deadlocks, [("leaf0:h0", 30 * US, 7)])

    def test_a_flow_that_never_ended_has_taken_all_the_time(self):
        self.assertEqual(self.seen.took(lambda f: f[2] == 64000), [7, 30])

    def test_a_job_that_never_ends_has_no_step(self):
        self.assertEqual(step_us(self.seen), 5)
        self.db.execute("INSERT INTO collective VALUES (1, 1, 9000000)")
        self.assertEqual(step_us(all_seen(self.db)["ill"]), 7)
        self.db.execute("INSERT INTO collective VALUES (1, 2, NULL)")
        self.assertIsNone(step_us(all_seen(self.db)["ill"]))

    def test_a_counter_stays_what_it_was(self):
        self.assertEqual(sorted(self.seen.curves("tx_bytes", "^leaf0:h1$", 3)), [[0, 400, 400, 400], [1000, 1000, 3000, 3000]])

    def test_curves(self):
        # From 20 to 30 us 2000 bytes: 1.6 Gb/s; 400 from 10 to 20 us.
        self.assertEqual([round(v, 3) for v in gbps("^leaf0:h1$", 3)(self.seen)], [0, 0.32, 1.6, 0])
        # 9 of the 10 us before the second tick, 3 of those before the third.
        self.assertEqual(held()(self.seen), [0, 1, 0, 0])
        self.assertEqual(held("", 3)(self.seen), [0, 1, 0, 0])
        self.assertEqual(held("", 0)(self.seen), [0, 0, 0, 0])
        self.assertEqual((self.seen.by_queue("stopped_ps"), self.seen.by_queue("drops")), (True, False))


class Signature(unittest.TestCase):
    lost = Figure("lost", None, "packets", sign=True)
    here = Figure("here", None, "packets")
    row = Incident("x", [lost, here], [], [], "1us", "1ms")

    def seeds(self, *pairs):
        """Seen on each seed: what the healthy one lost, and the ill one."""
        return [{"healthy": ({"lost": a, "here": 1},), "ill": ({"lost": b, "here": b},)} for a, b in pairs]

    def test_by_itself_and_over_another(self):
        self.assertEqual(found(Must("", "ill", "lost", over(5)), self.seeds((0, 6), (0, 5)), self.row),
                         ("5 (5 to 6) packets", [True, False]))
        self.assertEqual(found(Must("", "ill", "here", over(5), "healthy"), self.seeds((0, 6), (0, 5)), self.row)[1], [True, False])
        self.assertEqual(found(Must("", "ill", "lost", none), self.seeds((0, 0)), self.row)[1], [True])
        self.assertEqual(found(Must("", "ill", "lost", over(5)), self.seeds((0, None)), self.row), ("-", [False]))
        self.assertEqual(found(Must("", "ill", "lost", over(5), "healthy"), self.seeds((1, None)), self.row), ("-", [False]))

    def test_a_healthy_twin_with_a_sign_is_told(self):
        self.assertEqual(healthy(self.row, ["healthy", "ill"], self.seeds((0, 6), (0, 5)))[2], [True, True])
        self.assertEqual(healthy(self.row, ["healthy", "ill"], self.seeds((0, 6), (1, 5)))[2], [True, False])

    def test_what_is_in_a_second_scenario_comes_before_infiniband(self):
        both = joined({"healthy": 1, "ill": 2, "ib healthy": 3}, {"two ports": 4})
        self.assertEqual(list(both.items()), [("healthy", 1), ("ill", 2), ("two ports", 4), ("ib healthy", 3)])

    def test_the_index_is_of_the_page(self):
        page = ("# X\n\n## A storm, once\n\nSignature: ports\nstop.\n\n| cost, of | step | p99 |\n|---|---|---|\n| ill | 2 times | 3 times |\n"
                "| ib ill | 4 times | - |\n\n**Reproduced.**\n\n## No incident\n\nText.\n")
        self.assertEqual(index(page).split("\n")[2:],
                         ["| [A storm, once](#a-storm-once) | ports stop | 2 times | 3 times | 4 times | - | Reproduced |", ""])


class Pictures(unittest.TestCase):
    def test_scale(self):
        self.assertEqual([nice(x) for x in (0, 0.7, 1, 11, 23, 32, 100, 4500)], [1, 0.8, 1, 15, 30, 40, 100, 5000])

    def test_steps(self):
        svg = drawing([Panel("what", None)], {"a": ([[0, 2, 4]], [0, 5 * US, 10 * US]), "b": ([[4, 4, 9]], [0, 5 * US, 20 * US])}, "10us")
        xml.dom.minidom.parseString(svg)
        # 230 wide and 84 high from (62, 40): half of the time is 115 more, half of 4 is 42 up. What is after 10 us is cut off.
        self.assertIn('<path class="l" d="M62.0 124.0H62.0V82.0H177.0V40.0H292.0"/>', svg)
        self.assertIn('<path class="l i" d="M306.0 40.0H306.0V40.0H421.0"/>', svg)
        self.assertIn(">10 us</text>", svg)


if __name__ == "__main__":
    unittest.main()
