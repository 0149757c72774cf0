#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes CASE.sa of this folder: what OpenSM's subnet administration answers in a subnet of ibsim.

    make_sa.py CASE ...     CASE's .net and options, the queries below -> CASE.sa

It needs opensm, ibsim, libibumad and a C compiler. Programs ask as hosts of ibsim's; what OpenSM
sends is taken from its calls of umad_send(), since ibsim carries no more than the first 256 bytes of
an answer. In CASE.sa, all numbers hexadecimal but HOST's and those of bytes:

    ask HOST METHOD ATTRIBUTE MODIFIER MASK SM_KEY DATA     who asks what, and for each record then
    got METHOD ATTRIBUTE STATUS BYTES                       (BYTES: of a record; none: no answer)
    rec DATA                                                records in their order when sorted
    report LID DATA                                         a notice that somebody was sent
"""
import ctypes
import itertools
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
UMAD2SIM = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"
CASES = {  # net, options of OpenSM, and partitions.conf
    "single-sa": ("single", ["-R", "minhop"], None),
    "fat-lmc-sa": ("fat", ["-R", "minhop", "-l", "1"], None),
    "fat-partitions-sa": ("fat", ["-R", "minhop"], "partitions-sa.conf"),
    "ring-dfsssp-sa": ("ring", ["-R", "dfsssp", "-Q"], None),
}
SPY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
extern void *umad_get_mad(void *umad);
int umad_send(int fd, int agent, void *umad, int length, int timeout, int retries)
{
	int (*real)(int, int, void *, int, int, int) =
		(int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	const unsigned char *mad = umad_get_mad(umad), *lid = (unsigned char *)umad + 28;
	const char *name = getenv("SA_SPY");
	if (name && mad[1] == 3) {
		FILE *f = fopen(name, "a");
		fprintf(f, "%02x%02x ", lid[0], lid[1]);
		for (int i = 0; i < length; i++)
			fprintf(f, "%02x", mad[i]);
		fprintf(f, "\n");
		fclose(f);
	}
	return real(fd, agent, umad, length, timeout, retries);
}
"""
GET, SET, TABLE, MULTI, DELETE = 1, 2, 0x12, 0x14, 0x15
NODE, PORT, SLVL, SWITCH, LFT, MFT, SM, LINK, GUIDS, SERVICE, PKEYS, PATH, VLARB, MC, MPATH, INFORM, INFREC = (
    0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x3a, 0x3, 0xf3)
PREFIX = 0xfe80000000000000


# ---- the client: a process of its own for each host ----

def client(host_lid):
    lib = ctypes.CDLL("libibumad.so.3")
    lib.umad_init()
    port = lib.umad_open_port(None, 0)
    lib.umad_get_mad.restype = ctypes.c_void_p
    methods = (ctypes.c_long * 2)(1 << 6, 0)
    agent = lib.umad_register(port, 3, 2, 1, methods)
    size = lib.umad_size()
    for line in sys.stdin:
        mad = bytes.fromhex(line)
        umad = ctypes.create_string_buffer(size + 4096)
        ctypes.memmove(lib.umad_get_mad(umad), mad, len(mad))
        lib.umad_set_addr(umad, host_lid, 1, 0, 0x80010000)
        if lib.umad_send(port, agent, umad, 256, 400, 0) < 0:
            sys.exit("send")
        end, got = time.time() + 1, False
        while not got and time.time() < end:
            n = ctypes.c_int(2048)
            umad = ctypes.create_string_buffer(size + 4096)
            if lib.umad_recv(port, umad, ctypes.byref(n), 500) < 0:
                break
            back = ctypes.string_at(lib.umad_get_mad(umad), 24)
            if back[3] == 6:  # a report: it is acknowledged
                whole = bytearray(ctypes.string_at(lib.umad_get_mad(umad), 256))
                whole[3] = 0x86
                ctypes.memmove(lib.umad_get_mad(umad), bytes(whole), 256)
                lib.umad_set_addr(umad, host_lid, 1, 0, 0x80010000)
                lib.umad_send(port, agent, umad, 256, 0, 0)
                continue
            got = back[12:16] == mad[12:16] and umad[4:8] == b"\0\0\0\0"
        print("yes" if got else "no", flush=True)


