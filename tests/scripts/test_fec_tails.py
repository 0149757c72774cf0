# SPDX-License-Identifier: Apache-2.0
"""tests/data/fec/tails.txt is what exact fractions say (tails.py)."""
import os
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "fec")


class Tails(unittest.TestCase):
    def test_as_computed(self):
        made = subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "tails.py")], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        with open(os.path.join(FOLDER, "tails.txt"), encoding="utf-8") as file:
            self.assertEqual(made, file.read())


if __name__ == "__main__":
    unittest.main()
