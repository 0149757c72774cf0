#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/audit_cases.py DIR [WEFT | SWITCHES PORTS] - configurations of small networks, clean and with one mistake each.

Each network has two leaves, two spines and four hosts; a case is a folder below DIR. With WEFT, the
program, `weft audit` looks at each: what is planted must be found at its device, and nothing else.
What a mistake brings along by itself is named beside it ("also"). With two numbers, one large network of SONiC's:
every fourth switch is a spine, the last port of the first leaf has no PFC.
"""
import copy
import json
import os
import subprocess
import sys

LEAVES, SPINES, HOSTS = ["leaf1", "leaf2"], ["spine1", "spine2"], ["gpu1", "gpu2", "gpu3", "gpu4"]


def links(port):
    """(device, port, device, port, metres) of all links; port(device, n) names ports."""
    out = []
    for h, host in enumerate(HOSTS):
        leaf = LEAVES[h // 2]
        out.append((leaf, port(leaf, h % 2), host, "eth0", 5))
    for i, leaf in enumerate(LEAVES):
        for k, spine in enumerate(SPINES):
            out.append((leaf, port(leaf, 2 + k), spine, port(spine, i), 40))
    return out


def n_ports(device):
    return 2 if device in SPINES else 4


# ---- adapters ----

MLNX_QOS = """DCBX mode: OS controlled
Priority trust state: {trust}
{map}default priority:
Receive buffer size (bytes): 19872,220896,0,0,0,0,0,0,max_buffer_size=4151520
Cable len: 7
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     {pfc}
	buffer      0   0   0   1   0   0   0   0
