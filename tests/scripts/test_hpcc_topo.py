# SPDX-License-Identifier: Apache-2.0
"""Fat trees for the HPCC simulator: the file in tests/data, and the numbers of any other."""
import collections
import subprocess
import sys
import unittest

from tree import ROOT, SCRIPTS

sys.path.insert(0, str(SCRIPTS))
import hpcc_topo  # noqa: E402


class HpccTopo(unittest.TestCase):
    def test_the_file_is_what_the_script_prints(self):
        kept = (ROOT / "tests/data/hpcc/topo_fat320.txt").read_text()
        self.assertEqual(kept, hpcc_topo.text(5, 4, 4, 16, 16))

    def test_every_switch_has_the_links_that_it_should(self):
        pods, leaves, spines, cores, hosts = 3, 2, 4, 8, 5
        nodes, switches, links = hpcc_topo.fat_tree(pods, leaves, spines, cores, hosts)
        ends = [tuple(map(int, line.split()[:2])) for line in links]
        degree = collections.Counter(end for pair in ends for end in pair)
        self.assertEqual(nodes, pods * (leaves * (1 + hosts) + spines) + cores)
        self.assertEqual(sorted(degree), list(range(nodes)))
        self.assertEqual(len(set(ends)), len(ends))
        self.assertEqual(collections.Counter(degree[s] for s in switches), collections.Counter(
            [hosts + spines] * pods * leaves + [leaves + cores // spines] * pods * spines
            + [pods] * cores))
        self.assertEqual({degree[n] for n in set(range(nodes)) - set(switches)}, {1})

    def test_cores_that_cannot_be_divided(self):
        run = subprocess.run([SCRIPTS / "hpcc_topo.py", "--cores", "6"], capture_output=True,
                             check=False, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--cores", run.stderr)


if __name__ == "__main__":
    unittest.main()