# ---- the subnet ----

class Subnet:
    def __init__(self, name, options, partitions, folder):
        net = os.path.join(HERE, name + ".net")
        self.folder = folder
        self.spy_log = folder + "/spy.log"
        self.clients = {}
        self.tid = 0
        self.out = []
        self.read = 0
        with open(folder + "/spy.c", "w", encoding="utf-8") as f:
            f.write(SPY)
        subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", folder + "/spy.so", folder + "/spy.c", "-ldl"], check=True)
        self.env = dict(os.environ, IBSIM_SOCKNAME=f"weftsa{os.getpid()}", OSM_CACHE_DIR=folder, OSM_TMP_DIR=folder)
        with open(folder + "/ibsim.log", "wb") as log:
            self.sim = subprocess.Popen(["ibsim", "-s", net], env=self.env, stdin=subprocess.PIPE, stdout=log, stderr=log)
        time.sleep(1)  # time: ibsim reads the file, and says nothing when it has
        open(self.spy_log, "wb").close()
        conf = os.path.join(HERE, partitions) if partitions else "/nonexistent"
        with open(folder + "/opensm.out", "wb") as log:
            # libumad2sim leaves a folder where it runs.
            self.osm = subprocess.Popen(
                ["opensm", "-D", "0x43", "-f", folder + "/log", "--dump_files_dir", folder, "-P", conf, "-s", "0", *options],
                env=dict(self.env, LD_PRELOAD=f"{folder}/spy.so:{UMAD2SIM}", SIM_HOST="host 0", SA_SPY=self.spy_log),
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder)
        for _ in range(100):
            if os.path.exists(folder + "/log") and b"SUBNET UP" in open(folder + "/log", "rb").read():
                break
            time.sleep(0.2)  # time: until it says so
        time.sleep(1)  # time: the dumps are written behind that
        self.lids = {int(w[0], 16): int(w[1], 16) for w in
                     (line.split() for line in open(folder + "/guid2lid", encoding="utf-8")) if len(w) == 3}
        self.hosts = {}
        self.switches = []
        guid, host = 0, None
        for line in open(net, encoding="utf-8"):
            m = re.match(r'(Switch|Ca|Hca)\s+\d+\s+"[SH]-([0-9a-f]{16})"\s+# "host (\d+)', line)
            if m:
                host = int(m.group(3))
            elif re.match(r"Switch", line):
                host = None
                self.switches.append(int(re.search(r'"S-([0-9a-f]{16})"', line).group(1), 16))
            m = re.match(r"\[1\]\(([0-9a-f]+)\)", line)
            if m and host is not None:
                guid = int(m.group(1), 16)
                self.hosts[host] = guid

    def lid(self, host):
        return self.lids[self.hosts[host]]

    def gid(self, host, prefix=PREFIX):
        return struct.pack(">QQ", prefix, self.hosts[host])

    def close(self):
        for c in self.clients.values():
            c.stdin.close()
            c.wait()
        for p in (self.osm, self.sim):
            p.kill()
            p.wait()

    def sent(self):
        lines = open(self.spy_log, encoding="utf-8").read().splitlines()
        new, self.read = lines[self.read:], len(lines)
        return [(int(lid, 16), bytes.fromhex(mad)) for lid, mad in (line.split() for line in new)]

    def ask(self, host, method, attr, mask=0, data=b"", mod=0, key=0):
        if host not in self.clients:
            self.clients[host] = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--client", str(self.lid(0))], text=True,
                env=dict(self.env, LD_PRELOAD=UMAD2SIM, SIM_HOST=f"host {host}"), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(0.5)  # time: it attaches, and says nothing when it has
        self.tid += 1
        data = data.ljust(200, b"\0")[:200]
        head = struct.pack(">BBBBHHQHHI", 1, 3, 2, method, 0, 0, self.tid, attr, 0, mod)
        rmpp = bytes([0, 0, 1 if method == MULTI else 0, 0]) + bytes(8)
        mad = head + rmpp + struct.pack(">QHHQ", key, 0, 0, mask) + data
        c = self.clients[host]
        c.stdin.write(mad.hex() + "\n")
        c.stdin.flush()
        c.stdout.readline()
        self.out.append(f"ask {host} {method:x} {attr:x} {mod:x} {mask:x} {key:x} {data.rstrip(chr(0).encode()).hex() or '-'}")
        for lid, back in self.sent():
            if back[3] == 6:
                self.out.append(f"report {lid} {back[56:136].hex()}")
                continue
            if struct.unpack(">I", back[12:16])[0] != self.tid:
                continue
            status, words = struct.unpack(">H", back[4:6])[0], struct.unpack(">H", back[44:46])[0]
            body = back[56:] if status == 0 else b""
            if back[3] == 0x81 and words and status == 0:
                body = body[:8 * words]
            size = 8 * words if status == 0 else 0
            if attr == 1 and status == 0:  # OpenSM leaves the offset as it was asked for
                body, size = body[:72], 72
            if attr == INFORM and status == 0:  # and is four bytes short here
                body, size = back[56:92] + bytes(4), 40
            self.out.append(f"got {back[3]:x} {struct.unpack('>H', back[16:18])[0]:x} {status:x} {size}")
            if size:
                self.out += sorted("rec " + body[i:i + size].hex() for i in range(0, len(body) - size + 1, size))


