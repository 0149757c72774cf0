/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smnet.h - a little network for tests of subnet managers: an agent (mgmt/sma.h) on every node of a
 * graph, packets that go hop by hop in virtual time, links and nodes that fail, and managers on any
 * of the nodes. There is no fabric in it: a hop takes a fixed time, and nothing waits for anything.
 */
#ifndef WF_TESTS_SMNET_H
#define WF_TESTS_SMNET_H

#include "smnet_topo.h"

#endif
