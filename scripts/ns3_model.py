#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the HPCC simulator's model, small and slow, to check weft run --hpcc against.

usage: ns3_model.py CONFIG PATHS OUT        simulates, writes OUT/fct.txt and OUT/pfc.txt
       ns3_model.py --make SEED FOLDER      makes up a case: inputs and what comes out of them

Written from the description of that model (docs/validation.md), without weft's code, around one queue of
events by (time in ns, order of scheduling). It knows CC_MODE 1 (DCQCN), 3 (HPCC), 7 (TIMELY) and 8
(DCTCP), PFC, windows and several classes; no losses, and no marks by chance: KMIN is KMAX.
"""

import heapq
import os
import random
import sys
from collections import deque
from fractions import Fraction

SECOND = 10**9
DATA, ACK, NACK, PFC = range(4)
RESERVE, RESUME, HEADROOMS, ALPHA_SHIFT = 4096, 3072, 3, 3
NACK_INTERVAL = 500000
DCQCN, HPCC, TIMELY, DCTCP = 1, 3, 7, 8


def wire(size, rate):
    """ns that bytes take: cut off, and a whole number comes out as one less (fixed point of seconds)."""
    return (size * 8 * SECOND - 1) // rate


class Sim:
    def __init__(self):
        self.now, self.number, self.heap = 0, 0, []

    def after(self, delay, fn, *args):
        self.number += 1
        event = [self.now + delay, self.number, fn, args]
        heapq.heappush(self.heap, event)
        return event

    @staticmethod
    def cancel(event):
        event[2] = None

    def run(self, until):
        while self.heap and self.heap[0][0] < until:
            self.now, _, fn, args = heapq.heappop(self.heap)
            if fn is not None:
                fn(*args)


class Packet:
    def __init__(self, kind, size, pg, flow=None, seq=0, payload=0):
        self.kind, self.size, self.pg, self.flow = kind, size, pg, flow
        self.seq, self.payload = seq, payload
        self.marked, self.hops, self.sent, self.port = False, [], 0, None


class Port:
    """One end of a link."""

    def __init__(self, node, number, rate, delay):
        self.node, self.number, self.rate, self.delay = node, number, rate, delay
        self.peer = None
        self.busy = False
        self.paused = [False] * 8
        self.queues = [deque() for _ in range(8)]
        self.last = 0
        self.queued = 0
        self.egress = [0] * 8
        self.tx_bytes = 0
        self.ingress, self.headroom, self.told = [0] * 8, [0] * 8, [False] * 8
        self.room = rate // 8 * delay // SECOND * HEADROOMS
        self.shift = 0

    def transmit(self, pkt):
        assert not self.busy
        self.busy = True
        sim, time = self.node.sim, wire(pkt.size, self.rate)
        sim.after(time, self.done)
        sim.after(time + self.delay, self.peer.receive, pkt)

    def done(self):
        self.busy = False
        self.node.send(self)

    def receive(self, pkt):
        if pkt.kind != PFC:
            self.node.receive(self, pkt)
            return
        self.node.net.log.append((self.node.sim.now, self.node.number, int(self.node.is_switch),
                                  self.number, int(pkt.seq)))
        self.paused[pkt.pg] = pkt.seq != 0
        if not pkt.seq:
            self.node.send(self)


class Switch:
    is_switch = True

    def __init__(self, net, number):
        self.net, self.sim, self.number, self.ports = net, net.sim, number, []
        self.shared = 0

    def threshold(self, port):
        room = self.net.buffer - sum(p.room for p in self.ports) - RESERVE * len(self.ports)
        assert room >= 0
        return max(0, room - self.shared) >> port.shift

    def tell(self, port, pg, stop):
        port.told[pg] = stop
        port.queues[0].append(Packet(PFC, 43, pg, seq=int(stop)))
        port.queued += 43
        self.send(port)

    def receive(self, port, pkt):
        q, size = pkt.pg, pkt.size
        out = self.net.next_port(self, pkt)
        limit = self.threshold(port)
        if (size + port.headroom[q] > port.room
                and size + max(0, port.ingress[q] - RESERVE) > limit):
            raise RuntimeError("a packet is dropped")
        over = port.ingress[q] + size - RESERVE
        if over > limit:
            port.headroom[q] += size
        else:
            port.ingress[q] += size
            self.shared += min(size, max(0, over))
        out.egress[q] += size
        if not port.told[q] and (port.headroom[q] > 0
                                 or max(0, port.ingress[q] - RESERVE) >= self.threshold(port)):
            self.tell(port, q, True)
        pkt.port = port
        out.queues[q].append(pkt)
        out.queued += size
        self.send(out)

    def release(self, pkt):
        port, q = pkt.port, pkt.pg
        part = min(port.headroom[q], pkt.size)
        port.headroom[q] -= part
        self.shared -= min(pkt.size - part, max(0, port.ingress[q] - RESERVE))
        port.ingress[q] -= pkt.size - part

    def resume(self, port, q):
        if not port.told[q] or port.headroom[q] != 0:
            return
        shared = max(0, port.ingress[q] - RESERVE)
        if shared == 0 or shared + RESUME <= self.threshold(port):
            self.tell(port, q, False)

    def send(self, port):
        if port.busy:
            return
        if port.queues[0]:
            q = 0
        else:
            turns = [(port.last + i) % 8 for i in range(1, 9)]
            q = next((i for i in turns if port.queues[i] and not port.paused[i]), None)
            if q is None:
                return
            port.last = q
        pkt = port.queues[q].popleft()
        port.queued -= pkt.size
        if q != 0:
            self.release(pkt)
            port.egress[q] -= pkt.size
            if self.net.marking and port.egress[q] > self.net.k[port.rate]:
                pkt.marked = True
            self.resume(pkt.port, q)
        if pkt.kind == DATA and self.net.cc == HPCC:
            unit = self.net.int_multi
            pkt.hops.append((self.sim.now % 2**24, port.tx_bytes // (128 * unit) % 2**20,
                             port.queued // (80 * unit) % 2**17, port.rate))
        port.tx_bytes += pkt.size
        port.transmit(pkt)


class Host:
    is_switch = False

    def __init__(self, net, number):
        self.net, self.sim, self.number, self.ports = net, net.sim, number, []
        self.pairs, self.last, self.acks, self.timer = [], 0, deque(), None

    def begin(self, pair):
        pair.next = self.sim.now
        self.pairs.append(pair)
        self.send(self.ports[0])

    def timer_on(self):
        return self.timer is not None and self.timer[2] is not None

    def set_timer(self, at):
        self.timer = self.sim.after(max(0, at - self.sim.now), self.timer_due)

    def timer_due(self):
        self.timer = None
        self.send(self.ports[0])

    def choose(self, port):
        """The queue pair whose turn it is; those that are done leave the turns on the way."""
        n, chosen, done = len(self.pairs), None, False
        for i in range(1, n + 1):
            p = self.pairs[(i + self.last) % n]
            if not port.paused[p.pg] and p.left() > 0 and not p.bound():
                if p.next <= self.sim.now:
                    chosen = p
                    break
            elif p.una >= p.size:
                done = True
        if done:
            # Only who was looked at counts: the first of those, and all that are done behind it.
            looked = [(i + self.last) % n for i in range(1, n + 1)]
            if chosen is not None:
                looked = looked[:looked.index(self.pairs.index(chosen))]
            first = min(i for i in looked
                        if self.pairs[i].una >= self.pairs[i].size)
            self.pairs[first:] = [p for p in self.pairs[first:] if p.una < p.size]
        return chosen

    def send(self, port):
        if port.busy:
            return
        if self.acks and (self.net.ack_first or not port.paused[3]):
            port.transmit(self.acks.popleft())
            return
        pair = self.choose(port)
        if pair is not None:
            self.last = self.pairs.index(pair)
            pkt = pair.packet()
            port.transmit(pkt)
            pair.last_size = pkt.size
            pair.next = self.sim.now + wire(pkt.size, pair.rate)
            return
        times = [p.next for p in self.pairs if p.left() > 0]
        if times and min(times) > self.sim.now and not self.timer_on():
            self.set_timer(min(times))

    def move_timer(self, at):
        if self.timer_on() and at < self.timer[0]:
            self.sim.cancel(self.timer)
            self.set_timer(at)

    def receive(self, port, pkt):
        if pkt.kind == DATA:
            self.receive_data(port, pkt)
        else:
            self.receive_ack(port, pkt)

    def receive_data(self, port, pkt):
        flow = pkt.flow
        if pkt.seq != flow.expected:
            raise RuntimeError("a packet is missing")
        flow.expected += pkt.payload
        ack = Packet(ACK, self.net.ack_size, pkt.pg, flow, flow.expected)
        ack.marked_data, ack.hops, ack.sent = pkt.marked, pkt.hops, pkt.sent
        self.acks.append(ack)
        self.send(port)

    def receive_ack(self, port, ack):
        pair = ack.flow
        pair.una = max(pair.una, ack.seq)
        if pair.una >= pair.size and pair.end is None:
            pair.end = self.sim.now
            self.net.done.append(pair)
        if pair.end is None or self.net.last_ack_counts:
            pair.control(ack)
        self.send(port)


class Pair:
    """A flow's queue pair, without congestion control."""

    def __init__(self, net, host, words):
        self.net, self.sim, self.host = net, net.sim, host
        self.src, self.dst, self.pg, self.dport, self.size = (int(w) for w in words[:5])
        self.start = int(Fraction(float(words[5])) * SECOND)  # of the binary number, cut off
        self.line = self.rate = host.ports[0].rate
        self.nxt = self.una = self.expected = self.last_size = self.next = 0
        self.window, self.end = net.window(self.src, self.dst), None
        self.setup()

    def setup(self):
        pass

    def control(self, ack):
        pass

    def left(self):
        return self.size - self.nxt if self.size > self.nxt else 0

    def bound(self):
        if self.window == 0:
            return False
        window = self.window
        if self.net.var_win:
            window = max(1, self.window * int(self.rate) // self.line)
        return self.nxt - self.una >= window

    def packet(self):
        payload = min(self.left(), self.net.payload)
        pkt = Packet(DATA, payload + self.net.header, self.pg, self, self.nxt, payload)
        pkt.sent = self.sim.now
        self.nxt += payload
        return pkt


class DctcpPair(Pair):
    def setup(self):
        self.alpha, self.marks, self.batch, self.update, self.high = 1.0, 0, 0, 0, None

    def control(self, ack):
        net, round_over = self.net, ack.seq > self.update
        self.marks += ack.marked_data
        if round_over:
            if self.update == 0:
                self.batch = self.nxt // net.payload + 1
            else:
                share = min(1.0, self.marks / self.batch)
                self.alpha = (1 - net.gain) * self.alpha + net.gain * share
                self.marks = 0
                self.batch = (self.nxt - ack.seq) // net.payload + 1
            self.update = self.nxt
        if self.high is not None and ack.seq > self.high:
            self.high = None
        if ack.marked_data and self.high is None:
            self.rate = max(net.min_rate, int(self.rate * (1 - self.alpha / 2)))
            self.high = self.nxt
        if self.high is None and round_over:
            self.rate = min(self.line, self.rate + net.dctcp_ai)


class HpccPair(Pair):
    def setup(self):
        self.update, self.hops, self.u, self.reference, self.stage = 0, None, 1.0, self.rate, 0
        self.base = self.net.base_rtt(self.src, self.dst)

    def utilisation(self, hops):
        """The largest of a hop, and the time it is of."""
        most, time = 0.0, 0
        unit = self.net.int_multi
        for (t, b, q, rate), (t0, b0, q0, _) in zip(hops, self.hops):
            tau = (t - t0) % 2**24
            sent = (b - b0) % 2**20 * 128 * unit
            tx = sent * 8 / (tau * 1e-9) if tau else (float("inf") if sent else float("nan"))
            u = tx / rate + float(min(q, q0) * 80 * unit) * self.line / rate / self.window
            if u > most:
                most, time = u, tau
        return most, time

    def control(self, ack):
        if self.update == 0:
            self.update, self.hops = self.nxt, ack.hops
            return
        whole = ack.seq > self.update
        if not whole and not self.net.fast_react:
            return
        most, time = self.utilisation(ack.hops)
        self.hops = ack.hops
        time = min(time, self.base)
        self.u = (self.u * (self.base - time) + most * time) / float(self.base)
        c = self.u / self.net.target
        grow = c < 1 and self.stage < self.net.mi_thresh
        rate = self.reference + self.net.ai if grow else int(self.reference / c) + self.net.ai
        rate = min(self.line, max(self.net.min_rate, rate))
        self.next += wire(self.last_size, rate) - wire(self.last_size, self.rate)
        self.host.move_timer(self.next)
        self.rate = rate
        if whole:
            self.reference, self.stage = rate, self.stage + 1 if grow else 0
            self.update = max(self.update, self.nxt)


class TimelyPair(Pair):
    LOW, HIGH, MIN, ALPHA, BETA = 50000, 500000, 20000, 0.875, 0.8

    def setup(self):
        self.update, self.rtt, self.diff, self.stage = 0, 0, 0.0, 0

    def control(self, ack):
        if ack.seq <= self.update:
            return
        net, rtt = self.net, self.sim.now - ack.sent
        if self.update != 0:
            self.diff = (1 - self.ALPHA) * self.diff + self.ALPHA * (rtt - self.rtt)
            gradient = self.diff / self.MIN
            if rtt < self.LOW or (rtt <= self.HIGH and gradient <= 0):
                self.rate = min(self.line, self.rate + (net.ai if self.stage < 5 else net.hai))
                self.stage += 1
            else:
                c = (1 - self.BETA * (1 - self.HIGH / rtt) if rtt > self.HIGH
                     else max(0.0, 1 - self.BETA * gradient))
                self.rate = max(net.min_rate, int(self.rate * c))
                self.stage = 0
        if self.nxt > self.update:
            self.update, self.rtt = self.nxt, rtt


class DcqcnPair(Pair):
    def setup(self):
        self.alpha, self.target, self.stage = None, self.rate, 0
        self.alpha_marked = self.cut_marked = False
        self.grow_timer = None

    def control(self, ack):
        if not ack.marked_data:
            return
        self.cut_marked = True
        if self.alpha is not None:
            self.alpha_marked = True
            return
        self.alpha, self.alpha_marked = 1.0, False
        self.sim.after(self.net.alpha_interval, self.alpha_tick)
        self.sim.after(self.net.cut_interval + 1, self.cut_tick)
        self.target = self.rate

    def alpha_tick(self):
        g = self.net.gain
        self.alpha = (1 - g) * self.alpha + (g if self.alpha_marked else 0)
        self.alpha_marked = False
        self.sim.after(self.net.alpha_interval, self.alpha_tick)

    def cut_tick(self):
        self.sim.after(self.net.cut_interval, self.cut_tick)
        if not self.cut_marked:
            return
        self.cut_marked = False
        if self.net.clamp or self.stage != 0:
            self.target = self.rate
        self.rate = max(self.net.min_rate, int(self.rate * (1 - self.alpha / 2)))
        self.stage = 0
        if self.grow_timer is not None:
            self.sim.cancel(self.grow_timer)
        self.grow_timer = self.sim.after(self.net.grow_interval, self.grow_tick)

    def grow_tick(self):
        self.grow_timer = self.sim.after(self.net.grow_interval, self.grow_tick)
        if self.stage >= self.net.recovery:
            add = self.net.ai if self.stage == self.net.recovery else self.net.hai
            self.target = min(self.line, self.target + add)
        self.rate = self.rate // 2 + self.target // 2
        self.stage += 1


PAIRS = {DCQCN: DcqcnPair, HPCC: HpccPair, TIMELY: TimelyPair, DCTCP: DctcpPair}


def read_number(text):
    """'100Gbps', '50Mb/s', '1000ns', '0.001ms', '5'; bit/s or ns."""
    for unit, factor in (("Gbps", 10**9), ("Mb/s", 10**6), ("ns", 1), ("us", 1000), ("ms", 10**6)):
        if text.endswith(unit):
            return round(float(text[:-len(unit)]) * factor)
    return int(text)


class Net:
    """The network of a configuration file; run() simulates it."""

    last_ack_counts = True

    def __init__(self, config, paths):
        here = os.path.dirname(os.path.abspath(config))
        with open(config, encoding="ascii") as f:
            c = {w[0]: w[1:] for w in (line.split() for line in f) if w}
        self.sim, self.log, self.done = Sim(), [], []
        self.set_parameters({k: v[0] for k, v in c.items()})
        kmin, kmax = (list(map(int, c[k][1:])) for k in ("KMIN_MAP", "KMAX_MAP"))
        assert kmin == kmax or not self.marking, "marks by chance"
        self.k = dict(zip(kmin[::2], (1000 * x for x in kmin[1::2])))
        self.read_topology(os.path.join(here, c["TOPOLOGY_FILE"][0]))
        with open(os.path.join(here, c["FLOW_FILE"][0]), encoding="ascii") as f:
            lines = [line.split() for line in f][1:]
        kind = PAIRS[self.cc]
        self.flows = [kind(self, self.nodes[int(w[0])], w) for w in lines if w]
        self.read_paths(paths)

    def set_parameters(self, c):
        self.cc = int(c["CC_MODE"])
        self.marking = c["ENABLE_QCN"] == "1" and self.cc in (DCQCN, DCTCP)  # others do not look
        self.payload = int(c["PACKET_PAYLOAD_SIZE"])
        extra = {HPCC: 42, TIMELY: 8}.get(self.cc, 0)
        self.header, self.ack_size = 48 + extra, max(60, 46 + extra)
        self.buffer = int(c["BUFFER_SIZE"]) * 2**20
        self.has_win, self.global_t = c["HAS_WIN"] == "1", c["GLOBAL_T"] == "1"
        self.var_win, self.fast_react = c["VAR_WIN"] == "1", c["FAST_REACT"] == "1"
        self.ack_first, self.clamp = c["ACK_HIGH_PRIO"] == "1", c["CLAMP_TARGET_RATE"] == "1"
        self.target, self.mi_thresh = float(c["U_TARGET"]), int(c["MI_THRESH"])
        self.int_multi, self.gain = int(c["INT_MULTI"]), float(c["EWMA_GAIN"])
        self.ai, self.hai = read_number(c["RATE_AI"]), read_number(c["RATE_HAI"])
        self.min_rate, self.dctcp_ai = read_number(c["MIN_RATE"]), read_number(c["DCTCP_RATE_AI"])
        self.alpha_interval = int(float(c["ALPHA_RESUME_INTERVAL"]) * 1000)
        self.cut_interval = int(float(c["RATE_DECREASE_INTERVAL"]) * 1000)
        self.grow_interval = int(float(c["RP_TIMER"]) * 1000)
        self.recovery = int(c["FAST_RECOVERY_TIMES"])
        self.stop = int(float(c["SIMULATOR_STOP_TIME"]) * SECOND)

    def read_topology(self, path):
        with open(path, encoding="ascii") as f:
            lines = [line.split() for line in f if line.strip()]
        switches = {int(w) for w in lines[1]}
        self.nodes = [(Switch if i in switches else Host)(self, i) for i in range(int(lines[0][0]))]
        for a, b, rate, delay, *_ in lines[2:]:
            ends = []
            for node in (self.nodes[int(a)], self.nodes[int(b)]):
                port = Port(node, len(node.ports) + 1, read_number(rate), read_number(delay))
                node.ports.append(port)
                ends.append(port)
            ends[0].peer, ends[1].peer = ends[1], ends[0]
        nic = next(n for n in self.nodes if not n.is_switch).ports[0].rate
        for port in (p for n in self.nodes if n.is_switch for p in n.ports):
            port.shift, rate = ALPHA_SHIFT, port.rate
            while rate > nic and port.shift > 0:
                port.shift -= 1
                rate //= 2
        self.pairs = {n.number: self.reach(n) for n in self.nodes if not n.is_switch}
        everything = [x for far in self.pairs.values() for x in far.values()]
        self.max_rtt, self.max_bdp = (max(x[i] for x in everything) for i in (0, 1))

    def reach(self, host):
        """{host: (base RTT in ns, bytes in it, bottleneck)} by the first of the shortest paths."""
        seen, todo, far = {host: (0, 0, 10**15)}, deque([host]), {}
        while todo:
            node = todo.popleft()
            delay, time, rate = seen[node]
            for port in node.ports:
                peer = port.peer.node
                if peer in seen or (not node.is_switch and node is not host):
                    continue
                seen[peer] = (delay + port.delay,
                              time + self.payload * 8 * SECOND // port.rate, min(rate, port.rate))
                todo.append(peer)
        for node, (delay, time, rate) in seen.items():
            if node is not host and not node.is_switch:
                rtt = 2 * delay + time
                far[node.number] = (rtt, rtt * rate // SECOND // 8, rate)
        return far

    def base_rtt(self, src, dst):
        return self.max_rtt if self.global_t else self.pairs[src][dst][0]

    def window(self, src, dst):
        if not self.has_win:
            return 0
        return self.max_bdp if self.global_t else self.pairs[src][dst][1]

    def read_paths(self, path):
        with open(path, encoding="ascii") as f:
            lines = [line.split() for line in f if line.strip()]
        count = {}
        for flow in self.flows:
            key = (flow.src, flow.dst)
            flow.sport = 10000 + count.get(key, 0)
            count[key] = count.get(key, 0) + 1
            flow.ways = {}
            w = next(w for w in lines if (int(w[0]), int(w[1]), int(w[2])) == (*key, flow.sport))
            for kind, way in ((DATA, w[4]), (ACK, w[5])):
                nodes = [self.nodes[int(x)] for x in way.split("-")]
                for a, b in zip(nodes, nodes[1:]):
                    flow.ways[kind, a] = [p for p in a.ports if p.peer.node is b][-1]

    def next_port(self, switch, pkt):
        return pkt.flow.ways[min(pkt.kind, ACK), switch]

    # A start time's event asks for the next; each flow's is asked for twice more at its time.
    def start_next(self, first):
        last = first
        while last < len(self.flows) and self.flows[last].start == self.sim.now:
            self.sim.after(0, self.initialise, self.flows[last])
            last += 1
        if last < len(self.flows):
            self.sim.after(self.flows[last].start - self.sim.now, self.start_next, last)

    def initialise(self, flow):
        self.sim.after(0, flow.host.begin, flow)

    def run(self):
        if self.flows:
            self.sim.after(self.flows[0].start, self.start_next, 0)
        heap = self.sim.heap
        while heap and heap[0][0] < self.stop and len(self.done) < len(self.flows):
            self.sim.run(heap[0][0] + 1)
        self.sim.run(self.sim.now + 100000)  # the last acknowledgements and pause frames
        return self

    def write(self, out):
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "fct.txt"), "w", encoding="ascii") as f:
            for p in self.done:
                rtt, _, rate = self.pairs[p.src][p.dst]
                packets = (p.size - 1) // self.payload + 1
                alone = rtt + (p.size + 48 * packets) * 8 * SECOND // rate
                f.write(f"{ip(p.src):08x} {ip(p.dst):08x} {p.sport} {p.dport} {p.size} {p.start} "
                        f"{p.end - p.start} {alone}\n")
        with open(os.path.join(out, "pfc.txt"), "w", encoding="ascii") as f:
            for row in self.log:
                f.write(" ".join(map(str, row)) + "\n")


def ip(node):
    return 0x0b000001 + (node // 256 << 16) + (node % 256 << 8)


# ---- made-up cases ----

CONFIG = """ENABLE_QCN {qcn}
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topo.txt
FLOW_FILE flow.txt
SIMULATOR_STOP_TIME 2.2
CC_MODE {cc}
ALPHA_RESUME_INTERVAL {alpha}
RATE_DECREASE_INTERVAL {cut}
CLAMP_TARGET_RATE {clamp}
RP_TIMER {grow}
EWMA_GAIN {gain}
FAST_RECOVERY_TIMES 1
RATE_AI {ai}Mb/s
RATE_HAI {hai}Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 615Mb/s
ERROR_RATE_PER_LINK 0
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN {win}
GLOBAL_T {all}
VAR_WIN {var}
FAST_REACT {fast}
U_TARGET 0.95
MI_THRESH {mi}
INT_MULTI {multi}
MULTI_RATE 0
SAMPLE_FEEDBACK 0
RATE_BOUND 1
ACK_HIGH_PRIO {ack}
LINK_DOWN 0 0 0
KMAX_MAP {k}
KMIN_MAP {k}
PMAX_MAP {p}
BUFFER_SIZE {buffer}
"""
# PFC only, DCQCN, HPCC, TIMELY, DCTCP
KINDS = [{"cc": 1, "qcn": 0}, {"cc": 1}, {"cc": 3}, {"cc": 7}, {"cc": 8}]
RATES = [25, 40, 50, 100, 200, 400]


def make_config(rng, kind, rates):
    marks = {r: rng.choice((1, 2, 4)) * r // 5 for r in rates}
    window = kind["cc"] in (HPCC, DCTCP) or rng.random() < 0.3
    slow = rng.random() < 0.5
    return {
        "qcn": 1, "alpha": 50 if slow else rng.choice((1, 2)), "cut": 50 if slow else 4,
        "grow": 55 if slow else rng.choice((20, 300)), "clamp": rng.randrange(2),
        "gain": 0.0625 if kind["cc"] == DCTCP else 0.00390625,
        "ai": rng.choice((10, 50, 100)), "hai": rng.choice((200, 500)),
        "win": int(window), "all": rng.randrange(2), "var": int(window and rng.random() < 0.8),
        "fast": rng.randrange(2), "mi": rng.choice((0, 0, 5)), "multi": rng.choice((1, 4)),
        "ack": rng.randrange(2), "buffer": rng.choice((1, 1, 2, 4, 8)),
        "k": f"{len(marks)} " + " ".join(f"{r}000000000 {k}" for r, k in marks.items()),
        "p": f"{len(marks)} " + " ".join(f"{r}000000000 1" for r in marks), **kind}


def make_topology(rng, rates):
    """A star, leaves and spines, or a chain: [(host or switch, switch, rate, delay)], hosts, switches."""
    shape = rng.choice(("star", "leaf-spine", "chain"))
    n_hosts = rng.randint(3, 12)
    edge = {"star": 1, "leaf-spine": rng.randint(2, 3), "chain": rng.randint(2, 4)}[shape]
    spines = rng.randint(1, 3) if shape == "leaf-spine" else 0
    delays = [1000] if rng.random() < 0.5 else [500, 1000, 1004, 1083, 3000]
    switch = [n_hosts + i for i in range(edge + spines)]
    links = [(h, switch[h % edge], rng.choice(rates), rng.choice(delays)) for h in range(n_hosts)]
    for i in range(edge):
        rate, delay = rng.choice(rates), rng.choice(delays)
        links += [(switch[i], switch[edge + s], rate, delay) for s in range(spines)]
    if shape == "chain":
        links += [(switch[i], switch[i + 1], rng.choice(rates), rng.choice(delays))
                  for i in range(edge - 1)]
    return links, n_hosts, switch


def find_path(rng, links, hosts, src, dst):
    """One of the shortest paths, as the reference writes it."""
    near = {}
    for a, b, *_ in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    steps, todo = {dst: 0}, deque([dst])
    while todo:
        node = todo.popleft()
        for n in near[node] if node >= hosts or node == dst else ():
            if n not in steps:
                steps[n] = steps[node] + 1
                todo.append(n)
    path = [src]
    while path[-1] != dst:
        path.append(rng.choice([n for n in near[path[-1]] if steps.get(n) == steps[path[-1]] - 1]))
    return "-".join(map(str, path))


def make_flows(rng, links, hosts):
    """Lines of flow.txt and of paths.txt."""
    flows, paths, count, time = [], [], {}, 2 * SECOND
    target = rng.randrange(hosts) if rng.random() < 0.5 else None
    classes = (3,) if rng.random() < 0.7 else (3, 4)
    for _ in range(rng.randint(hosts, 3 * hosts)):
        src = rng.randrange(hosts)
        dst = target if target not in (None, src) and rng.random() < 0.7 else rng.randrange(hosts)
        if src == dst:
            continue
        size = rng.choice((1, 900, 1000, 10000, 60000, 150000)) + rng.choice((0, 0, 1, 377))
        time += rng.choice((0, 0, 0, 1000, 2500))
        flows.append(f"{src} {dst} {rng.choice(classes)} 100 {size} "
                     f"{time // SECOND}.{time % SECOND:09d}")
        sport = 10000 + count.get((src, dst), 0)
        count[src, dst] = count.get((src, dst), 0) + 1
        paths.append(f"{src} {dst} {sport} 100 {find_path(rng, links, hosts, src, dst)} "
                     f"{find_path(rng, links, hosts, dst, src)}")
    return flows, paths


def make(seed, folder):
    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    rates = rng.sample([r for r in RATES if r != 40 or kind["cc"] != HPCC], rng.randint(2, 4))
    links, hosts, switches = make_topology(rng, rates)
    flows, paths = make_flows(rng, links, hosts)
    files = {
        "config.txt": CONFIG.format(**make_config(rng, kind, rates)),
        "topo.txt": f"{hosts + len(switches)} {len(switches)} {len(links)}\n"
                    + " ".join(map(str, switches)) + "\n"
                    + "".join(f"{a} {b} {r}Gbps {d}ns 0\n" for a, b, r, d in links),
        "flow.txt": f"{len(flows)}\n" + "\n".join(flows) + "\n",
        "paths.txt": "\n".join(paths) + "\n",
    }
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)
    simulate(os.path.join(folder, "config.txt"), os.path.join(folder, "paths.txt"), folder)


def simulate(config, paths, out):
    Net(config, paths).run().write(out)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--make":
        make(int(sys.argv[2]), sys.argv[3])
    elif len(sys.argv) == 4:
        simulate(*sys.argv[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
