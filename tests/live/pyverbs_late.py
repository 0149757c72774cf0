#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that tells its port before it listens there, as qperf does, and a client that connects meanwhile.

	pyverbs_late.py ADDRESS PORT serve    binds, says "bound", and listens once there is a file "go"
	pyverbs_late.py ADDRESS PORT connect  says "connecting" and then whether it is connected

What a client that is rejected says is "rejected"."""
import os
import sys
import time

import pyverbs.cm_enums as ce
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPCap, QPInitAttr


def endpoint(address, port, flags):
    where = {"src": address, "src_service": port} if flags else {"dst": address, "dst_service": port}
    info = AddrInfo(port_space=ce.RDMA_PS_TCP, flags=flags, **where)
    return CMID(creator=info, qp_init_attr=QPInitAttr(cap=QPCap(max_recv_wr=1)))


def serve(address, port):
    listener = endpoint(address, port, ce.RAI_PASSIVE)
    print("bound", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.02)  # time: between two looks
    listener.listen()
    print("listens", flush=True)
    child = listener.get_request()
    child.accept()
    print("connected", flush=True)


def connect(address, port):
    cmid = endpoint(address, port, 0)
    print("connecting", flush=True)
    try:
        cmid.connect()
    except PyverbsRDMAError as error:
        print("rejected" if "refused" in str(error) else error, flush=True)
        sys.exit(1)
    print("connected", flush=True)


{"serve": serve, "connect": connect}[sys.argv[3]](sys.argv[1], sys.argv[2])
