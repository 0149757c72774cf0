# SPDX-License-Identifier: Apache-2.0
"""A new counter is a row and the place where it counts: patches of two files each are shown everywhere."""
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATCHES = ROOT / "tests" / "data" / "adding"
TREE = ("CMakeLists.txt", "cmake", "src", "include", "profiles", "scripts", "web")
SCENARIO = """name: adding
seed: 1
topology: {kind: single, hosts: 4}
fabric: [roce-400g, ib-ndr]
traffic:
  - {kind: incast, fanin: 3, op: write, size: 100KB}
run: {until: 10ms}
"""
CLUSTER = "topology: {kind: single, hosts: 2}\nfabric: {profile: roce-400g}\n"


def touched(patch):
    return [line[6:] for line in patch.read_text().splitlines() if line.startswith("+++ b/")]


def update(source, target):
    """Copies what differs, so that what was built of the rest is still good."""
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
        elif not copy.exists() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    for path in [p for p in target.rglob("*") if not p.is_dir()]:
        if not (source / path.relative_to(target)).exists():
            path.unlink()


def build(folder):
    """The program, from a copy of the tree with the patches, without the optimiser and sanitizers."""
    with tempfile.TemporaryDirectory() as fresh:
        fresh = pathlib.Path(fresh)
        for name in TREE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, fresh / name)
        for patch in sorted(PATCHES.glob("*.patch")):
            # Not as a part of the repository around it.
            subprocess.run(["git", "apply", "-p1", str(patch)], cwd=fresh, check=True,
                           env={**os.environ, "GIT_CEILING_DIRECTORIES": str(fresh.parent)})
        update(fresh, folder / "tree")
    # The packages of the report's page, where they have been fetched.
    packages = folder / "tree" / "build" / "npm"
    packages.parent.mkdir(exist_ok=True)
    if not packages.exists():
        packages.symlink_to(ROOT / "build" / "npm")
    out = folder / "out"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASAN", "UBSAN"))}
    for command in (["cmake", "-G", "Ninja", "-S", str(folder / "tree"), "-B", str(out), "-DWEFT_TESTS=OFF",
                     "-DCMAKE_BUILD_TYPE=", "-DCMAKE_C_FLAGS=-O0"],
                    ["cmake", "--build", str(out), "--target", "weft"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
    return out / "weft"


class AddingCounter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # In a build's folder what was built before is used again.
        here = pathlib.Path.cwd()
        cls.temporary = tempfile.TemporaryDirectory(prefix="weft")
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = here / "adding" if (here / "build.ninja").exists() else pathlib.Path(cls.temporary.name) / "adding"
        folder.mkdir(exist_ok=True)
        cls.weft = build(folder)
        cls.work = pathlib.Path(cls.temporary.name)
        (cls.work / "s.yaml").write_text(SCENARIO)
        (cls.work / "cluster.yaml").write_text(CLUSTER)

    def run_weft(self, *args):
        environment = {**os.environ, "WEFT_RUNTIME_DIR": str(self.work / "run")}
        done = subprocess.run([str(self.weft), *args], cwd=self.work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_two_files_each(self):
        for patch in PATCHES.glob("*.patch"):
            self.assertEqual(len(touched(patch)), 2, patch)

    def follows_schema(self, text):
        """Returns the document; what it counts more is no breach of its schema."""
        (self.work / "document.json").write_text(text)
        done = subprocess.run(["/usr/bin/python3", "-B", str(ROOT / "tests" / "json_schema.py"), "valid",
                               str(self.work / "document.json")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(text)

    def test_run(self):
        for run in self.follows_schema(self.run_weft("run", "s.yaml", "--json", "--ports", "-q"))["runs"]:
            self.assertGreater(run["total"]["waited"], 0)
            self.assertEqual(sum(c["waited"] for c in run["classes"]), run["total"]["waited"])
            self.assertEqual(sum(p["waited"] for p in run["ports"]), run["total"]["waited"])
        table = self.run_weft("run", "s.yaml", "--ports", "-q")
        self.assertRegex(table, r"\npackets that waited +[1-9][0-9]* +[1-9][0-9]*\n")

    def test_results(self):
        self.run_weft("run", "s.yaml", "-q", "--record", "r.db")
        db = sqlite3.connect(self.work / "r.db")
        for name, source, text in (("tx_waited_tc_3", "ethtool", "packets that did not go on at once"),
                                   ("vl3_waited", "infiniband", "packets that did not go on at once"),
                                   ("hca_rx_payloads", "weft", "packets that came with payload")):
            self.assertEqual(db.execute("SELECT source, help FROM counter WHERE name = ?", (name,)).fetchall(),
                             [(source, text)])
        for run, waited in db.execute("SELECT run, value FROM value WHERE name = 'waited'").fetchall():
            self.assertGreater(waited, 0)
            self.assertEqual(db.execute("SELECT sum(t.value) FROM total t JOIN counter c ON c.id = t.counter "
                                        "WHERE t.run = ? AND c.measure = 'waited'", (run,)).fetchone()[0], waited)
        self.assertGreater(db.execute("SELECT count(*) FROM reading WHERE measure = 'waited'").fetchone()[0], 2)
        text = self.run_weft("export", "r.db", "--to", "prometheus")
        for line in ("# TYPE node_ethtool_transmitted_waited_tc_3 untyped", "# TYPE weft_vl3_waited_total counter",
                     "# TYPE weft_hca_rx_payloads_total counter"):
            self.assertTrue(f"\n{line}\n" in text, line)

    def test_live(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % s.getsockname()[1]
        self.run_weft("up", "cluster.yaml", "--metrics", address)
        try:
            status = self.follows_schema(self.run_weft("status", "--json"))
            with urllib.request.urlopen(f"http://{address}/metrics") as answer:
                metrics = answer.read().decode()
        finally:
            self.run_weft("down")
        self.assertEqual({p["waited"] for p in status["model"]["ports"]}, {0})
        self.assertEqual({h["total"]["rx_payloads"] for h in status["hosts"]}, {0})
        for line in ("# HELP weft_switch_port_waited_packets_total packets that did not go on at once",
                     'weft_received_payloads_total{host="h1",device="weft0",port="1"} 0'):
            self.assertTrue(f"\n{line}\n" in metrics, line)


if __name__ == "__main__":
    unittest.main()
