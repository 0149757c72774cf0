#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SENDs from one host to another by a path of one's own choice.

    pyverbs_path.py serve FOLDER [PKEY_INDEX]
    pyverbs_path.py send FOLDER PATH_BITS [PKEY_INDEX]
    pyverbs_path.py nowhere LID

Two programs tell each other who they are by files in FOLDER. `send` sends 15 messages to the LID that is
PATH_BITS above the server's, and prints the status of the last one that was tried; `serve` takes them in and ends when it
is told by a file. `nowhere` sends one to a LID that is nobody's.
"""
import os
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr
from pyverbs.device import Context, get_device_list
from pyverbs.wr import SendWR

from pyverbs_traffic import ACCESS, PORT, Side

MESSAGES = 15
STATUS = {v: k for k, v in vars(e).items() if k.startswith('IBV_WC_') and isinstance(v, int)}


def put(path, text):
    with open(path + '.new', 'w', encoding='ascii') as f:
        f.write(text)
    os.rename(path + '.new', path)


def get(path):
    while not os.path.exists(path):
        time.sleep(0.01)  # time: between two looks
    with open(path, encoding='ascii') as f:
        return [int(word) for word in f.read().split()]


def connect(side, lid, qpn, pkey_index):
    attr = side.attr(side)
    attr.pkey_index = pkey_index
    attr.dest_qp_num = qpn
    attr.timeout, attr.retry_cnt = 12, 3
    attr.ah_attr = AHAttr(dlid=lid, port_num=PORT, is_global=0)
    side.qp.to_rts(attr)


def poll(side):
    while True:
        n, wcs = side.cq.poll(1)
        if n == 1:
            return wcs[0].status


def send(side):
    side.qp.post_send(SendWR(num_sge=1, sg=[side.sge(0, 1000)]))
    return poll(side)


def main():
    ctx = Context(name=get_device_list()[0].name.decode())
    side = Side(ctx, e.IBV_QPT_RC)
    lid = ctx.query_port(PORT).lid
    kind, args = sys.argv[1], sys.argv[2:]
    if kind == 'nowhere':
        connect(side, int(args[0], 0), side.qp.qp_num, 0)
        print(STATUS[send(side)])
        return
    folder, bits = args[0], int(args[1]) if kind == 'send' else 0
    index = int(args[-1]) if len(args) == (3 if kind == 'send' else 2) else 0
    put(os.path.join(folder, kind), f'{lid} {side.qp.qp_num}')
    peer, qpn = get(os.path.join(folder, 'serve' if kind == 'send' else 'send'))
    connect(side, peer + bits, qpn, index)
    for _ in range(16 if kind == 'serve' else 0):
        side.recv()
    put(os.path.join(folder, kind + '.ready'), '0')
    if kind == 'serve':
        get(os.path.join(folder, 'done'))
        return
    get(os.path.join(folder, 'serve.ready'))
    status = e.IBV_WC_SUCCESS
    for _ in range(MESSAGES):
        status = send(side)
        if status != e.IBV_WC_SUCCESS:
            break
    print(STATUS[status])
    put(os.path.join(folder, 'done'), '0')


main()
