# SPDX-License-Identifier: Apache-2.0
"""The rule by which scripts/claims.py calls a claim true: on every seed, or it says on how many."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
from claims import within  # noqa: E402
from claimlib.measure import Block, Weft, all_of, counts, figure, percent, ratio, span, word  # noqa: E402


class Rule(unittest.TestCase):
    def test_every_seed_is_yes(self):
        self.assertEqual(word([True] * 5), "yes")
        self.assertEqual(word(True), "yes")

    def test_no_seed_is_no(self):
        self.assertEqual(word([False] * 5), "no")
        self.assertEqual(word(False), "no")

    def test_three_of_five_is_neither(self):
        self.assertEqual(word([True, False, True, False, True]), "on 3 of 5 seeds")
        self.assertEqual(word([False, True]), "on 1 of 2 seeds")

    def test_the_median_does_not_decide(self):
        """Most seeds are below the bound, and the median is; one is not."""
        below = all_of([0.28, 0.29, 0.27, 0.26, 0.405], lambda x: x < 0.30)
        self.assertEqual(word(below), "on 4 of 5 seeds")

    def verdict(self, *held):
        b = Block()
        b.statements([("said", "found", h) for h in held])
        return b.verdict(), b.text()

    def test_verdicts(self):
        self.assertEqual(self.verdict(True, [True, True])[0], "Holds")
        self.assertEqual(self.verdict(False, [False, False])[0], "Does not hold")
        self.assertEqual(self.verdict(True, False)[0], "Holds in part")

    def test_a_claim_that_holds_on_some_seeds_does_not_hold(self):
        verdict, text = self.verdict([True, True, True, False, False])
        self.assertEqual(verdict, "Holds in part")
        self.assertIn("| said | found | on 3 of 5 seeds |", text)
        self.assertIn("**Holds in part.**", text)
        self.assertEqual(self.verdict(True, True, [True, True, False])[0], "Holds in part")
        self.assertEqual(self.verdict(False, False, [True, False, False])[0], "Holds in part")


class Figures(unittest.TestCase):
    def test_spread_is_shown_where_it_shows(self):
        self.assertEqual(span([3, 1, 2, 9, 4], "us"), "3.00 (1.00 to 9.00) us")
        self.assertEqual(span([1.001, 1.002, 1.0], "us"), "1.00 us")
        self.assertEqual(percent([0.28, 0.405, 0.3]), "30.0 (28.0 to 40.5) %")
        self.assertEqual(percent(0.5), "50.0 %")

    def test_figure(self):
        self.assertEqual([figure(x) for x in (0, 0.012345, 1.2345, 1234.5)], ["0", "0.0123", "1.23", "1234"])

    def test_seed_by_seed(self):
        self.assertEqual(ratio([2, 9], [1, 3]), [2, 3])

    def test_seeds_in_order_on_any_number_of_jobs(self):
        for jobs in (1, 4):
            weft = Weft("/bin/false", seeds=7, jobs=jobs)
            self.assertEqual(weft.each(weft.seeds, lambda s: s * s), [s * s for s in range(1, 8)])


class Sample(unittest.TestCase):
    """What one seed gives, beside what the page has for all."""

    def test_figures(self):
        self.assertTrue(within("| a | 3.06 (2.54 to 3.82) GB/s |", "| a | 2.53 GB/s |"))
        self.assertFalse(within("| a | 3.06 (2.54 to 3.82) GB/s |", "| a | 2.51 GB/s |"))
        self.assertFalse(within("| a | 3.06 (2.54 to 3.82) GB/s |", "| a | 3.87 GB/s |"))
        self.assertFalse(within("| a | 3.06 (2.54 to 3.82) GB/s |", "| a | 3.06 us |"))
        self.assertTrue(within("| 62.1 to 69.5 % |", "| 63.7 to 69.4 % |"))
        self.assertFalse(within("| 62.1 to 69.5 % |", "| 61 to 69.4 % |"))
        self.assertTrue(within("| 0 (-0.5 to 0.5) |", "| -0.1 |"))
        self.assertFalse(within("| 48.9 GB/s |", "| 48.1 GB/s |"))

    def test_words(self):
        for now in ("yes", "no"):
            self.assertTrue(within("| said | found | on 3 of 5 seeds |", "| said | found | %s |" % now))
        self.assertTrue(within("| said | found | yes |", "| said | found | yes |"))
        self.assertFalse(within("| said | found | yes |", "| said | found | no |"))
        self.assertTrue(within("**Holds in part.**", "**Holds.**"))
        self.assertFalse(within("**Holds in part.**", "(nothing)"))

    def test_counts(self):
        self.assertEqual(counts([14, 22, 18], "timeouts"), "18 (14 to 22) timeouts")
        self.assertEqual(counts([0, 0], "timeouts"), "0 timeouts")


if __name__ == "__main__":
    unittest.main()
