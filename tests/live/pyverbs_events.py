#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Provokes asynchronous events, and expects each. The port's are provoked by whoever runs it: it says
"port" and then waits for one down and one up."""
import sys

import pyverbs.enums as e
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SrqAttr
from pyverbs.wr import SGE, RecvWR, SendWR

from pyverbs_traffic import ACCESS, PORT, Side, connected


def expect(ctx, *kinds):
    """The next events, in this order."""
    for kind in kinds:
        event = ctx.get_async_event()
        assert event.event_type == kind, (event.event_type, kind)
        event.ack()


def write(a, addr, rkey):
    wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[a.sge(0, 8)])
    wr.set_wr_rdma(rkey, addr)
    a.qp.post_send(wr)


def status(side):
    while True:
        n, wcs = side.cq.poll(1)
        if n == 1:
            return wcs[0].status


def access_error(ctx):
    a, b = connected(ctx, e.IBV_QPT_RC)
    write(a, b.mr.buf, b.mr.rkey + 0x100)
    assert status(a) == e.IBV_WC_REM_ACCESS_ERR
    expect(ctx, e.IBV_EVENT_QP_ACCESS_ERR)


def established(ctx):
    a, b = Side(ctx, e.IBV_QPT_RC), Side(ctx, e.IBV_QPT_RC)
    a.qp.to_rts(a.attr(b))
    b.qp.to_rtr(b.attr(a))
    write(a, b.mr.buf, b.mr.rkey)
    assert status(a) == e.IBV_WC_SUCCESS
    expect(ctx, e.IBV_EVENT_COMM_EST)


def shared_queue(ctx):
    a, b = connected(ctx, e.IBV_QPT_RC, srq=True)
    b.recv()
    b.recv()
    b.srq.modify(SrqAttr(srq_limit=2), e.IBV_SRQ_LIMIT)
    a.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[a.sge(0, 8)]))
    assert status(a) == e.IBV_WC_SUCCESS
    expect(ctx, e.IBV_EVENT_SRQ_LIMIT_REACHED)
    b.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    expect(ctx, e.IBV_EVENT_QP_LAST_WQE_REACHED)


def overflow(ctx):
    a, b = connected(ctx, e.IBV_QPT_RC)
    small = CQ(ctx, 1)
    pd = PD(ctx)
    mr = MR(pd, 64, ACCESS)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=small, rcq=small, cap=QPCap(16, 16, 1, 1),
                           sq_sig_all=1))
    qp.to_rts(a.attr(b))
    qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    for _ in range(4):
        qp.post_recv(RecvWR(num_sge=1, sg=[SGE(mr.buf, 64, mr.lkey)]))
    expect(ctx, e.IBV_EVENT_CQ_ERR)


def main():
    ctx = Context(name="weft0")
    access_error(ctx)
    established(ctx)
    shared_queue(ctx)
    overflow(ctx)
    print("port", flush=True)
    expect(ctx, e.IBV_EVENT_PORT_ERR)
    assert ctx.query_port(PORT).state == e.IBV_PORT_DOWN
    print("down", flush=True)
    expect(ctx, e.IBV_EVENT_PORT_ACTIVE)
    assert ctx.query_port(PORT).state == e.IBV_PORT_ACTIVE
    print("up", flush=True)


if __name__ == "__main__":
    sys.exit(main())
