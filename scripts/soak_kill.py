#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak_kill.py WEFT TRAFFIC FABRIC ROUNDS [SEED] - kill -9 at any time, on a live fabric.

Each round starts a server on h1 and a client on h2 that go on for ever, and kills one of them or the
daemon up to 1.2 seconds after the client's start: before they connect, while they do, or under load. Who survives must end by
itself, with an error and not by a signal. It may wait for a client that never came, and nothing
else. Then the fabric carries checked traffic again, after a daemon's death a new one. In the end nothing is left of
any of it. WEFT is the program, TRAFFIC is tests/live/traffic.c compiled. Prints a line for each kind of
program; status 1 when something went wrong, which is told as it happens.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PATIENCE = 180  # seconds for what must end; the retries of rdma_cm take 80, and machines are busy
PERFTEST = "-F -s 65536 --run_infinitely -D 1".split()
KINDS = {
	"ib_write_bw": ["ib_write_bw", *PERFTEST],
	"ib_write_bw -b": ["ib_write_bw", *PERFTEST, "-b"],
	# It refuses to wait for events for ever.
	"ib_read_bw -e": "ib_read_bw -F -s 65536 -n 10000000 -e".split(),
	"rping": ["rping", "-V", "-C", "100000000"],
	"traffic": ["traffic"],
}