def path(sgid=b"", dgid=b"", slid=0, dlid=0, raw=0, rev=0, numb=0, pkey=0, sl=0, mtu=0, rate=0, life=0):
    return (bytes(8) + dgid.ljust(16, b"\0") + sgid.ljust(16, b"\0") + struct.pack(">HH", dlid, slid)
            + struct.pack(">I", raw << 31) + bytes([0, rev << 7 | numb]) + struct.pack(">HH", pkey, sl)
            + bytes([mtu, rate, life, 0]))


def member(mgid, gid, qkey=0, mlid=0, mtu=0, tclass=0, pkey=0, rate=0, life=0, sl=0, flow=0, hops=0, scope=2, state=1):
    return (mgid + gid + struct.pack(">IHBBH", qkey, mlid, mtu, tclass, pkey) + bytes([rate, life])
            + struct.pack(">I", sl << 28 | flow << 8 | hops) + bytes([scope << 4 | state, 0, 0, 0]))


def ask_tables(s, host):
    for attr in (NODE, PORT, SWITCH, LFT, MFT, SM, LINK, GUIDS, PKEYS, SLVL, VLARB, PATH, MC, SERVICE, INFREC):
        s.ask(host, TABLE, attr)
    s.ask(host, TABLE, PKEYS, key=1)


def ask_records(s, host):
    for lid in sorted(s.lids.values()):
        at = struct.pack(">H", lid)
        for attr in (NODE, PORT, SWITCH, LFT, GUIDS, PKEYS, SLVL, VLARB, SM):
            s.ask(host, GET, attr, 1, at)
        s.ask(host, TABLE, PORT, 1, at)
        s.ask(host, TABLE, PKEYS, 1, at, key=1)
        s.ask(host, GET, PKEYS, 7, at + b"\0\0\0", key=1)
        s.ask(host, TABLE, LINK, 1, at)
        s.ask(host, TABLE, LINK, 8, bytes(4) + at)
        s.ask(host, GET, PORT, 3, at + b"\1")
        s.ask(host, TABLE, VLARB, 5, at + b"\0\3")
    s.ask(host, GET, NODE, 1, b"\x7f\xff")
    s.ask(host, GET, NODE, 1 << 4, bytes(6) + b"\2")
    s.ask(host, TABLE, NODE, 1 << 4, bytes(6) + b"\2")
    s.ask(host, TABLE, NODE, 1 << 8, bytes(4) + bytes(20) + struct.pack(">Q", s.hosts[1]))
    s.ask(host, TABLE, NODE, 1 << 14, bytes(44) + b"host 2")
    s.ask(host, GET, 1)
    for attr in (1, NODE, PORT, LINK, PATH, MPATH, INFORM, INFREC, 0x16, 0x39, 0x7777):
        for method in (SET, DELETE, MULTI, TABLE if attr in (1, INFORM) else SET):
            if (attr, method) not in ((INFORM, SET), (MPATH, MULTI)):
                s.ask(host, method, attr)


