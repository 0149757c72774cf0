/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_rows.h - the table of checks: X(id, "name", grade, what is checked, its source, section of
 * docs/incidents.md, cure).
 */
#ifndef WF_NETCONF_AUDIT_ROWS_H
#define WF_NETCONF_AUDIT_ROWS_H

#define WF_AUDIT_ROWS(X)                                                                           \
	X(STOCK_MAP, "stock-map", WF_AUDIT_ERROR,                                                  \
	  "SONiC's stock DSCP map, which has RDMA's usual DSCP in a lossy class",                  \
	  "sonic-buildimage qos_config.j2: 3 to 3, 4 to 4, 26 to 1", "dscp-26-on-a-stock-map",     \
	  "map the DSCP that adapters mark to the lossless class on every switch")                 \
	X(DSCP_LOSSY, "dscp-lossy", WF_AUDIT_ERROR,                                                \
	  "RDMA's DSCP leads to a class that PFC protects, on every port",                         \
	  "DSCP to class to group to PFC, one by one", "dscp-26-on-a-stock-map",                   \
	  "map the DSCP to the class that PFC protects")                                           \
	X(DSCP_DIFFERS, "dscp-differs", WF_AUDIT_ERROR,                                            \
	  "switches agree on which DSCPs are lossless", "one lossless class everywhere",           \
	  "dscp-26-on-a-stock-map", "give all switches the same map")                              \
	X(NO_MAP, "no-map", WF_AUDIT_ERROR, "a port with PFC has a map of DSCPs or PCPs",          \
	  "without a map all packets are in class 0", "dscp-26-on-a-stock-map",                    \
	  "give the port the map that the others have")                                            \
	X(TRUST, "trust", WF_AUDIT_ERROR,                                                          \
	  "a port looks at the header in which adapters mark RDMA",                                \
	  "a routed packet has no PCP that lasts", "dscp-26-on-a-stock-map", "trust DSCP")         \
	X(PFC_ONE_SIDED, "pfc-one-sided", WF_AUDIT_ERROR, "both ends of a link have the same PFC", \
	  "IEEE 802.1Qbb: who is not enabled ignores the pause",                                   \
	  "an-adapter-that-does-not-obey-pauses",                                                  \
	  "enable PFC for the same priorities on both ends")                                       \
	X(PFC_NOT_ON, "pfc-not-on", WF_AUDIT_ERROR,                                                \
	  "PFC is on where lossless classes are configured", "EOS: off unless said; NX-OS: auto",  \
	  "an-adapter-that-does-not-obey-pauses", "turn PFC on at the interface")                  \
	X(PFC_NOTHING, "pfc-nothing", WF_AUDIT_WARNING, "PFC that is on has a priority",           \
	  "PFC mode on, and no class that is no-drop", "an-adapter-that-does-not-obey-pauses",     \
	  "name the lossless priority, or turn PFC off")                                           \
	X(NO_PG, "no-lossless-pg", WF_AUDIT_ERROR,                                                 \
	  "each priority with PFC has a group with a lossless profile",                            \
	  "SONiC BUFFER_PG: a group without xoff asks nobody to stop",                             \
	  "headroom-for-another-cable",                                                            \
	  "give the group the lossless profile of the port's speed and cable")                     \
	X(PG_AT_RUN_TIME, "pg-at-run-time", WF_AUDIT_WARNING,                                      \
	  "a file has lossless groups, which the buffer manager makes at run time",                \
	  "SONiC's traditional model: buffermgrd adds them when a port has speed and cable",       \
	  "headroom-for-another-cable",                                                            \
	  "audit the running configuration, or look that the groups are there")                    \
	X(TC_PG, "tc-pg", WF_AUDIT_ERROR,                                                          \
	  "the class that PFC stops comes in by the group that asks for it",                       \
	  "TC_TO_PRIORITY_GROUP_MAP against PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",                   \
	  "dscp-26-on-a-stock-map", "map the lossless class to the group of its priority")         \
	X(PFC_QUEUE, "pfc-queue", WF_AUDIT_ERROR, "a pause stops the queue of the lossless class", \
	  "MAP_PFC_PRIORITY_TO_QUEUE against TC_TO_QUEUE_MAP",                                     \
	  "an-adapter-that-does-not-obey-pauses", "map the priority to the queue of its class")    \
	X(MIXED_CLASS, "mixed-class", WF_AUDIT_WARNING,                                            \
	  "no lossy class shares a queue or group with a lossless one",                            \
	  "what is lossy is stopped, and what is lossless drops with it",                          \
	  "congestion-that-spreads", "give lossy classes queues and groups of their own")          \
	X(PFC_COS, "pfc-cos", WF_AUDIT_ERROR, "NX-OS: pause pfc-cos is the class's own number",    \
	  "Cisco: peers stop the priority, not the qos-group",                                     \
	  "an-adapter-that-does-not-obey-pauses",                                                  \
	  "pause pfc-cos with the number of the qos-group")                                        \
	X(PAUSE_PATH, "pause-path", WF_AUDIT_ERROR,                                                \
	  "a pause stops, at the other end of the link, the packets that it is sent for",          \
	  "class and priority of a DSCP at both ends", "an-adapter-that-does-not-obey-pauses",     \
	  "give RDMA the same priority at both ends")                                              \
	X(HEADROOM, "headroom", WF_AUDIT_ERROR, "headroom holds what comes until a pause acts",    \
	  "2 * cable * speed / 198 m/us + 2 frames + 0.4 * 802.3 31B.3.7",                         \
	  "headroom-for-another-cable", "use the profile that the vendor has for speed and cable") \
	X(SHARED_HEADROOM, "shared-headroom", WF_AUDIT_ERROR,                                      \
	  "profiles without headroom of their own have a shared pool",                             \
	  "SONiC: size = xon needs xoff in ingress_lossless_pool", "headroom-for-another-cable",   \
	  "give the pool its xoff, or the profile its size")                                       \
	X(PROFILE_CABLE, "profile-cable", WF_AUDIT_ERROR,                                          \
	  "a port's profile is for its cable and speed",                                           \
	  "SONiC: pg_lossless_<speed>_<cable>_profile", "headroom-for-another-cable",              \
	  "use the profile of the port's own speed and cable")                                     \
	X(NO_CABLE, "no-cable-length", WF_AUDIT_ERROR, "a lossless port has a length of cable",    \
	  "SONiC: 0m gives no lossless group", "headroom-for-another-cable",                       \
	  "say how long the cable is")                                                             \
	X(CABLE_DIFFERS, "cable-differs", WF_AUDIT_ERROR,                                          \
	  "both ends of a link, and the topology, say the same length of cable",                   \
	  "a cable has one length", "headroom-for-another-cable",                                  \
	  "say the cable's true length on both ends")                                              \
	X(THRESHOLD_MODE, "threshold-mode", WF_AUDIT_WARNING,                                      \
	  "a profile's threshold is of the kind that its pool has",                                \
	  "SONiC: dynamic_th needs a pool with mode dynamic", "one-leaf-with-another-alpha",       \
	  "static_th in static pools, dynamic_th in dynamic ones")                                 \
	X(QUEUE_LOSSY, "queue-lossy", WF_AUDIT_ERROR,                                              \
	  "a lossless queue has a lossless profile where packets leave",                           \
	  "SONiC BUFFER_QUEUE: egress_lossy_profile drops", "dscp-26-on-a-stock-map",              \
	  "give the queue the lossless egress profile")                                            \
	X(UNUSED_PG, "unused-pg", WF_AUDIT_NOTE, "a port with lossless groups uses them",          \
	  "the buffer is reserved and nobody pauses", "",                                          \
	  "remove the groups, or give the port its maps and PFC")                                  \
	X(ECN_OFF, "ecn-off", WF_AUDIT_WARNING, "lossless queues mark",                            \
	  "without marks nobody slows down, and PFC does it all", "ecn-off-on-one-switch",         \
	  "give the queue an ECN profile")                                                         \
	X(ECN_DROPS, "ecn-drops", WF_AUDIT_ERROR,                                                  \
	  "a lossless queue marks and does not drop early",                                        \
	  "WRED without ECN drops what PFC is to protect", "ecn-off-on-one-switch",                \
	  "turn ECN on in the profile, or take WRED off the queue")                                \
	X(ECN_LATE, "ecn-late", WF_AUDIT_ERROR, "marks begin before pauses do",                    \
	  "min < alpha / (1 + alpha) * pool, a group alone in it", "pfc-before-ecn",               \
	  "lower the threshold of ECN, or raise alpha")                                            \
	X(ECN_RANGE, "ecn-range", WF_AUDIT_ERROR, "ECN's thresholds can mark",                     \
	  "min <= max, and a probability above 0", "ecn-off-on-one-switch", "put them in order")   \
	X(CNP_IN_DATA, "cnp-in-data", WF_AUDIT_WARNING, "CNPs do not wait behind data",            \
	  "CNPs in the lossless class come when it is too late", "cnps-in-the-datas-class",        \
	  "give CNPs a strict queue of their own")                                                 \
	X(CNP_NOT_STRICT, "cnp-not-strict", WF_AUDIT_WARNING, "CNPs leave by a strict queue",      \
	  "vendors' RoCE guides: CNP in strict priority", "cnps-in-the-datas-class",               \
	  "make the queue of CNPs strict")                                                         \
	X(WD_MISSING, "watchdog-missing", WF_AUDIT_WARNING, "a switch with PFC has a watchdog",    \
	  "one adapter that pauses for ever stops the network", "a-pause-storm",                   \
	  "turn the PFC watchdog on")                                                              \
	X(WD_PORT, "watchdog-port", WF_AUDIT_WARNING, "every port with PFC is watched",            \
	  "a storm comes in where nobody looks", "a-pause-storm", "watch this port, too")          \
	X(WD_BLIND, "watchdog-blind", WF_AUDIT_ERROR,                                              \
	  "the watchdog watches the priorities that have PFC",                                     \
	  "SONiC pfcwdorch: pfcwd_sw_enable; EOS: queues with guaranteed bandwidth",               \
	  "a-pause-storm", "let it watch the lossless priorities")                                 \
	X(WD_TIMES, "watchdog-times", WF_AUDIT_ERROR,                                              \
	  "the watchdog's times are longer than a poll",                                           \
	  "SONiC yang: both >= POLL_INTERVAL; EOS: poll <= half of them", "a-pause-storm",         \
	  "raise the times, or poll more often")                                                   \
	X(WD_RESTORE, "watchdog-restore", WF_AUDIT_WARNING, "the watchdog says when it is over",   \
	  "SONiC: without it the command line takes twice the detection", "a-pause-storm",         \
	  "say a time of restoration")                                                             \
	X(WD_ACTION, "watchdog-action", WF_AUDIT_WARNING, "the watchdog stops a storm",            \
	  "forward ignores pauses and alert only tells", "a-pause-storm", "let it drop")           \
	X(MTU, "mtu", WF_AUDIT_ERROR, "a link passes what the others pass",                        \
	  "RoCE with an MTU of 4096 needs about 4,200 bytes", "an-mtu-in-the-middle",              \
	  "give all ports the same MTU")                                                           \
	X(SPEED, "speed", WF_AUDIT_ERROR, "both ends of a link have one speed", "IEEE 802.3",      \
	  "links-that-came-up-slow", "set both ends to the same speed")                            \
	X(FEC, "fec", WF_AUDIT_ERROR, "both ends of a link have one FEC", "IEEE 802.3",            \
	  "a-marginal-link", "set both ends to the same FEC")                                      \
	X(NIC_TRUST, "adapter-trust", WF_AUDIT_ERROR,                                              \
	  "an adapter sorts by DSCP where switches do",                                            \
	  "mlnx_qos --trust dscp; it is pcp unless said", "an-adapter-that-does-not-obey-pauses",  \
	  "mlnx_qos -i INTERFACE --trust dscp")                                                    \
	X(NIC_PRIORITY, "adapter-priority", WF_AUDIT_ERROR,                                        \
	  "PFC of an adapter is on the priority of RDMA's DSCP",                                   \
	  "dscp2prio, which is DSCP / 8 unless said", "an-adapter-that-does-not-obey-pauses",      \
	  "mlnx_qos --pfc with the priority of RDMA's DSCP")                                       \
	X(NIC_CLASS, "adapter-class", WF_AUDIT_ERROR, "an adapter marks RDMA at all",              \
	  "NCCL_IB_TC, cma_roce_tos: without them DSCP 0", "a-job-that-forgets-its-traffic-class", \
	  "cma_roce_tos -t, NCCL_IB_TC or tc/1/traffic_class with four times the DSCP")            \
	X(NIC_DCQCN, "adapter-dcqcn", WF_AUDIT_WARNING,                                            \
	  "an adapter has DCQCN on for RDMA's priority",                                           \
	  "ecn/roce_np/enable, ecn/roce_rp/enable, ROCE_CC_PRIO_MASK", "dcqcn-off-on-one-adapter", \
	  "turn both on for that priority")                                                        \
	X(NIC_DIFFERS, "adapter-differs", WF_AUDIT_WARNING, "adapters are set alike",              \
	  "what most have", "dcqcn-off-on-one-adapter", "set it as the others are")                \
	X(DIFFERS, "switch-differs", WF_AUDIT_WARNING, "switches of one kind are set alike",       \
	  "what most of the same role and hardware have", "one-leaf-with-another-alpha",           \
	  "set it as the others are")                                                              \
	X(HASH, "hash-seed", WF_AUDIT_WARNING, "tiers of switches hash differently",               \
	  "the same seed and function twice: what came one way goes on one way",                   \
	  "hashes-that-agree", "give each tier a seed of its own")                                 \
	X(VALLEY, "valley", WF_AUDIT_NOTE, "routing has no way down and up again",                 \
	  "RFC 7938: one AS number for a tier of spines", "a-failure-a-valley-a-deadlock",         \
	  "give the spines one AS number, or filter routes that come from above")                  \
	X(UNDEFINED, "undefined", WF_AUDIT_ERROR, "what is referred to is there",                  \
	  "a name that nothing defines", "", "define it, or name what is there")                   \
	X(UNKNOWN_PORT, "unknown-port", WF_AUDIT_WARNING, "what is said of a port finds one",      \
	  "a port that PORT has not", "", "name a port that is there")                             \
	X(GROUP, "group", WF_AUDIT_ERROR,                                                          \
	  "groups, profiles and policies that are named are there",                                \
	  "a list or an interface names what nothing defines",                                     \
	  "an-adapter-that-does-not-obey-pauses", "name what is defined")                          \
	X(COMMAND, "no-such-command", WF_AUDIT_WARNING, "lines are of the system that reads them", \
	  "guides that mix vendors", "", "say it in the system's own words")                       \
	X(VALUE, "value", WF_AUDIT_ERROR, "values are allowed", "the vendor's own schema", "",     \
	  "a value in its range")                                                                  \
	X(AGAIN, "twice", WF_AUDIT_WARNING, "things are said once", "files that contradict", "",   \
	  "keep one of them")

#endif
