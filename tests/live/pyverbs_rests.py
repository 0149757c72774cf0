#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends datagrams that nobody answers from calls of its own, and waits for a signal.

    pyverbs_rests.py [GID LID NUMBER]

Without a destination it is one: it prints its own.
"""
import signal
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

QKEY = 0x11111111

ctx = Context(name="weft0")
pd, cq = PD(ctx), CQ(ctx, 4)
mr = MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
attr = QPAttr(port_num=1)
attr.qkey = QKEY
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_UD, scq=cq, rcq=cq, cap=QPCap(4, 4, 1, 1)), attr)
if len(sys.argv) > 1:
    gid, lid, number = sys.argv[1:]
    route = GlobalRoute(dgid=GID(gid), sgid_index=0)
    ah = AH(pd, attr=AHAttr(gr=route, is_global=1, port_num=1, dlid=int(lid)))
    for _ in range(3):
        time.sleep(0.2)  # time: meanwhile the adapter's thread goes to sleep
        wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mr.buf, 64, mr.lkey)])
        wr.set_wr_ud(ah, int(number), QKEY)
        qp.post_send(wr)
else:
    print(ctx.query_gid(1, 0), ctx.query_port(1).lid, qp.qp_num, flush=True)
signal.pause()