def ask_paths(s, host):
    few = sorted(s.hosts)[:4]
    for a, b in itertools.product(few, few):
        s.ask(host, GET, PATH, 0xc, path(s.gid(a), s.gid(b)))
        s.ask(host, TABLE, PATH, 0xc, path(s.gid(a), s.gid(b)))
        s.ask(host, TABLE, PATH, 0x30, path(slid=s.lid(a), dlid=s.lid(b)))
    a, b = few[1], few[-1]
    both = path(s.gid(a), s.gid(b))
    for mask, what in ((8, both), (4, both), (0x10, path(dlid=s.lid(b))), (0x20, path(slid=s.lid(a))),
                       (0x24, path(dgid=s.gid(b), slid=s.lid(a))), (0x18, path(s.gid(a), dlid=s.lid(b))),
                       (0x3c, path(s.gid(a), s.gid(b), s.lid(a), s.lid(b))), (0x3c, path(s.gid(a), s.gid(b), s.lid(b), s.lid(a))),
                       (0x20, path(slid=0x7ff)), (8, path(b"\xfe\x80" + bytes(13) + b"\x99")),
                       (8, path(s.gid(a, 0x1234))), (4, path(b"", s.gid(b, 0x1234))), (1, b""), (3, b"")):
        for method in (GET, TABLE):
            s.ask(host, method, PATH, mask, what)
    for numb in (0, 1, 2, 3, 127):
        s.ask(host, TABLE, PATH, 0x100c, path(s.gid(a), s.gid(b), numb=numb))
        s.ask(host, GET, PATH, 0x100c, path(s.gid(a), s.gid(b), numb=numb))
    s.ask(host, GET, PATH, 0x80c, path(s.gid(a), s.gid(b), rev=1))
    s.ask(host, GET, PATH, 0x4c, path(s.gid(a), s.gid(b), raw=1))
    for sel, value in itertools.product(range(4), (0, 1, 2, 3, 4, 5, 6, 7, 18, 19, 40)):
        s.ask(host, GET, PATH, 0x3000c, path(s.gid(a), s.gid(b), mtu=sel << 6 | value))
        s.ask(host, GET, PATH, 0xc000c, path(s.gid(a), s.gid(b), rate=sel << 6 | value))
        s.ask(host, GET, PATH, 0x30000c, path(s.gid(a), s.gid(b), life=sel << 6 | value))
    for pkey in (0, 0x7fff, 0xffff, 1, 0x8001, 0x10, 0x8010, 0x20, 0x8020):
        s.ask(host, GET, PATH, 0x200c, path(s.gid(a), s.gid(b), pkey=pkey))
    for sl in (0, 1, 5):
        s.ask(host, GET, PATH, 0x800c, path(s.gid(a), s.gid(b), sl=sl))
    gids = s.gid(few[0]) + s.gid(few[1]) + s.gid(few[2]) + s.gid(few[3])
    for mask, numb, n, m in ((0x180000, 0, 1, 1), (0x180000, 0, 2, 2), (0x180040, 2, 2, 2), (0x180040, 3, 2, 2),
                             (0x180040, 1, 1, 3), (0x80000, 0, 2, 2), (0x190000, 0, 1, 1)):
        s.ask(host, MULTI, MPATH, mask, bytes(5) + bytes([numb]) + bytes(9) + bytes([n, m]) + bytes(7) + gids)