"""


def adapter(pfc=3, trust="dscp", tos=106, np=1, rp=1, cnp=48, mask=255, ai=5):
    dscps = "dscp2prio mapping:\n" + "".join(
        "\tprio:%d dscp:%s,\n" % (p, ",".join("%02d" % d for d in range(8 * p + 7, 8 * p - 1, -1))) for p in range(8))
    text = "$ mlnx_qos -i eth0\n" + MLNX_QOS.format(
        trust=trust, map=dscps if trust == "dscp" else "", pfc="   ".join("1" if p == pfc else "0" for p in range(8)))
    for tc in range(8):
        text += "tc: %d ratelimit: unlimited, tsa: %s\n\t priority:  %d\n" % (tc, "strict" if tc == 6 else "ets", tc)
    text += "$ cma_roce_tos -d mlx5_0\n%d\n" % tos
    text += "/sys/class/net/eth0/ecn/roce_np/enable/3:%d\n/sys/class/net/eth0/ecn/roce_rp/enable/3:%d\n" % (np, rp)
    text += "/sys/class/net/eth0/ecn/roce_np/cnp_dscp:%d\n" % cnp
    text += "Configurations:                              Next Boot\n"
    text += "         ROCE_CC_PRIO_MASK_P1                %d\n         RPG_AI_RATE_P1                      %d\n" % (mask, ai)
    return text


# ---- SONiC ----

def sonic_port(device, n):
    return "Ethernet%d" % (8 * n)


def sonic(device, link_list, model="traditional", shared=False, stock=False, role=None):
    ports = [sonic_port(device, n) for n in range(n_ports(device))]
    cable = {}
    for a, pa, b, pb, m in link_list:
        if a == device:
            cable[pa] = m
        if b == device:
            cable[pb] = m
    prios = "3,4" if stock else "3"
    tcs = {str(i): "1" for i in range(64)}
    if stock:
        tcs.update({"3": "3", "4": "4", "5": "2", "8": "0", "46": "5", "48": "6"})
    else:
        tcs = {str(i): "0" for i in range(64)}
        tcs.update({"26": "3", "48": "6"})
    lossless = {"pool": "ingress_lossless_pool", "xon": "37888", "dynamic_th": "-3"}
    profiles = {}
    for m, xoff in ((5, 48128), (40, 76800)):
        size = 37888 if shared else 37888 + xoff
        profiles["pg_lossless_400000_%dm_profile" % m] = dict(lossless, size=str(size), xoff=str(xoff))
    profiles["ingress_lossy_profile"] = {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"}
    profiles["egress_lossless_profile"] = {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"}
    profiles["egress_lossy_profile"] = {"pool": "egress_lossy_pool", "size": "1518", "dynamic_th": "3"}
    db = {
        "DEVICE_METADATA": {"localhost": {"hostname": device, "hwsku": "Mellanox-SN5600-C256S1",
                                          "platform": "x86_64-nvidia_sn5600-r0", "buffer_model": model,
                                          "type": role or ("SpineRouter" if device in SPINES else "LeafRouter"),
                                          "bgp_asn": "65100" if device in SPINES else "6520" + device[-1]}},
        "PORT": {p: {"alias": "etp%d" % i, "lanes": "%d,%d,%d,%d" % tuple(range(4 * i, 4 * i + 4)), "speed": "400000",
                     "mtu": "9216", "fec": "rs", "admin_status": "up", "index": str(i)} for i, p in enumerate(ports)},
        "CABLE_LENGTH": {"AZURE": {p: "%dm" % cable[p] for p in ports}},
        "DSCP_TO_TC_MAP": {"AZURE": tcs},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(t): str(t) if t in (3, 4) and (stock or t == 3) else
                                               "7" if t == 7 else "0" for t in range(8)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(t): str(t) for t in range(8)}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(t): str(t) for t in range(8)}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "3", "4": "4"} if stock else {"3": "3"}},
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}},
        "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"},
                      "scheduler.cnp": {"type": "STRICT"}},
        "WRED_PROFILE": {"ROCE": {"ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": "1048576",
                                  "green_max_threshold": "2097152", "green_drop_probability": "5"}},
        "QUEUE": {}, "BUFFER_PG": {}, "BUFFER_QUEUE": {},
        "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "132217856",
                                                  "xoff": "19994880" if shared else "0"},
                        "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "158229504"},
                        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "132217856"}},
        "BUFFER_PROFILE": profiles,
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}},
        "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65000", "name": "x"}},
    }
    for p in ports:
        db["PORT_QOS_MAP"][p] = {"dscp_to_tc_map": "AZURE", "tc_to_pg_map": "AZURE", "tc_to_queue_map": "AZURE",
                                 "pfc_to_queue_map": "AZURE", "pfc_to_pg_map": "AZURE", "pfc_enable": prios,
                                 "pfcwd_sw_enable": prios}
        for q in (0, 1, 2, 5):
            db["QUEUE"]["%s|%d" % (p, q)] = {"scheduler": "scheduler.0"}
        db["QUEUE"]["%s|6" % p] = {"scheduler": "scheduler.0" if stock else "scheduler.cnp"}
        for q in (3, 4) if stock else (3,):
            db["QUEUE"]["%s|%d" % (p, q)] = {"scheduler": "scheduler.1", "wred_profile": "ROCE"}
        db["BUFFER_PG"]["%s|0" % p] = {"profile": "ingress_lossy_profile"}
        rng = "3-4" if stock else "3"
        db["BUFFER_PG"]["%s|%s" % (p, rng)] = {
            "profile": "NULL" if model == "dynamic" else "pg_lossless_400000_%dm_profile" % cable[p]}
        db["BUFFER_QUEUE"]["%s|%s" % (p, rng)] = {"profile": "egress_lossless_profile"}
        db["BUFFER_QUEUE"]["%s|0-2" % p] = {"profile": "egress_lossy_profile"}
        db["PFC_WD"][p] = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    if model == "dynamic":
        db["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
        db["BUFFER_PROFILE"] = {k: v for k, v in profiles.items() if "pg_lossless" not in k}
        for pool in db["BUFFER_POOL"].values():
            del pool["size"]
        db["BUFFER_POOL"]["ingress_lossless_pool"].pop("xoff", None)
    return db


def neighbours(db, device, link_list):
    db["DEVICE_NEIGHBOR"] = {}
    for a, pa, b, pb, _ in link_list:
        if a == device:
            db["DEVICE_NEIGHBOR"][pa] = {"name": b, "port": pb}
        if b == device:
            db["DEVICE_NEIGHBOR"][pb] = {"name": a, "port": pa}
    return db


def flatten(db):
    return {"%s|%s" % (t, k): v for t, keys in db.items() for k, v in keys.items()}


def brackets(db):
    refs = {"profile": "BUFFER_PROFILE", "pool": "BUFFER_POOL", "scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE",
            "dscp_to_tc_map": "DSCP_TO_TC_MAP", "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
            "tc_to_queue_map": "TC_TO_QUEUE_MAP", "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
            "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"}
    for keys in db.values():
        for fields in keys.values():
            for f, table in refs.items():
                if f in fields and fields[f] != "NULL":
                    fields[f] = "[%s|%s]" % (table, fields[f])
    return db


# ---- LLDP and links ----

def lldp(device, link_list, form="list"):
    out = []
    for a, pa, b, pb, _ in link_list:
        for me, mine, peer, theirs in ((a, pa, b, pb), (b, pb, a, pa)):
            if me == device:
                out.append((mine, peer, theirs))
    if form == "json0":
        return {"lldp": [{"interface": [{"name": m, "via": "LLDP", "chassis": [{"name": [{"value": p}]}],
                                         "port": [{"id": [{"type": "ifname", "value": t}]}]} for m, p, t in out]}]}
    items = [{m: {"via": "LLDP", "chassis": {p: {"id": {"type": "mac", "value": "00:11:22:33:44:55"}}},
                  "port": {"id": {"type": "ifname", "value": t}}}} for m, p, t in out]
    return {"lldp": {"interface": items if form == "list" else {k: v for i in items for k, v in i.items()}}}


def link_yaml(link_list):
    return "links:\n" + "".join("  - \"%s:%s %s:%s %dm\"\n" % x for x in link_list)


# ---- NVUE ----

def swp(device, n):
    return "swp%d" % (n + 1)


def nvue_set(device, mode="lossless"):
    ports = ",".join(swp(device, n) for n in range(n_ports(device)))
    return "\n".join(["nv set system hostname %s" % device, "nv set qos roce state enabled",
                      "nv set qos roce mode %s" % mode, "nv set qos pfc-watchdog polling-interval 100",
                      "nv set qos pfc-watchdog robustness 3", "nv set interface %s type swp" % ports,
                      "nv set interface %s link mtu 9216" % ports, "nv set interface %s link speed 400G" % ports,
                      "nv set interface %s link fec rs" % ports,
                      "nv set interface %s qos pfc-watchdog state enable" % ports,
                      "nv set interface eth0 ip address 10.0.0.1/24", ""])


def nvue_tree(device):
    tree = {
        "system": {"hostname": device},
        "qos": {
            "mapping": {"default-global": {"trust": "l3", "dscp": {"26": {"switch-priority": 3},
                                                                   "48": {"switch-priority": 6}}}},
            "pfc": {"lossless": {"switch-priority": {"3": {}}, "tx": "enable", "rx": "enable", "cable-length": 40}},
            "congestion-control": {"roce": {"traffic-class": {"3": {
                "min-threshold": 150000, "max-threshold": 1500000, "probability": 100, "ecn": "enable",
                "red": "disable"}}}},
            "egress-scheduler": {"roce": {"traffic-class": {"0,3": {"mode": "dwrr", "bw-percent": 50},
                                                            "6": {"mode": "strict"}}}},
            "pfc-watchdog": {"polling-interval": 100, "robustness": 3},
        },
        "interface": {},
    }
    for n in range(n_ports(device)):
        tree["interface"][swp(device, n)] = {
            "type": "swp", "link": {"mtu": 9216, "speed": "400G", "fec": "rs"},
            "qos": {"pfc": {"profile": "lossless"}, "congestion-control": {"profile": "roce"},
                    "pfc-watchdog": {"state": "enable"}}}
    return tree


def yaml_of(tree, depth=0):
    out = ""
    for k, v in tree.items():
        key = "'%s'" % k if k[0].isdigit() else k
        if isinstance(v, dict) and v:
            out += "  " * depth + key + ":\n" + yaml_of(v, depth + 1)
        else:
            out += "  " * depth + "%s: %s\n" % (key, "{}" if v == {} else v)
    return out


def nvue_yaml(tree):
    body = yaml_of(tree, 2)
    return "- header:\n    model: SN5600\n    nvue-api-version: nvue_v1\n- set:\n" + body


# ---- EOS ----

def eos_port(device, n):
    return "Ethernet%d" % (n + 1)


def eos(device):
    text = ["! device: %s" % device, "hostname %s" % device, "!", "qos map dscp 26 to traffic-class 3",
            "qos map dscp 48 to traffic-class 6", "!", "qos profile ROCE", "   qos trust dscp",
            "   priority-flow-control on", "   priority-flow-control priority 3 no-drop", "   !", "   uc-tx-queue 3",
            "      no priority", "      bandwidth percent 95", "      bandwidth guaranteed 100",
            "      random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes "
            "max-mark-probability 100 weight 0", "   !", "   uc-tx-queue 6", "      priority strict", "!"]
    for n in range(n_ports(device)):
        text += ["interface %s" % eos_port(device, n), "   no switchport", "   mtu 9214", "   speed 400g",
                 "   error-correction encoding reed-solomon", "   qos trust dscp", "   service-profile ROCE", "!"]
    text += ["priority-flow-control pause watchdog default timeout 0.20",
             "priority-flow-control pause watchdog default recovery-time 0.20",
             "priority-flow-control pause watchdog default polling-interval 0.10",
             "priority-flow-control pause watchdog action drop", "!", "router bgp 65001", "   router-id 10.0.0.1", "!",
             "end", ""]
    return "\n".join(text)


# ---- NX-OS ----

def nxos_port(device, n):
    return "Ethernet1/%d" % (n + 1)


def nxos(device):
    text = ["!Command: show running-config", "version 10.3(4a) Bios:version 05.47", "hostname %s" % device,
            "feature lldp", "priority-flow-control watch-dog-interval on",
            "priority-flow-control watch-dog interval 100 shutdown-multiplier 1",
            "class-map type qos match-any ROCEv2", "  match dscp 26", "class-map type qos match-any CNP",
            "  match dscp 48", "policy-map type qos QOS_CLASSIFICATION", "  class ROCEv2", "    set qos-group 3",
            "  class CNP", "    set qos-group 7", "  class class-default", "    set qos-group 0",
            "policy-map type network-qos qos_network", "  class type network-qos c-8q-nq3", "    mtu 9216",
            "    pause pfc-cos 3", "  class type network-qos c-8q-nq-default", "    mtu 9216",
            "policy-map type queuing QOS_EGRESS_PORT", "  class type queuing c-out-8q-q3",
            "    bandwidth remaining percent 50",
            "    random-detect minimum-threshold 950 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn",
            "  class type queuing c-out-8q-q7", "    priority level 1", "  class type queuing c-out-8q-q-default",
            "    bandwidth remaining percent 50", "system qos", "  service-policy type network-qos qos_network",
            "  service-policy type queuing output QOS_EGRESS_PORT"]
    for n in range(n_ports(device)):
        text += ["interface %s" % nxos_port(device, n), "  priority-flow-control mode on",
                 "  priority-flow-control watch-dog-interval on", "  mtu 9216",
                 "  service-policy type qos input QOS_CLASSIFICATION", "  no shutdown"]
    return "\n".join(text + [""])


# ---- networks ----

FORMS = {"sonic": sonic_port, "nvue": swp, "eos": eos_port, "nxos": nxos_port}


def network(leaf, spine, hosts=True, **how):
    """{path: contents}: strings, or what becomes JSON."""
    form = lambda d: spine if d in SPINES else leaf
    all_links = links(lambda d, n: FORMS[form(d)](d, n))
    files = {}
    for d in LEAVES + SPINES:
        kind = form(d)
        if kind == "sonic":
            db = sonic(d, all_links, **{k: v for k, v in how.items() if k in ("model", "shared", "stock")})
            if not how.get("lldp"):
                neighbours(db, d, all_links)
            files[d + "/config_db.json"] = db
        elif kind == "nvue":
            files[d + "/nvue"] = {"set": nvue_set(d), "json": [{"header": {}}, {"set": nvue_tree(d)}],
                                  "yaml": nvue_tree(d)}[how.get("nvue", "set")]
        elif kind == "eos":
            files[d + "/running-config"] = eos(d)
        else:
            files[d + "/running-config"] = nxos(d)
        if how.get("lldp"):
            files[d + "/lldp.json"] = lldp(d, all_links, how["lldp"])
    if not how.get("lldp") and not (leaf == spine == "sonic"):
        files["links.yaml"] = link_yaml(all_links)
    for h in HOSTS if hosts else []:
        files[h + ".eth0.txt"] = adapter()
    return files


def finish(files, how):
    """Forms that are put on at last, so that mistakes are made in the plain one."""
    out = {}
    for path, what in files.items():
        if path.endswith("config_db.json"):
            if how.get("flat"):
                what = flatten(what)
            if how.get("brackets"):
                what = brackets(what)
        if path.endswith("/nvue") and how.get("nvue") == "yaml":
            what = nvue_yaml(what)
        if path.endswith("config_db.json") and how.get("parts"):
            buffers = {t: v for t, v in what.items() if t.startswith("BUFFER") or t == "CABLE_LENGTH"}
            out[path.replace("config_db", "buffers")] = json.dumps(buffers, indent=4) + "\n"
            what = {t: v for t, v in what.items() if t not in buffers}
        out[path] = what if isinstance(what, str) else json.dumps(what, indent=4) + "\n"
    return out


BASES = {
    "sonic": ("sonic", "sonic", {}), "sonic-flat": ("sonic", "sonic", {"flat": True, "lldp": "list"}),
    "sonic-brackets": ("sonic", "sonic", {"brackets": True}),
    "sonic-dynamic": ("sonic", "sonic", {"model": "dynamic", "lldp": "map"}),
    "sonic-shared": ("sonic", "sonic", {"shared": True, "parts": True}),
    "sonic-stock": ("sonic", "sonic", {"stock": True, "hosts": False}),
    "sonic-alone": ("sonic", "sonic", {"hosts": False}), "mixed-alone": ("nvue", "eos", {"hosts": False}),
    "nvue-set": ("nvue", "nvue", {}), "nvue-json": ("nvue", "nvue", {"nvue": "json", "lldp": "json0"}),
    "nvue-yaml": ("nvue", "nvue", {"nvue": "yaml"}), "eos": ("eos", "eos", {}), "nxos": ("nxos", "nxos", {}),
    "mixed-sonic-eos": ("sonic", "eos", {}), "mixed-nvue-nxos": ("nvue", "nxos", {"lldp": "list"}),
    "mixed-eos-sonic": ("eos", "sonic", {"brackets": True}),
}


def base(name):
    leaf, spine, how = BASES[name]
    return network(leaf, spine, **how), how


# ---- mistakes ----

def edit(path, old, new):
    def do(files):
        assert old in files[path], (path, old)
        files[path] = files[path].replace(old, new, 1)
    return do


def put(path, *keys_and_value):
    *keys, last, value = keys_and_value

    def do(files):
        at = files[path]
        for k in keys:
            at = at[k]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return do


def host(**how):
    def do(files):
        files["gpu2.eth0.txt"] = adapter(**how)
    return do


def both(*edits):
    def do(files):
        for e in edits:
            e(files)
    return do


def stock_map(files):
    tcs = {str(i): "1" for i in range(64)}
    tcs.update({"3": "3", "4": "4", "5": "2", "8": "0", "46": "5", "48": "6"})
    files[L1]["DSCP_TO_TC_MAP"]["AZURE"] = tcs


def two_classes(files):
    """PFC for two priorities everywhere, and a leaf that has RDMA in the other of them."""
    for path in files:
        if path.endswith("running-config"):
            text = files[path].replace("priority 3 no-drop", "priority 3 no-drop\n   priority-flow-control priority 4 no-drop")
            head, tail = text.split("   uc-tx-queue 3\n")
            queue = tail.split("   !\n")[0]
            files[path] = head + "   uc-tx-queue 4\n" + queue + "   !\n   uc-tx-queue 3\n" + tail
        elif path.endswith("eth0.txt"):
            files[path] = files[path].replace("0   0   0   1   0   0   0   0", "0   0   0   1   1   0   0   0", 1)
    files[RC1] = files[RC1].replace("dscp 26 to traffic-class 3", "dscp 26 to traffic-class 4")


def no_groups(files):
    for key in [k for k in files[L1]["BUFFER_PG"] if k.endswith("|3")]:
        del files[L1]["BUFFER_PG"][key]


def other_alpha(files):
    """Four switches of one role, of which one has another alpha."""
    for path in files:
        if path.endswith("config_db.json"):
            files[path]["DEVICE_METADATA"]["localhost"]["type"] = "BackEndToRRouter"
    for profile in files[S1]["BUFFER_PROFILE"].values():
        if "xoff" in profile:
            profile["dynamic_th"] = "-1"


def again(files):
    files["leaf1/more.json"] = {"SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "50"}}}


L1, L2, S1 = "leaf1/config_db.json", "leaf2/config_db.json", "spine1/config_db.json"
E8 = "Ethernet8"
RC1 = "leaf1/running-config"
SET = "nv set interface swp1,swp2,swp3,swp4 "

# name, base, what is done, the check, the device, what it brings along
MISTAKES = [
    ("stock-map", "sonic", stock_map, "stock-map", "leaf1", ()),
    ("stock-map-alone", "sonic-alone", stock_map, "stock-map", "leaf1", ()),
    ("map-alone", "mixed-alone", edit("spine2/running-config", "dscp 26 to traffic-class 3", "dscp 26 to traffic-class 5"),
     "dscp-lossy", "spine2", ()),
    ("pfc-missing", "sonic", put(L1, "PORT_QOS_MAP", "Ethernet16", "pfc_enable", ""), "pfc-one-sided", "leaf1", ()),
    ("pfc-other", "sonic-flat", both(put(S1, "PORT_QOS_MAP", "Ethernet0", "pfc_enable", "3,4"),
                                     put(S1, "PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable", "3,4"),
                                     put(S1, "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4", "4"),
                                     put(S1, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "4", "4"),
                                     put(S1, "BUFFER_PG", "Ethernet0|4", {"profile": "pg_lossless_400000_40m_profile"}),
                                     put(S1, "QUEUE", "Ethernet0|4", {"scheduler": "scheduler.1", "wred_profile": "ROCE"})),
     "pfc-one-sided", "spine1", ()),
    ("no-pg", "sonic", put(L1, "BUFFER_PG", E8 + "|3", None), "no-lossless-pg", "leaf1", ()),
    ("lossy-pg", "sonic-brackets", put(L1, "BUFFER_PG", E8 + "|3", {"profile": "ingress_lossy_profile"}),
     "no-lossless-pg", "leaf1", ()),
    ("tc-pg", "sonic", put(L2, "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3", "0"), "tc-pg", "leaf2", ("dscp-lossy",)),
    ("tc-queue", "sonic", put(L2, "TC_TO_QUEUE_MAP", "AZURE", "3", "2"), "pfc-queue", "leaf2", ()),
    ("pfc-queue", "sonic-flat", put(L2, "MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "3", "4"), "pfc-queue", "leaf2",
     ("ecn-off",)),
    ("ecn-none", "sonic", both(put(S1, "WRED_PROFILE", "ROCE", "ecn", "ecn_none"),
                               put(S1, "WRED_PROFILE", "ROCE", "wred_green_enable", "false")), "ecn-off", "spine1", ()),
    ("ecn-drops", "sonic-brackets", put(S1, "WRED_PROFILE", "ROCE", "ecn", "ecn_none"), "ecn-drops", "spine1", ()),
    ("ecn-missing", "sonic-dynamic", put(L1, "QUEUE", "Ethernet24|3", {"scheduler": "scheduler.1"}), "ecn-off", "leaf1",
     ()),
    ("ecn-late", "sonic", both(put(L1, "WRED_PROFILE", "ROCE", "green_min_threshold", "20000000"),
                               put(L1, "WRED_PROFILE", "ROCE", "green_max_threshold", "40000000")), "ecn-late", "leaf1",
     ()),
    ("ecn-upside-down", "sonic-dynamic", put(L1, "WRED_PROFILE", "ROCE", "green_max_threshold", "4096"), "ecn-range",
     "leaf1", ()),
    ("cable-short", "sonic", put(L1, "CABLE_LENGTH", "AZURE", "Ethernet16", "5m"), "cable-differs", "leaf1", ()),
    ("cable-zero", "sonic", put(L1, "CABLE_LENGTH", "AZURE", "Ethernet0", "0m"), "no-cable-length", "leaf1", ()),
    ("profile-cable", "sonic", put(L1, "BUFFER_PG", "Ethernet16|3", {"profile": "pg_lossless_400000_5m_profile"}),
     "profile-cable", "leaf1", ("headroom",)),
    ("headroom", "sonic", put(S1, "BUFFER_PROFILE", "pg_lossless_400000_40m_profile", "xoff", "30720"), "headroom",
     "spine1", ()),
    ("shared-headroom", "sonic-shared", put(S1, "BUFFER_POOL", "ingress_lossless_pool", "xoff", "0"), "shared-headroom",
     "spine1", ()),
    ("headroom-near", "sonic", put(S1, "BUFFER_PROFILE", "pg_lossless_400000_40m_profile", "xoff", "55296"), "headroom",
     "spine1", ()),
    ("run-time", "sonic", no_groups, "pg-at-run-time", "leaf1", ()),
    ("alpha", "sonic", other_alpha, "switch-differs", "spine1", ()),
    ("twice", "sonic", again, "twice", "leaf1", ()),
    ("stock-differs", "sonic-stock", put(L1, "DSCP_TO_TC_MAP", "AZURE", "4", "1"), "dscp-differs", "leaf1", ()),
    ("wd-short", "sonic", put(L1, "PFC_WD", E8, "detection_time", "100"), "watchdog-times", "leaf1", ()),
    ("wd-restore", "sonic-flat", put(L1, "PFC_WD", E8, "restoration_time", None), "watchdog-restore", "leaf1", ()),
    ("wd-forward", "sonic", put(L1, "PFC_WD", E8, "action", "forward"), "watchdog-action", "leaf1", ()),
    ("wd-range", "sonic", put(L1, "PFC_WD", E8, "detection_time", "9000"), "value", "leaf1", ()),
    ("wd-blind", "sonic-brackets", put(L1, "PORT_QOS_MAP", E8, "pfcwd_sw_enable", None), "watchdog-blind", "leaf1", ()),
    ("wd-none", "sonic-dynamic", put(S1, "PFC_WD", None), "watchdog-missing", "spine1", ()),
    ("cnp-dwrr", "sonic", put(L2, "QUEUE", E8 + "|6", {"scheduler": "scheduler.0"}), "cnp-not-strict", "leaf2", ()),
    ("cnp-data", "sonic", put(L2, "DSCP_TO_TC_MAP", "AZURE", "48", "3"), "cnp-in-data", "leaf2", ()),
    ("mtu", "sonic", put(L1, "PORT", "Ethernet16", "mtu", "1500"), "mtu", "leaf1", ()),
    ("fec", "sonic-flat", put(L1, "PORT", "Ethernet16", "fec", "none"), "fec", "leaf1", ()),
    ("wd-red", "sonic", put(L1, "PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable"), "watchdog-action", "leaf1", ()),
    ("nvue-nothing", "nvue-set", edit("leaf1/nvue", "nv set qos roce state enabled\nnv set qos roce mode lossless\n", ""),
     "pfc-one-sided", "leaf1", ()),
    ("nxos-mtu", "nxos", edit(RC1, "c-8q-nq3\n    mtu 9216", "c-8q-nq3\n    mtu 1500"), "mtu", "leaf1", ()),
    ("nxos-seed", "nxos", both(edit(RC1, "feature lldp", "ip load-sharing address source-destination port source-destination "
                                    "universal-id 7"),
                               edit("spine1/running-config", "feature lldp", "ip load-sharing address source-destination port "
                                    "source-destination universal-id 7")), "hash-seed", "spine1", ()),
    ("eos-seed", "eos", both(edit(RC1, "router bgp", "ip load-sharing trident hash seed 5\nrouter bgp"),
                             edit("spine2/running-config", "router bgp", "ip load-sharing trident hash seed 5\nrouter bgp")),
     "hash-seed", "spine2", ()),
    ("speed", "sonic-dynamic", put(L1, "PORT", "Ethernet16", "speed", "200000"), "speed", "leaf1", ()),
    ("dangling", "sonic", put(L1, "QUEUE", E8 + "|3", {"scheduler": "scheduler.9", "wred_profile": "ROCE"}),
     "undefined", "leaf1", ()),
    ("queue-lossy", "sonic", put(L1, "BUFFER_QUEUE", E8 + "|3", {"profile": "egress_lossy_profile"}), "queue-lossy",
     "leaf1", ()),
    ("static-pool", "sonic", put(L1, "BUFFER_POOL", "egress_lossy_pool", "mode", "static"), "threshold-mode", "leaf1", ()),
    ("hash", "sonic", both(put(L1, "SWITCH_HASH", {"GLOBAL": {"ecmp_hash_seed": "10"}}),
                           put(S1, "SWITCH_HASH", {"GLOBAL": {"ecmp_hash_seed": "10"}})), "hash-seed", "spine1", ()),
    ("nic-priority", "sonic", host(pfc=5), "adapter-priority", "gpu2", ("pfc-one-sided",)),
    ("nic-trust", "eos", host(trust="pcp"), "adapter-trust", "gpu2", ()),
    ("nic-class", "nvue-set", host(tos=0), "adapter-class", "gpu2", ("adapter-differs",)),
    ("nic-dcqcn", "nxos", host(rp=0), "adapter-dcqcn", "gpu2", ()),
    ("nic-differs", "sonic", host(ai=50), "adapter-differs", "gpu2", ()),
    ("nic-mask", "mixed-nvue-nxos", host(mask=247), "adapter-dcqcn", "gpu2", ()),
    ("nic-cnp", "eos", host(cnp=46), "adapter-differs", "gpu2", ()),
    ("nvue-lossy", "nvue-set", edit("leaf1/nvue", "mode lossless", "mode lossy"), "pfc-one-sided", "leaf1", ()),
    ("nvue-watchdog", "nvue-set", edit("leaf1/nvue", SET + "qos pfc", "nv set interface swp1,swp2,swp3 qos pfc"),
     "watchdog-port", "leaf1", ()),
    ("nvue-priority", "nvue-json", put("leaf1/nvue", 1, "set", "qos", "mapping", "default-global", "dscp", "26",
                                       {"switch-priority": 4}), "dscp-lossy", "leaf1", ()),
    ("nvue-ecn", "nvue-json", put("leaf1/nvue", 1, "set", "qos", "congestion-control", "roce", "traffic-class", "3",
                                  "ecn", "disable"), "ecn-off", "leaf1", ()),
    ("nvue-profile", "nvue-yaml", put("spine1/nvue", "interface", "swp1", "qos", "pfc", "profile", "lossles"), "group",
     "spine1", ("pfc-one-sided",)),
    ("nvue-trust", "nvue-yaml", put("spine1/nvue", "qos", "mapping", "default-global", "trust", "l2"), "trust", "spine1",
     ()),
    ("eos-off", "eos", edit(RC1, "   priority-flow-control on\n", ""), "pfc-not-on", "leaf1", ("pfc-one-sided",)),
    ("eos-map", "eos", edit(RC1, "qos map dscp 26 to traffic-class 3\n", "qos map dscp 26 to traffic-class 1\n"),
     "dscp-lossy", "leaf1", ()),
    ("eos-watchdog", "eos", edit(RC1, "      bandwidth guaranteed 100\n", ""), "watchdog-blind", "leaf1", ()),
    ("eos-poll", "eos", edit(RC1, "polling-interval 0.10", "polling-interval 0.15"), "watchdog-times", "leaf1", ()),
    ("eos-ecn", "eos", edit(RC1, "random-detect ecn minimum", "random-detect drop minimum"), "ecn-drops", "leaf1", ()),
    ("nxos-cos", "nxos", edit(RC1, "pause pfc-cos 3", "pause pfc-cos 4"), "pfc-cos", "leaf1", ("pfc-one-sided",)),
    ("nxos-mode", "nxos", edit(RC1, "  priority-flow-control mode on\n", ""), "pfc-not-on", "leaf1", ("pfc-one-sided",)),
    ("nxos-watchdog", "nxos", edit(RC1, "priority-flow-control watch-dog-interval on\n", ""), "watchdog-missing",
     "leaf1", ()),
    ("nxos-cnp", "nxos", edit(RC1, "    priority level 1", "    bandwidth remaining percent 10"), "cnp-not-strict",
     "leaf1", ()),
    ("nxos-policy", "nxos", edit(RC1, "input QOS_CLASSIFICATION", "input QOS_CLASSIFIKATION"), "group", "leaf1",
     ("no-map",)),
    ("eos-path", "eos", two_classes, "pause-path", "leaf1", ()),
    ("eos-trust", "eos", edit(RC1, "   qos trust dscp\n   service-profile", "   qos trust cos\n   service-profile"),
     "trust", "leaf1", ()),
    ("eos-nothing", "eos", edit(RC1, "   priority-flow-control priority 3 no-drop\n", ""), "pfc-nothing", "leaf1",
     ("pfc-one-sided",)),
    ("nxos-command", "nxos", edit(RC1, "feature lldp\n", "feature lldp\necn enable\n"), "no-such-command", "leaf1", ()),
    ("mixed-class", "sonic", put(L1, "TC_TO_QUEUE_MAP", "AZURE", "2", "3"), "mixed-class", "leaf1", ()),
    ("no-map", "sonic", both(put(L1, "PORT_QOS_MAP", E8, "dscp_to_tc_map", None), put(L1, "PORT_QOS_MAP", "global", None)),
     "no-map", "leaf1", ()),
    ("unused-pg", "sonic-stock", both(put(L1, "PORT_QOS_MAP", "Ethernet0", None), put(L1, "PFC_WD", "Ethernet0", None)),
     "unused-pg", "leaf1", ()),
    ("unknown-port", "sonic", put(L1, "PORT_QOS_MAP", "Ethernet99", {"pfc_enable": "3"}), "unknown-port", "leaf1", ()),
    ("valley", "sonic", put("spine2/config_db.json", "DEVICE_METADATA", "localhost", "bgp_asn", "65101"), "valley",
     "spine2", ()),
    ("mixed-priority", "mixed-sonic-eos", both(
        edit("spine1/running-config", "dscp 26 to traffic-class 3", "dscp 26 to traffic-class 4"),
        edit("spine1/running-config", "priority 3 no-drop", "priority 4 no-drop"),
        edit("spine1/running-config", "uc-tx-queue 3", "uc-tx-queue 4")), "pfc-one-sided", "spine1", ()),
    ("mixed-mtu", "mixed-nvue-nxos", edit("leaf1/nvue", SET + "link mtu 9216", SET + "link mtu 1500"), "mtu", "leaf1", ()),
    ("mixed-pfc", "mixed-eos-sonic", put(S1, "PORT_QOS_MAP", "Ethernet0", "pfc_enable", ""), "pfc-one-sided", "spine1", ()),
]


def write(folder, files):
    for path, what in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as f:
            f.write(what)


def look(weft, folder):
    run = subprocess.run([weft, "audit", "--json", folder], capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        raise SystemExit("%s: exit status %d\n%s%s" % (folder, run.returncode, run.stdout[-2000:], run.stderr))
    doc = json.loads(run.stdout)
    severe = doc["counts"]["errors"], doc["counts"]["warnings"]
    assert run.returncode == (1 if severe[0] else 3 if severe[1] else 0), (folder, run.returncode)
    odd = [n for n in doc["not_read"] if n["kind"] == "not-understood"]
    assert not odd, (folder, odd[:3])
    return doc


def tell(doc):
    return "\n".join("  %s %s %s: %s (%s:%s)" % (f["check"], f["device"], ",".join(f["ports"]), f["wrong"], f["file"],
                                                f["line"]) for f in doc["findings"])


def check(weft, root):
    bad = []
    for name in sorted(BASES):
        doc = look(weft, os.path.join(root, "clean", name))
        hosts = BASES[name][2].get("hosts", True)
        assert len(doc["devices"]) == 4 + (4 if hosts else 0), (name, doc["devices"])
        assert doc["links"] == 8, (name, doc["links"])
        if doc["findings"]:
            bad.append("clean/%s: invented\n%s" % (name, tell(doc)))
    for name, _, _, wanted, device, also in MISTAKES:
        doc = look(weft, os.path.join(root, "mistakes", name))
        # A pause that goes wrong does so at both ends of each link.
        far = {"pause-path"} & {wanted}
        hit = [f for f in doc["findings"] if f["check"] == wanted and f["device"] == device]
        more = [f for f in doc["findings"] if f["check"] not in (wanted,) + also or f["device"] != device
                and f["check"] not in also + tuple(far)]
        if not hit:
            bad.append("mistakes/%s: %s is not found\n%s" % (name, wanted, tell(doc)))
        elif more:
            bad.append("mistakes/%s: invented beside %s\n%s" % (name, wanted, tell(doc)))
        elif not all(f["file"] and f["line"] for f in hit if wanted != "watchdog-missing"):
            bad.append("mistakes/%s: without a place\n%s" % (name, tell(doc)))
    for b in bad:
        print(b)
    print("%d clean, %d with a mistake: %d wrong" % (len(BASES), len(MISTAKES), len(bad)))
    return 1 if bad else 0


def large(root, switches, ports):
    """Leaves in a ring with spines, which is enough links for every port to have one."""
    names = ["%s%d" % ("spine" if i % 4 == 0 else "leaf", i) for i in range(switches)]
    SPINES[:] = [n for n in names if n.startswith("spine")]
    globals()["n_ports"] = lambda device: ports
    for i, name in enumerate(names):
        around = [(name, sonic_port(name, p), names[(i + 1 + 2 * (p // 2)) % switches], sonic_port(name, p + 1), 40)
                  if p % 2 == 0 else
                  (names[(i - 1 - 2 * (p // 2)) % switches], sonic_port(name, p - 1), name, sonic_port(name, p), 40)
                  for p in range(ports)]
        db = neighbours(sonic(name, around), name, around)
        if i == 1:
            db["PORT_QOS_MAP"][sonic_port(name, ports - 1)]["pfc_enable"] = ""
        write(root, {name + ".json": json.dumps(db)})


def main():
    if len(sys.argv) not in (2, 3, 4):
        raise SystemExit(__doc__)
    root = sys.argv[1]
    if len(sys.argv) == 4:
        large(root, int(sys.argv[2]), int(sys.argv[3]))
        return
    for name in BASES:
        files, how = base(name)
        write(os.path.join(root, "clean", name), finish(files, how))
    for name, of, do, *_ in MISTAKES:
        files, how = base(of)
        files = copy.deepcopy(files)
        do(files)
        write(os.path.join(root, "mistakes", name), finish(files, how))
    if len(sys.argv) == 3:
        raise SystemExit(check(sys.argv[2], root))


if __name__ == "__main__":
    main()