class Soak:
	def __init__(self, weft, traffic, fabric, seed):
		self.weft, self.traffic, self.fabric = weft, traffic, fabric
		self.random = random.Random(seed)
		self.top = tempfile.mkdtemp(prefix="weft.", dir="/tmp")
		self.env = dict(os.environ, WEFT_RUNTIME_DIR=self.top + "/run")
		self.wrong = 0
		self.port = 0
		self.ran = []
		self.daemon = None

	def tell(self, words):
		self.wrong += 1
		print(f"soak: {self.fabric}: {words}", flush=True)

	def run(self, *args):
		"""weft with these arguments; what it printed, or None."""
		done = subprocess.run([self.weft, *args], env=self.env, capture_output=True, text=True, timeout=PATIENCE)
		return done.stdout if done.returncode == 0 else None

	def wait_for(self, what, condition, patience=PATIENCE):
		end = time.monotonic() + patience
		while not condition():
			if time.monotonic() > end:
				self.tell(f"in vain: {what}")
				return False
			time.sleep(0.02)
		return True

	def up(self):
		self.daemon = subprocess.Popen([self.weft, "up", "--foreground", "--fabric", self.fabric], env=self.env,
			stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
		return self.wait_for("a daemon that answers", lambda: self.run("status") is not None)

	def down(self):
		if self.run("down") is None:
			self.tell("weft down failed")
		self.daemon.wait(PATIENCE)
		self.wait_for("an empty folder of sockets", lambda: not os.listdir(self.top + "/run"))

	def programs(self):
		"""What the daemon knows of those that are there."""
		return [p for h in json.loads(self.run("status", "--json") or '{"hosts": []}')["hosts"] for p in h["programs"]]

	def spawn(self, host, name, args):
		out = open(f"{self.top}/{name}.txt", "w+")
		p = subprocess.Popen([self.weft, "exec", "--host", host, "--", *args], env=self.env, stdin=subprocess.DEVNULL,
			stdout=out, stderr=subprocess.STDOUT, cwd=self.top)
		p.words = out
		self.ran.append(p)
		return p

	def said(self, p):
		p.words.seek(0)
		return p.words.read()

	def listened(self):
		"""Somebody waits for a TCP connection at our port."""
		for name in ("/proc/net/tcp", "/proc/net/tcp6"):
			with open(name) as f:
				for line in f:
					field = line.split()
					if field[3] == "0A" and field[1].endswith(f":{self.port:04X}"):
						return True
		return False

	def pair(self, kind, megabytes=1000000):
		"""Starts a server, waits until it serves, and starts a client."""
		command = list(KINDS[kind])
		if kind == "traffic":
			shutil.rmtree(self.top + "/meet", ignore_errors=True)
			os.mkdir(self.top + "/meet")
			return [self.spawn(f"h{side + 1}", f"{side}", [self.traffic, self.top + "/meet", str(side), str(megabytes)])
				for side in (0, 1)]
		if kind == "rping":
			server = self.spawn("h1", "0", [*command, "-s"])
			self.wait_for("rping that listens", lambda: any(p["listens"] for p in self.programs()))
			return [server, self.spawn("h2", "1", [*command, "-c", "-a", "127.77.0.1"])]
		self.port = self.random.randrange(26000, 32000)
		while self.listened():
			self.port += 1
		command += ["-p", str(self.port)]
		server = self.spawn("h1", "0", command)
		self.wait_for(f"{kind} that listens", lambda: self.listened() or server.poll() is not None)
		return [server, self.spawn("h2", "1", [*command, "127.0.0.1"])]

	def waits_for_client(self, kind, p, whom):
		"""p is a server whose client never came, as it may."""
		if kind == "traffic":
			return len(os.listdir(self.top + "/meet")) < 6
		if p is not self.ran[-2]:
			return False
		if kind == "rping":
			return whom == "client" and any(q["pid"] == p.pid and q["listens"] and not q["qps"] for q in self.programs())
		return self.listened()

	def verify(self):
		"""Checked traffic, both ways."""
		for p in self.pair("traffic", 1):
			try:
				if p.wait(PATIENCE) != 0 or "all is right" not in self.said(p):
					self.tell(f"traffic afterwards: {p.returncode}: {self.said(p)}")
			except subprocess.TimeoutExpired:
				self.tell("traffic afterwards does not end")
				p.kill()

	def round(self, kind, whom, counts):
		server, client = self.pair(kind)
		time.sleep(self.random.uniform(0, 1.2))
		for p in (server, client):
			if p.poll() is not None:
				self.tell(f"{kind}: {p.args[3]} ended before anything was killed: {p.returncode}: {self.said(p)[-300:]}")
		victim = {"server": server, "client": client, "daemon": self.daemon}[whom]
		victim.kill()
		victim.wait()
		killed = time.monotonic()
		left = {p for p in (server, client) if p is not victim}
		while left and time.monotonic() < killed + PATIENCE:
			for p in list(left):
				if p.poll() is not None:
					left.remove(p)
					counts["ends"].append(time.monotonic() - killed)
					self.judge(kind, whom, p)
			# Whoever waits now waits for ever; a look at it costs, so not at once.
			if left and time.monotonic() > killed + 2 and all(self.waits_for_client(kind, p, whom) for p in left):
				counts["waiting"] += len(left)
				break
			time.sleep(0.02)
		else:
			for p in left:
				self.tell(f"{kind}, {whom} killed: {p.args[3]} does not end: {self.said(p)[-300:]}")
		for p in left:
			p.kill()
			p.wait()
		if whom == "daemon":
			self.up()
		self.wait_for("the end of all programs", lambda: not self.programs())

	def judge(self, kind, whom, p):
		"""How a survivor ended. A client that is disconnected has done nothing wrong in rping's eyes."""
		if p.returncode < 0 or p.returncode > 128 and p.returncode < 192:
			self.tell(f"{kind}, {whom} killed: {p.args[3]} ended by a signal: {p.returncode}: {self.said(p)[-300:]}")
		elif p.returncode == 0 and kind != "rping":
			self.tell(f"{kind}, {whom} killed: {p.args[3]} saw no error: {self.said(p)[-300:]}")

	def all_rounds(self, rounds):
		counts = {kind: {"client": 0, "server": 0, "daemon": 0, "ends": [], "waiting": 0} for kind in KINDS}
		os.mkdir(self.top + "/run", 0o700)
		self.up()
		for n in range(rounds):
			kind = list(KINDS)[n % len(KINDS)]
			whom = self.random.choice(["client", "server", "daemon"])
			counts[kind][whom] += 1
			self.round(kind, whom, counts[kind])
			if whom == "daemon" or n % 10 == 9:
				self.verify()
			for p in self.ran:
				p.words.close()
			self.ran = []
		self.down()
		names = [n for n in os.listdir("/dev/shm") if "weft" in n and os.stat("/dev/shm/" + n).st_uid == os.getuid()]
		if names:
			self.tell(f"left in /dev/shm: {names}")
		for kind, c in counts.items():
			ends = c["ends"] or [0]
			print(f"{self.fabric}: {kind}: killed {c['client']} clients, {c['server']} servers, {c['daemon']} daemons; "
				f"survivors end after {statistics.median(ends):.2f} s, {max(ends):.2f} s at most; "
				f"{c['waiting']} waited for a client that never came", flush=True)
		return self.wrong

	def clean(self):
		for p in self.ran + [self.daemon]:
			if p is not None and p.poll() is None:
				p.kill()
		shutil.rmtree(self.top, ignore_errors=True)


def main():
	weft, traffic, fabric, rounds = sys.argv[1:5]
	seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 32)
	soak = Soak(weft, traffic, fabric, seed)
	try:
		wrong = soak.all_rounds(int(rounds))
	finally:
		soak.clean()
	print(f"{fabric}: {rounds} rounds of kill -9, seed {seed}: {wrong or 'nothing'} went wrong")
	return 1 if wrong else 0


sys.exit(main())
