#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registered memory that is unmapped: an error of the work request, not the end of the program."""
import ctypes
import mmap
import signal
import subprocess
import sys

import pyverbs.enums as e
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.wr import SGE, RecvWR, SendWR

from pyverbs_traffic import ACCESS, SIZE, connected

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGES = 4 * mmap.PAGESIZE


def some_memory():
    at = libc.mmap(None, PAGES, mmap.PROT_READ | mmap.PROT_WRITE,
                   mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert at != ctypes.c_void_p(-1).value
    return at


def status(side, sleep):
    """Of the next completion; the program polls for it, or sleeps and the adapter's thread does the work."""
    while True:
        n, wcs = side.cq.poll(1)
        if n == 1:
            return wcs[0].status
        if sleep:
            side.channel.get_cq_event(side.cq)
            side.cq.ack_events(1)
            side.cq.req_notify()


def gone(ctx, on_demand):
    """A pair of queue pairs; b has a region whose memory is not there any more."""
    a, b = connected(ctx, e.IBV_QPT_RC)
    at = some_memory()
    mr = MR(b.pd, PAGES, ACCESS | (e.IBV_ACCESS_ON_DEMAND if on_demand else 0), address=at)
    assert libc.munmap(at, PAGES) == 0
    return a, b, mr, at


def one_sided(ctx, opcode, on_demand):
    a, b, mr, at = gone(ctx, on_demand)
    wr = SendWR(opcode=opcode, num_sge=1, sg=[a.sge()])
    wr.set_wr_rdma(mr.rkey, at)
    a.qp.post_send(wr)
    assert status(a, on_demand) == e.IBV_WC_REM_ACCESS_ERR
    mr.close()


def received(ctx, on_demand):
    a, b, mr, at = gone(ctx, on_demand)
    b.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(at, PAGES, mr.lkey)]))
    a.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[a.sge()]))
    assert status(b, on_demand) == e.IBV_WC_LOC_PROT_ERR
    assert status(a, on_demand) == e.IBV_WC_REM_OP_ERR
    mr.close()


def sent(ctx, on_demand):
    a, b, mr, at = gone(ctx, on_demand)
    b.qp.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(at, SIZE, mr.lkey)]))
    assert status(b, on_demand) == e.IBV_WC_LOC_PROT_ERR
    mr.close()


def comes_back(ctx):
    """On-demand memory may be registered before it is there."""
    a, b, mr, at = gone(ctx, True)
    again = libc.mmap(at, PAGES, mmap.PROT_READ | mmap.PROT_WRITE,
                      mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert again == at
    a.mr.write("x" * SIZE, SIZE)
    wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[a.sge()])
    wr.set_wr_rdma(mr.rkey, at)
    a.qp.post_send(wr)
    assert status(a, True) == e.IBV_WC_SUCCESS
    assert ctypes.string_at(at, SIZE) == b"x" * SIZE
    mr.close()


def main():
    ctx = Context(name="weft0")
    if sys.argv[1:] == ["crash"]:
        ctypes.string_at(8, 8)
    for on_demand in (False, True):
        one_sided(ctx, e.IBV_WR_RDMA_WRITE, on_demand)
        one_sided(ctx, e.IBV_WR_RDMA_READ, on_demand)
        received(ctx, on_demand)
        sent(ctx, on_demand)
    comes_back(ctx)
    # A fault of the program's own is one, as ever.
    crash = subprocess.run([sys.executable, "-B", __file__, "crash"], stderr=subprocess.PIPE)
    assert crash.returncode == -signal.SIGSEGV or b"SEGV" in crash.stderr, crash


if __name__ == "__main__":
    main()
