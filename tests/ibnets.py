#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ibnets.py NAME - print a subnet as ibnetdiscover does; ibsim and weft ib read it.

	fattree2	64 hosts, 8 leaves, 4 spines with two links to each leaf
	fattree3	128 hosts, 3 tiers of switches of 8 ports
	fattree3-hole	the same without one link between a leaf and the switch above it
	dragonfly	36 hosts, 9 groups of 4 switches, each with one host
	ring		6 switches in a circle, 2 hosts each
	torus		16 switches, 4 by 4, one host each

GUIDs of hosts are mixed up, so that no order of theirs is the order of the ports.
"""
import sys

SWITCH, HOST = 0x0A00000000000000, 0x0B00000000000000


class Net:
    def __init__(self):
        self.nodes = []  # (kind, guid, ports, name)
        self.links = {}  # (node, port): (node, port)

    def add(self, kind, ports, name):
        number = len(self.nodes)
        guid = SWITCH + (number * 37 + 11) % 1009 if kind == "S" else HOST + 16 * ((number * 61 + 5) % 1009)
        self.nodes.append((kind, guid, ports, name))
        return number

    def join(self, a, b):
        """Connects the lowest free port of each."""
        ends = []
        for node in (a, b):
            port = next(p for p in range(1, self.nodes[node][2] + 1) if (node, p) not in self.links)
            self.links[node, port] = None
            ends.append((node, port))
        self.links[ends[0]], self.links[ends[1]] = ends[1], ends[0]
        return ends

    def cut(self, ends):
        for end in ends:
            del self.links[end]

    def host(self, switch):
        self.join(self.add("H", 1, f"host{sum(n[0] == 'H' for n in self.nodes)} HCA-1"), switch)

    def text(self):
        out = ["#", "# a subnet of tests/ibnets.py", "#"]
        for number, (kind, guid, ports, name) in enumerate(self.nodes):
            word = "Switch" if kind == "S" else "Ca"
            out += ["", "vendid=0x2c9", "devid=0xcf08", f"sysimgguid=0x{guid:x}"]
            out.append(f"switchguid=0x{guid:x}({guid:x})" if kind == "S" else f"caguid=0x{guid:x}")
            end = " base port 0 lid 0 lmc 0" if kind == "S" else ""
            out.append(f'{word}\t{ports} "{kind}-{guid:016x}"\t\t# "{name}"{end}')
            for port in range(1, ports + 1):
                if (number, port) not in self.links:
                    continue
                peer, far = self.links[number, port]
                letter, other, _, desc = self.nodes[peer]
                own = f"({guid + port:x}) " if kind == "H" else ""
                theirs = f"({other + far:x}) " if letter == "H" else ""
                mine = "lid 0 lmc 0 " if kind == "H" else ""
                out.append(f'[{port}]{own}\t"{letter}-{other:016x}"[{far}]{theirs}\t\t# {mine}"{desc}" lid 0 4xEDR')
        return "\n".join(out) + "\n"


def fattree2(net):
    leaves = [net.add("S", 16, f"leaf{i}") for i in range(8)]
    for leaf in leaves:
        for _ in range(8):
            net.host(leaf)
    for i in range(4):
        spine = net.add("S", 16, f"spine{i}")
        for leaf in leaves:
            for _ in range(2):
                net.join(leaf, spine)


def fattree3(net, hole=False):
    cores = [net.add("S", 8, f"core{i}") for i in range(16)]
    for pod in range(8):
        leaves = [net.add("S", 8, f"pod{pod}-leaf{i}") for i in range(4)]
        for leaf in leaves:
            for _ in range(4):
                net.host(leaf)
        for i in range(4):
            agg = net.add("S", 8, f"pod{pod}-agg{i}")
            for j, leaf in enumerate(leaves):
                ends = net.join(leaf, agg)
                if hole and (pod, i, j) == (3, 2, 1):
                    net.cut(ends)
            for core in cores[4 * i:4 * i + 4]:
                net.join(agg, core)


def dragonfly(net):
    switches = [[net.add("S", 8, f"group{g}-sw{i}") for i in range(4)] for g in range(9)]
    for group in switches:
        for i, one in enumerate(group):
            net.host(one)
            for other in group[i + 1:]:
                net.join(one, other)
    for a in range(9):
        for b in range(a + 1, 9):
            net.join(switches[a][(b - a - 1) // 2], switches[b][(a - b + 8) // 2])


def ring(net, n=6, hosts=2):
    switches = [net.add("S", 8, f"ring{i}") for i in range(n)]
    for switch in switches:
        for _ in range(hosts):
            net.host(switch)
    for i in range(n):
        net.join(switches[i], switches[(i + 1) % n])


def torus(net, n=4):
    switches = [[net.add("S", 8, f"x{x}y{y}") for y in range(n)] for x in range(n)]
    for x in range(n):
        for y in range(n):
            net.host(switches[x][y])
    for x in range(n):
        for y in range(n):
            net.join(switches[x][y], switches[(x + 1) % n][y])
            net.join(switches[x][y], switches[x][(y + 1) % n])


NETS = {
    "fattree2": fattree2,
    "fattree3": fattree3,
    "fattree3-hole": lambda net: fattree3(net, True),
    "dragonfly": dragonfly,
    "ring": ring,
    "torus": torus,
}

if __name__ == "__main__":
    made = Net()
    NETS[sys.argv[1]](made)
    sys.stdout.write(made.text())
