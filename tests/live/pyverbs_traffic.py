#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moves data between queue pairs with pyverbs, and compares it."""
import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PORT = 1
SIZE = 5000
ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
          e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC)


class Side:
    """One end: memory, a completion queue with events, a queue pair."""

    def __init__(self, ctx, kind, srq=False):
        self.ctx = ctx
        self.pd = PD(ctx)
        self.mr = MR(self.pd, 2 * SIZE, ACCESS)
        self.channel = CompChannel(ctx)
        self.cq = CQ(ctx, 64, channel=self.channel)
        self.srq = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=16))) if srq else None
        init = QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, srq=self.srq,
                          cap=QPCap(16, 16, 1, 1), sq_sig_all=1)
        self.qp = QP(self.pd, init)
        self.cq.req_notify()

    def attr(self, other):
        """What it takes to reach the other end."""
        port = self.ctx.query_port(PORT)
        attr = QPAttr(port_num=PORT)
        attr.qp_access_flags = ACCESS
        attr.dest_qp_num = other.qp.qp_num
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = 14, 7, 7, 12
        attr.qkey = 0x11111111
        attr.ah_attr = address(self.ctx, port)
        return attr

    def sge(self, offset=0, length=SIZE):
        return SGE(self.mr.buf + offset, length, self.mr.lkey)

    def recv(self):
        wr = RecvWR(num_sge=1, sg=[self.sge(0, 2 * SIZE)])
        (self.srq or self.qp).post_recv(wr)

    def wait(self):
        """One completion, by an event."""
        while True:
            n, wcs = self.cq.poll(1)
            if n == 1:
                assert wcs[0].status == e.IBV_WC_SUCCESS, wcs[0]
                return wcs[0]
            self.channel.get_cq_event(self.cq)
            self.cq.ack_events(1)
            self.cq.req_notify()


def address(ctx, port):
    """Of this host, which both ends are on."""
    if port.link_layer == e.IBV_LINK_LAYER_ETHERNET:
        route = GlobalRoute(dgid=ctx.query_gid(PORT, 1), sgid_index=1)
        return AHAttr(gr=route, is_global=1, port_num=PORT)
    return AHAttr(dlid=port.lid, is_global=0, port_num=PORT)


def connected(ctx, kind, srq=False):
    a, b = Side(ctx, kind, srq), Side(ctx, kind, srq)
    a.qp.to_rts(a.attr(b))
    b.qp.to_rts(b.attr(a))
    return a, b


def send(a, b, text):
    b.recv()
    a.mr.write(text, len(text))
    a.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[a.sge(0, len(text))]))
    assert a.wait().opcode == e.IBV_WC_SEND
    wc = b.wait()
    assert wc.byte_len == len(text)
    assert b.mr.read(len(text), 0) == text.encode()


def one_sided(a, b):
    text = "w" * SIZE
    a.mr.write(text, SIZE)
    wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[a.sge()])
    wr.set_wr_rdma(b.mr.rkey, b.mr.buf + SIZE)
    a.qp.post_send(wr)
    a.wait()
    assert b.mr.read(SIZE, SIZE) == text.encode()
    b.mr.write("r" * SIZE, SIZE)
    wr = SendWR(opcode=e.IBV_WR_RDMA_READ, num_sge=1, sg=[a.sge()])
    wr.set_wr_rdma(b.mr.rkey, b.mr.buf)
    a.qp.post_send(wr)
    a.wait()
    assert a.mr.read(SIZE, 0) == b"r" * SIZE


def datagrams(ctx):
    a, b = Side(ctx, e.IBV_QPT_UD), Side(ctx, e.IBV_QPT_UD)
    for side in (a, b):
        side.qp.to_rts(side.attr(side))
    text = "d" * 700
    b.recv()
    a.mr.write(text, len(text))
    wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[a.sge(0, len(text))])
    wr.set_wr_ud(AH(a.pd, attr=address(ctx, ctx.query_port(PORT))), b.qp.qp_num, 0x11111111)
    a.qp.post_send(wr)
    a.wait()
    wc = b.wait()
    assert wc.byte_len == 40 + len(text) and wc.src_qp == a.qp.qp_num
    assert b.mr.read(len(text), 40) == text.encode()


def main():
    assert [d.name for d in get_device_list()] == [b"weft0"]
    ctx = Context(name="weft0")
    for kind in (e.IBV_QPT_RC, e.IBV_QPT_UC):
        a, b = connected(ctx, kind)
        for i in range(20):
            send(a, b, chr(97 + i) * (1 + i * 250))
            send(b, a, chr(65 + i) * (1 + i * 250))
    one_sided(*connected(ctx, e.IBV_QPT_RC))
    a, b = connected(ctx, e.IBV_QPT_RC, srq=True)
    send(a, b, "shared")
    send(b, a, "receive queue")
    datagrams(ctx)


if __name__ == "__main__":
    main()
