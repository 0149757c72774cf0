#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a fat tree as a topology file of the HPCC simulator (ns-3).

usage: hpcc_topo.py [--pods N] [--leaves N] [--spines N] [--cores N] [--hosts N]

A pod has leaves, each with hosts, and spines, each linked to all leaves of the pod; spine i of
every pod is linked to the i-th part of the cores. The defaults are the network of the evaluation in Li et
al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1: 320 hosts of 100 Gb/s on
20 + 20 + 16 switches with 400 Gb/s between them, links of 1 us. tests/data/hpcc/topo_fat320.txt is
this script's output.

Ids go pod by pod (each leaf before its hosts, then the spines), the cores come last.
"""

import argparse
import sys

HOST = "100Gbps 1us 0"
FABRIC = "400Gbps 1us 0"


def fat_tree(pods, leaves, spines, cores, hosts):
    """(number of nodes, ids of switches, links as lines)"""
    n, switches, links, tops = 0, [], [], []
    for _ in range(pods):
        below = []
        for _ in range(leaves):
            leaf, n = n, n + 1 + hosts
            below.append(leaf)
            links += [f"{host} {leaf} {HOST}" for host in range(leaf + 1, n)]
        above = list(range(n, n + spines))
        n += spines
        links += [f"{leaf} {spine} {FABRIC}" for spine in above for leaf in below]
        switches += below + above
        tops.append(above)
    first, each = n, cores // spines
    for above in tops:
        links += [f"{spine} {first + i * each + k} {FABRIC}"
                  for i, spine in enumerate(above) for k in range(each)]
    return n + cores, switches + list(range(n, n + cores)), links


def text(*size):
    nodes, switches, links = fat_tree(*size)
    head = f"{nodes} {len(switches)} {len(links)}"
    return "\n".join([head, " ".join(map(str, switches)), *links]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="prints a fat tree for the HPCC simulator")
    for name, default in (("pods", 5), ("leaves", 4), ("spines", 4), ("cores", 16), ("hosts", 16)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    args = parser.parse_args()
    if min(vars(args).values()) < 1 or args.cores % args.spines:
        parser.error("every number is 1 at least, and --cores a multiple of --spines")
    sys.stdout.write(text(args.pods, args.leaves, args.spines, args.cores, args.hosts))


if __name__ == "__main__":
    main()