def ask_groups(s):
    """Who joins, leaves and asks; a subscriber is told."""
    few = sorted(s.hosts)[:4]
    own = bytes.fromhex("ff15a01b000000000000000000000077")
    ipoib = bytes.fromhex("ff12401bffff000000000000000000fb")
    bcast = bytes.fromhex("ff12401bffff0000") + bytes(4) + b"\xff" * 4
    create, join = 0x130c7 | 0x10000, 0x10003
    inform = bytes(16) + b"\xff\xff\0\0" + b"\0\0" + b"\1\1" + b"\xff\xff" + b"\xff\xff" + bytes(4) + b"\0\xff\xff\xff"
    s.ask(few[3], SET, INFORM, 0, inform)
    s.ask(few[3], TABLE, INFREC)
    s.ask(few[3], TABLE, INFREC, key=1)
    ours = dict(qkey=0x11, pkey=0xffff, tclass=3, sl=0)
    for host, method, mask, rec in (
            (1, SET, join, member(own, s.gid(1))),
            (1, SET, create & ~4, member(own, s.gid(1), **ours)),
            (1, SET, create, member(own, s.gid(1), state=4, **ours)),
            (1, SET, create, member(own, s.gid(1), state=0, **ours)),
            (1, SET, create, member(bytes.fromhex("fe15a01b000000000000000000000077"), s.gid(1), **ours)),
            (1, SET, create, member(bytes.fromhex("ff12a01b000000000000000000000077"), s.gid(1), **ours)),
            (1, SET, create, member(bytes.fromhex("ff35aaaa000000000000000000000077"), s.gid(1), **ours)),
            (1, SET, create, member(own, s.gid(1, 0x1234), **ours)),
            (1, SET, create, member(own, b"\xfe\x80" + bytes(13) + b"\x99", **ours)),
            (1, SET, create, member(own, s.gid(1), **dict(ours, pkey=0))),
            (1, SET, create, member(own, s.gid(1), **dict(ours, pkey=0x9999))),
            (1, SET, create | 0x30, member(own, s.gid(1), mtu=0x85, **ours)),
            (1, SET, create | 0x30, member(own, s.gid(1), mtu=0x86, **ours)),
            (1, SET, create | 0x300, member(own, s.gid(1), rate=0x90, **ours)),
            (1, SET, create | 0x300, member(own, s.gid(1), rate=0xa8, **ours)),
            (1, SET, create, member(own, s.gid(1), **ours)),
            (1, SET, create, member(own, s.gid(1), **ours)),
            (2, SET, join, member(own, s.gid(2), state=2)),
            (3, SET, join, member(own, s.gid(3), state=4)),
            (2, SET, join | 4, member(own, s.gid(2), qkey=0x12)),
            (2, SET, join | 0x30, member(own, s.gid(2), mtu=0x45)),
            (2, SET, join | 0x30, member(own, s.gid(2), mtu=0x05)),
            (2, SET, join | 0x300, member(own, s.gid(2), rate=0x02)),
            (2, SET, join | 0x300, member(own, s.gid(2), rate=0x10)),
            (1, SET, join, member(own, s.gid(2), state=1)),
            (1, DELETE, join, member(own, s.gid(2), state=2)),
            (2, DELETE, join, member(own, s.gid(2), state=1)),
            (2, DELETE, join, member(own, s.gid(2), state=8)),
            (1, SET, create, member(ipoib, s.gid(1), **ours)),
            (1, SET, create, member(ipoib, s.gid(1), **dict(ours, qkey=0xb1b, tclass=0))),
            (1, SET, join, member(bcast, s.gid(1))),
            (2, SET, join, member(bcast, s.gid(2))),
            (1, SET, create | 8, member(bytes.fromhex("ff15a01b000000000000000000000078"), s.gid(1), mlid=0xc020, **ours)),
            (1, SET, create | 0x30, member(bytes.fromhex("ff15a01b000000000000000000000079"), s.gid(1), mtu=0x01, **ours)),
            (1, SET, create | 0x30, member(bytes.fromhex("ff15a01b00000000000000000000007a"), s.gid(1), mtu=0x43, **ours)),
            (1, SET, create | 0x330, member(bytes.fromhex("ff15a01b00000000000000000000007b"), s.gid(1), mtu=0xc1, rate=0xc2, **ours)),
            (1, SET, create | 0x300, member(bytes.fromhex("ff15a01b00000000000000000000007c"), s.gid(1), rate=0x46, **ours)),
            (2, SET, create, member(bytes.fromhex("ff15a01b00000000000000000000007d"), s.gid(2), state=8, **ours))):
        s.ask(host, method, MC, mask, rec)
    for host, key in ((1, 0), (2, 1), (3, 1)):
        s.ask(host, TABLE, MC, key=key)
        s.ask(host, GET, MC, 1, member(own, bytes(16)), key=key)
        s.ask(host, TABLE, MC, 3, member(own, s.gid(2)), key=key)
        s.ask(host, TABLE, MC, 8, member(own, bytes(16), mlid=0xc000), key=key)
        s.ask(host, TABLE, MC, 0x10000, member(own, bytes(16), state=2), key=key)
        s.ask(host, TABLE, MC, 0x30, member(own, bytes(16), mtu=0x03), key=key)
    s.ask(1, GET, PATH, 0xc, path(s.gid(1), own))
    s.ask(1, GET, PATH, 0x4, path(b"", bcast))
    s.ask(3, TABLE, PATH, 0xc, path(s.gid(0), own))
    time.sleep(2)  # time: trees are made and written
    s.ask(1, TABLE, MFT)
    for host, state in ((2, 1), (2, 2), (3, 4), (1, 1)):
        s.ask(host, DELETE, MC, join, member(own, s.gid(host), state=state))
    s.ask(1, DELETE, MC, join, member(own, s.gid(1)))
    s.ask(2, TABLE, MC, key=1)
    inform = inform[:23] + b"\0" + inform[24:28] + b"\0\0\1\0" + inform[32:]
    s.ask(few[3], SET, INFORM, 0, inform)
    s.ask(few[3], SET, INFORM, 0, inform)
    s.ask(few[3], SET, INFORM, 0, inform[:23] + b"\2" + inform[24:])
    s.ask(few[3], SET, INFORM, 0, inform[:23] + b"\1\xff\xff" + struct.pack(">H", 257) + inform[28:])
    s.ask(few[3], SET, INFORM, 0, inform[:16] + b"\0\1\0\4" + inform[20:23] + b"\1" + inform[24:])
    s.ask(few[3], SET, INFORM, 0, s.gid(9 if 9 in s.hosts else 1) + inform[16:23] + b"\1" + inform[24:])


