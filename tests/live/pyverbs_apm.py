#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Automatic path migration by the verbs: what may be asked for, what a query says, which events come, and that data
passes in every state. The alternate path is the same way once more: an adapter has one port."""
import pyverbs.enums as e
from pyverbs.device import Context, get_device_list
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr

from pyverbs_traffic import PORT, address, connected, send

ALTERNATE = e.IBV_QP_ALT_PATH | e.IBV_QP_PATH_MIG_STATE


def state(side):
    return side.qp.query(e.IBV_QP_PATH_MIG_STATE)[0].path_mig_state


def both(a, b, expected):
    assert [state(a), state(b)] == [expected, expected], (state(a), state(b))


def ask(side, mig_state):
    attr = QPAttr()
    attr.path_mig_state = mig_state
    side.qp.modify(attr, e.IBV_QP_PATH_MIG_STATE)


def refused(side, mig_state):
    try:
        ask(side, mig_state)
    except PyverbsRDMAError:
        return
    raise AssertionError(f"{mig_state} was taken")


def rearm(ctx, side, timeout=15):
    attr = QPAttr()
    attr.alt_ah_attr = address(ctx, ctx.query_port(PORT))
    attr.alt_port_num = PORT
    attr.alt_timeout = timeout
    attr.path_mig_state = e.IBV_MIG_REARM
    side.qp.modify(attr, ALTERNATE)


def expect(ctx, side, kind):
    event = ctx.get_async_event()
    assert event.event_type == kind, (event.event_type, kind)
    event.ack()


def main():
    ctx = Context(name=get_device_list()[0].name.decode())
    a, b = connected(ctx, e.IBV_QPT_RC)
    both(a, b, e.IBV_MIG_MIGRATED)
    send(a, b, "migrated")
    refused(a, e.IBV_MIG_REARM)  # there is no alternate path
    refused(a, e.IBV_MIG_ARMED)
    print("migrated", flush=True)

    rearm(ctx, a)
    send(a, b, "one is ready")
    assert (state(a), state(b)) == (e.IBV_MIG_REARM, e.IBV_MIG_MIGRATED)
    refused(a, e.IBV_MIG_MIGRATED)
    rearm(ctx, b)
    send(a, b, "the other, too")
    both(a, b, e.IBV_MIG_ARMED)
    refused(a, e.IBV_MIG_REARM)
    attr = a.qp.query(0x1ffff)[0]
    assert (attr.timeout, attr.alt_timeout, attr.alt_port_num) == (14, 15, PORT)
    print("armed", flush=True)

    ask(a, e.IBV_MIG_MIGRATED)
    assert (state(a), state(b)) == (e.IBV_MIG_MIGRATED, e.IBV_MIG_ARMED)
    send(a, b, "by the other path")
    both(a, b, e.IBV_MIG_MIGRATED)
    expect(ctx, b, e.IBV_EVENT_PATH_MIG)
    assert a.qp.query(0x1ffff)[0].timeout == 15
    print("moved", flush=True)

    rearm(ctx, a, 14)
    rearm(ctx, b, 14)
    send(b, a, "and back")
    both(a, b, e.IBV_MIG_ARMED)
    ask(b, e.IBV_MIG_MIGRATED)
    send(a, b, "as before")
    both(a, b, e.IBV_MIG_MIGRATED)
    expect(ctx, a, e.IBV_EVENT_PATH_MIG)
    assert b.qp.query(0x1ffff)[0].timeout == 14
    print("back", flush=True)


main()
