#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of this folder: what OpenSM sets in a subnet that ibsim simulates.

    make.py CASE ...     CASE.net and the options below -> CASE.txt

It needs opensm, ibsim and infiniband-diags. CASE.net is what ibsim and the test read. CASE.txt has

    lid GUID LID                 of each end of paths
    lft GUID LID=PORT ...        of each switch
    pkeys GUID PORT KEY ...      P_Keys of a port that are not 0, as index=key
    port GUID PORT NAME=VALUE .. what a manager sets of PortInfo
"""
import os
import re
import subprocess
import sys
import tempfile
import time

CASES = {  # options of OpenSM, and partitions.conf
    "fat-minhop": ("fat", ["-R", "minhop"], None),
    "fat-updn": ("fat", ["-R", "updn"], None),
    "fat-ftree": ("fat", ["-R", "ftree"], None),
    "fat3-minhop": ("fat3", ["-R", "minhop"], None),
    "fat3-ftree": ("fat3", ["-R", "ftree"], None),
    "ring-minhop": ("ring", ["-R", "minhop"], None),
    "dragonfly-minhop": ("dragonfly", ["-R", "minhop"], None),
    "fat-lmc": ("fat", ["-R", "minhop", "-l", "1"], None),
    "fat-partitions": ("fat", ["-R", "minhop"], "partitions.conf"),
}
FIELDS = ["GidPrefix", "SMLid", "LMC", "SubnetTimeout", "VLStallCount", "HoqLife", "OperVLs",
          "NeighborMTU", "LinkState", "PartEnforceInb", "PartEnforceOutb"]
HERE = os.path.dirname(os.path.abspath(__file__))
UMAD2SIM = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"


def tool(env, *args):
    for _ in range(3):
        p = subprocess.run(args, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if p.returncode == 0:
            return p.stdout.decode()
    raise SystemExit(f"{args}: {p.stderr.decode()}")


def ends(net):
    """Nodes of a net file: (is a switch, GUID, ports connected, GUIDs of ports)."""
    found = []
    for line in open(net, encoding="utf-8"):
        m = re.match(r'(Switch|Ca|Hca)\s+(\d+)\s+"[SH]-([0-9a-f]{16})"', line)
        if m:
            found.append((m.group(1) == "Switch", int(m.group(3), 16), {}))
        m = re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s', line)
        if m and found:
            found[-1][2][int(m.group(1))] = int(m.group(2), 16) if m.group(2) else 0
    return found


def port_lines(env, is_switch, lid, guid, number):
    text = tool(env, "smpquery", "portinfo", str(lid), str(number))
    values = dict(re.findall(r"^(\w+):\.*(.*)$", text, re.M))
    out = [f"port {guid:016x} {number} "
           + " ".join(f"{f}={values[f].split()[0] if values.get(f) else '-'}" for f in FIELDS)]
    args = [str(lid), str(number)] if is_switch else [str(lid)]
    keys = re.findall(r"0x([0-9a-f]{4})", re.sub(r"^.*?:", "", "\n".join(
        re.sub(r"^\s*\d+:", "", line) for line in tool(env, "smpquery", "pkeys", *args).splitlines()
        if re.match(r"^\s*\d+:", line))))
    out.append(f"pkeys {guid:016x} {number} "
               + " ".join(f"{i}={k}" for i, k in enumerate(keys) if k != "0000"))
    return out


def query(env, net, folder):
    out = []
    lids, lfts = {}, {}
    for line in open(os.path.join(folder, "guid2lid"), encoding="utf-8"):
        words = line.split()
        if len(words) == 3:
            lids[int(words[0], 16)] = int(words[1], 16)
    sw = 0
    for line in open(os.path.join(folder, "opensm-lfts.dump"), encoding="utf-8"):
        m = re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line)
        if m:
            sw = int(m.group(1), 16)
        m = re.match(r"0x([0-9a-f]+) (\d+) ", line)
        if m:
            lfts.setdefault(sw, []).append(f"{int(m.group(1), 16)}={int(m.group(2))}")
    out += [f"lft {guid:016x} {' '.join(ports)}" for guid, ports in lfts.items()]
    for is_switch, guid, ports in ends(net):
        if is_switch:
            out.append(f"lid {guid:016x} {lids[guid]}")
            for number in [0] + sorted(ports):
                out += port_lines(env, True, lids[guid], guid, number)
            continue
        for number, port_guid in sorted(ports.items()):
            out.append(f"lid {port_guid:016x} {lids[port_guid]}")
            out += port_lines(env, False, lids[port_guid], port_guid, number)
    return sorted(out)


def make(case):
    name, options, partitions = CASES[case]
    net = os.path.join(HERE, name + ".net")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, IBSIM_SOCKNAME=f"weft{os.getpid()}{case}", OSM_CACHE_DIR=folder,
                   OSM_TMP_DIR=folder)
        with open(os.path.join(folder, "ibsim.log"), "wb") as log:
            sim = subprocess.Popen(["ibsim", "-s", net], env=env, stdin=subprocess.PIPE, stdout=log,
                                   stderr=log)
        try:
            time.sleep(1)  # time: ibsim reads the file, and says nothing when it has
            env.update(LD_PRELOAD=UMAD2SIM, SIM_HOST="host 0")
            conf = os.path.join(HERE, partitions) if partitions else "/nonexistent"
            tool(env, "opensm", "-o", "-D", "0x43", "-f", folder + "/log", "-P", conf, *options)
            lines = query(env, net, folder)
        finally:
            sim.kill()
            sim.wait()
    with open(os.path.join(HERE, case + ".txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


for wanted in sys.argv[1:] or CASES:
    make(wanted)