def service(ident, gid, pkey=0xffff, lease=0xffffffff, key=b"", name=b"", data=b""):
    return (struct.pack(">Q", ident) + gid + struct.pack(">HHI", pkey, 0, lease) + key.ljust(16, b"\0")
            + name.ljust(64, b"\0") + data.ljust(64, b"\0"))


def ask_services(s):
    rec = service(0x1234, s.gid(1), key=b"secret", name=b"storage", data=b"0123456789abcdef" * 4)
    s.ask(1, SET, SERVICE, 1, rec)
    s.ask(1, SET, SERVICE, 0x77, rec)
    s.ask(1, SET, SERVICE, 0x77, rec, key=1)
    s.ask(2, SET, SERVICE, 0x73, service(0x1235, s.gid(2), pkey=0, name=b"other"))
    s.ask(2, SET, SERVICE, 0x77, service(0x1236, s.gid(2), pkey=0x9999, name=b"none"))
    s.ask(2, SET, SERVICE, 0x77, service(0x1236, b"\xfe\x80" + bytes(14), name=b"none"))
    for key in (0, 1):
        s.ask(3, TABLE, SERVICE, key=key)
        s.ask(3, GET, SERVICE, 1, rec, key=key)
        s.ask(3, GET, SERVICE, 0x40, service(0, bytes(16), name=b"other"), key=key)
        s.ask(3, GET, SERVICE, 0x81, rec, key=key)
        s.ask(3, GET, SERVICE, 0x20, rec, key=key)
    s.ask(3, DELETE, SERVICE, 7, service(0x9999, s.gid(1)))
    s.ask(1, DELETE, SERVICE, 7, rec)
    s.ask(1, DELETE, SERVICE, 7, rec)
    s.ask(1, TABLE, SERVICE)


def make(case):
    name, options, partitions = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        s = Subnet(name, options, partitions, folder)
        try:
            for host in (sorted(s.hosts)[0], sorted(s.hosts)[1], sorted(s.hosts)[3]) if partitions else (1,):
                ask_tables(s, host)
                ask_records(s, host)
                ask_paths(s, host)
            ask_groups(s)
            ask_services(s)
            s.ask(1, GET, NODE, key=0x77)
        finally:
            s.close()
        with open(os.path.join(HERE, case + ".txt"), "w", encoding="utf-8") as f:
            f.write("\n".join(s.out) + "\n")
        print(case, sum(line.startswith("ask") for line in s.out), sum(line.startswith("rec") for line in s.out))


if sys.argv[1:2] == ["--client"]:
    client(int(sys.argv[2]))
else:
    for wanted in sys.argv[1:] or CASES:
        make(wanted)
