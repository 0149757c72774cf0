# SPDX-License-Identifier: Apache-2.0
"""A small source tree in a temporary folder, in which the tests plant what the checks must find."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
LICENCE = "SPDX-License-Identifier: Apache-2.0"
HEAD = f"/* {LICENCE} */\n/* x.c - a file of a test. */\n"


class TreeCase(unittest.TestCase):
    """Gives each test a folder of its own with the real scripts in it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        (self.root / "scripts").mkdir()
        for script in SCRIPTS.glob("*.py"):
            shutil.copy(script, self.root / "scripts")
        for name in ("layers.txt", "check_headers", "check_posix", "need", "setup"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")

    def plant(self, name, text, head=HEAD):
        """Writes a file; its text starts on line 3."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + text)
        return path

    def check(self, script, *args, env=None):
        """Runs a script of the tree: (exit status, the lines it printed)."""
        command = [str(self.root / "scripts" / script), *args]
        if script.endswith(".py"):
            command = [sys.executable, "-B", *command]
        done = subprocess.run(command, cwd=self.root, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.splitlines()

    def assert_clean(self, script, *args):
        self.assertEqual(self.check(script, *args), (0, []))

    def assert_finds(self, script, place, *parts):
        """The script fails with exactly one line, which starts with place and has the parts."""
        status, lines = self.check(script)
        self.assertEqual(status, 1, lines)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(place + ": "), lines)
        for part in parts:
            self.assertIn(part, lines[0])
