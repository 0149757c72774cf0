#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# audit.bats - weft audit: networks of every vendor's form, clean and with one mistake each; files that
# are broken, large or of nobody; and what others have, where WEFT_REFERENCE names it.

load common

cases() {
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/audit_cases.py" "$@"
}

# found FILTER: how many findings of the last document the filter of jq lets through.
found() {
	jq "[.findings[] | select($1)] | length" stdout.txt
}

@test "clean networks are clean, and each mistake is found, and nothing else" {
	run cases nets "$WEFT"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(find nets/clean -mindepth 1 -maxdepth 1 | wc -l)" -ge 12 ]
	[ "$(find nets/mistakes -mindepth 1 -maxdepth 1 | wc -l)" -ge 40 ]
}

@test "a finding has its place, what would be right, and its incident" {
	weft audit "$WEFT_SOURCE_DIR/examples/audit/stock-map"
	[ "$status" -eq 1 ]
	says "$out" "2 switches, 1 host, 4 ports, 2 links, 3 files"
	says "$out" "error    stock-map: leaf1 Ethernet0, Ethernet8"
	says "$out" "examples/audit/stock-map/leaf1.json:13 DSCP_TO_TC_MAP|AZURE"
	says "$out" "right: a map in which RDMA's DSCP leads to a lossless class"
	says "$out" "leads to: docs/incidents.md#dscp-26-on-a-stock-map"
	sed -n 13p "$WEFT_SOURCE_DIR/examples/audit/stock-map/leaf1.json" | grep -q '"26": "1"'
	weft audit "$WEFT_SOURCE_DIR/examples/audit/clean"
	[ "$status" -eq 0 ]
	says "$out" "0 errors, 0 warnings, 0 notes"
}

@test "every incident that a check names is one" {
	weft audit "$WEFT_SOURCE_DIR/examples/audit/clean" --sarif
	jq -r '.runs[0].tool.driver.rules[].help.text' stdout.txt | sed -n 's/.*incidents\.md#//p' | sort -u >named
	[ "$(wc -l <named)" -gt 10 ]
	sed -n 's/^## //p' "$WEFT_SOURCE_DIR/docs/incidents.md" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-' | sort -u >there
	[ -z "$(comm -23 named there)" ]
}

@test "the exit status says how grave it is" {
	cases nets
	weft audit nets/clean/eos
	[ "$status" -eq 0 ]
	weft audit nets/mistakes/valley
	[ "$status" -eq 0 ]
	says "$out" "0 errors, 0 warnings, 1 note"
	weft audit nets/mistakes/cnp-dwrr
	[ "$status" -eq 3 ]
	weft audit nets/mistakes/stock-map
	[ "$status" -eq 1 ]
	printf '{"PORT": {' >nets/clean/eos/broken.json
	weft audit nets/clean/eos
	[ "$status" -eq 2 ]
	says "$out" "unread   nets/clean/eos/broken.json:1:11: the file ends in the middle"
	says "$out" "4 switches, 4 hosts"
}

@test "SARIF has a result for each finding, a rule for each check, and places" {
	weft audit "$WEFT_SOURCE_DIR/examples/audit/stock-map" --sarif
	[ "$status" -eq 1 ]
	[ "$(jq -r .version stdout.txt)" = 2.1.0 ]
	[ "$(jq '.runs[0].results | length' stdout.txt)" -eq 1 ]
	[ "$(jq -r '.runs[0].results[0] | .ruleId, .level' stdout.txt | tr '\n' ' ')" = "stock-map error " ]
	[ "$(jq '.runs[0].results[0].locations[0].physicalLocation.region.startLine' stdout.txt)" -eq 13 ]
	[ "$(jq '.runs[0] as $r | [$r.results[] | $r.tool.driver.rules[.ruleIndex].id == .ruleId] | all' stdout.txt)" = true ]
	mkdir 'a folder'
	cp "$WEFT_SOURCE_DIR"/examples/audit/stock-map/* 'a folder'
	weft audit 'a folder' --sarif
	says "$out" '"uri": "a%20folder/leaf1.json"'
}

@test "what is broken is an error with its place, and the rest is read" {
	mkdir net
	cp "$WEFT_SOURCE_DIR"/examples/audit/clean/* net
	wrong() {
		printf '%b' "$1" >net/leaf9.json
		weft audit net
		[ "$status" -eq 2 ] || { echo "status $status: $1"; return 1; }
		says "$out" "unread   net/leaf9.json:$2"
		says "$out" "2 switches, 1 host"
	}
	wrong '{"PORT": {"Ethernet0": {"mtu": "9100"}' "1:39: the file ends in the middle: a bracket is open"
	wrong '{"PORT": {\n "Ethernet0": {},\n "Ethernet0": {}}}' '3: the key "Ethernet0" is there twice, first in line 2'
	wrong '{"PORT": {"Ethernet0": {"mtu": 91 00}}}' "1:35: here should be , or }"
	wrong '{"PORT": {"Ethernet0": {"mtu": "91' "1:35: the file ends in the middle of a text"
	wrong '{"PORT": {"\\ud800": {}}}' "1:18: half of a character"
	wrong '{"PORT": {"\xff": {}}}' "1:12: this is no UTF-8"
	wrong '{"sonic-port:sonic-port": {"sonic-port:PORT": {}}}' "1: sonic-port:sonic-port is YANG's form"
	printf '{"PORT": {' >net/leaf9.json
	head -c 100000000 /dev/zero | tr '\0' ' ' >>net/leaf9.json
	weft audit net
	[ "$status" -eq 2 ]
	says "$out" "unread   net/leaf9.json: it has 100000010 bytes; at most 64 MiB are read"
}

@test "what is not understood is listed" {
	mkdir net
	cp "$WEFT_SOURCE_DIR"/examples/audit/clean/* net
	printf 'qos profile ODD\n   priority-flow-control sometimes\ninterface Ethernet7\n   ip address 10.0.0.1/24\nhostname x\n' >net/x.cfg
	printf '{"PORT": {}, "NOBODY_KNOWS": {}, "BGP_NEIGHBOR": {}, "WRED_PROFILE": {"a": {"ecm": "ecn_all"}}}' >net/y.json
	printf 'once upon a time\n' >net/z.txt
	weft audit net --json
	[ "$(jq -r '[.not_read[] | select(.kind == "not-understood") | .what] | sort | join("; ")' stdout.txt)" = \
		"WRED_PROFILE has no field ecm that is known here; priority-flow-control sometimes; the table NOBODY_KNOWS" ]
	[ "$(jq -r '[.not_read[] | select(.kind == "other-subject") | .what] | join("; ")' stdout.txt | grep -c "ip address.*BGP_NEIGHBOR")" -eq 1 ]
	[ "$(jq -r '.files[] | select(.form == null) | .file' stdout.txt)" = net/z.txt ]
	weft audit net
	says "$out" "unknown  net/z.txt: it is of no form that is known here"
	says "$out" "net/x.cfg:2: priority-flow-control sometimes"
}

@test "a folder is a device, in parts, and its name may come from a file beside" {
	cases nets
	weft audit nets/clean/sonic-shared --json
	[ "$(jq -r '[.devices[].name] | sort | join(" ")' stdout.txt)" = "gpu1 gpu2 gpu3 gpu4 leaf1 leaf2 spine1 spine2" ]
	[ "$(jq '[.files[] | select(.device == "leaf1")] | length' stdout.txt)" -eq 2 ]
	# What is below /sys, as it lies there.
	mkdir -p net/gpu7/sys/class/net/eth3/ecn/roce_np/enable
	cp "$WEFT_SOURCE_DIR"/examples/audit/clean/* net
	printf '0\n' >net/gpu7/sys/class/net/eth3/ecn/roce_np/enable/3
	weft audit net --json
	[ "$(found '.check == "adapter-dcqcn" and .device == "gpu7" and .ports == ["eth3"]')" -eq 1 ]
}

@test "the same files give the same bytes, whatever order they are named in" {
	cases nets
	weft audit nets/mistakes/eos-path --json
	cp stdout.txt one.txt
	weft audit nets/mistakes/eos-path --json
	cmp one.txt stdout.txt
}

@test "kinds of switches: who differs from most" {
	mkdir net
	for n in 1 2 3 4; do
		sed "s/hostname spine1/hostname spine$n/" "$WEFT_SOURCE_DIR/examples/audit/clean/spine1.cfg" >net/spine$n.cfg
	done
	weft audit net
	[ "$status" -eq 0 ]
	sed -i 's/minimum-threshold 256/minimum-threshold 400/' net/spine3.cfg
	weft audit net
	[ "$status" -eq 3 ]
	says "$out" "switch-differs: spine3"
	says "$out" "ECN's lower threshold is 400000 bytes, and 256000 bytes at 3 of 4 of its kind"
	# Two of four are no majority.
	sed -i 's/minimum-threshold 256/minimum-threshold 400/' net/spine2.cfg
	weft audit net
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "512 switches of 64 ports: the one mistake, and every link" {
	cases net 512 64
	weft audit net --json
	[ "$status" -eq 1 ]
	[ "$(jq '.devices | length' stdout.txt)" -eq 512 ]
	[ "$(jq '[.devices[].ports] | add' stdout.txt)" -eq 32768 ]
	[ "$(jq .links stdout.txt)" -eq 16384 ]
	[ "$(found 'true')" -eq 1 ]
	[ "$(found '.check == "pfc-one-sided" and .device == "leaf1" and .ports == ["Ethernet504"]')" -eq 1 ]
}

@test "what is asked is checked" {
	check() {
		local says=$1
		shift
		weft audit "$@"
		[ "$status" -eq 2 ] || { echo "status $status: $*"; return 1; }
		says "$err" "$says"
	}
	check "name a folder"
	check "--json and --sarif" . --json --sarif
	check "nowhere: cannot look at it" nowhere
	mkdir empty
	check "there is no file in it" empty
}

@test "real files of every form: what their README says of them" {
	[ -n "${WEFT_REFERENCE-}" ] || skip "skipped: WEFT_REFERENCE names no folder"
	audit() {
		weft audit "$WEFT_REFERENCE/$1" --json
		jq -r '[.findings[] | "\(.check) \(.severity) \(.ports | length)"] | join(", ")' stdout.txt >findings
	}
	audit sonic/s6000-t0-counterpoll.json
	[ "$(cat findings)" = "watchdog-missing warning 0, unused-pg note 4" ]
	for form in bracket newform; do
		audit sonic/vlab-t2-01-$form.json
		[ "$(cat findings)" = "pg-at-run-time warning 3, watchdog-missing warning 0" ]
	done
	for form in 1 3; do
		audit sonic/qos-reference-format-3_0_$form.json
		[ "$(cat findings)" = "threshold-mode warning 0, watchdog-missing warning 0" ]
	done
	audit sonic/msn4700-t1-flat-newform.json
	[ -z "$(cat findings)" ]
	audit sonic/parts/yang-tests-pfcwd.json
	[ "$status" -eq 2 ]
	says "$out" "yang-tests-pfcwd.json:3: sonic-port:sonic-port is YANG's form"
	mkdir arista7260
	cp "$WEFT_REFERENCE"/sonic/parts/*arista7260* arista7260
	mkdir net
	mv arista7260 net
	weft audit net --json
	[ "$(jq -r '.devices[].name' stdout.txt)" = arista7260 ]
	audit nvue/gsl-plane1-01.nvue.txt
	[ "$(jq -r '[.findings[].check] | unique | join(" ")' stdout.txt)" = watchdog-port ]
	[ "$(found '.wrong | contains("between switches")')" -eq 1 ]
	audit nvue/cl37-traffic.conf
	[ "$(cat findings)" = "group error 0, group error 0" ]
	audit eos/leaf-roce.cfg
	[ -z "$(cat findings)" ]
	audit eos/spine-roce.cfg
	[ "$(cat findings)" = "watchdog-missing warning 0" ]
	audit eos
	[ "$status" -ne 2 ]
	audit nxos
	[ "$(found '.device == "nexus9300-guide" and .check == "pfc-not-on"')" -eq 1 ]
	[ "$(found '.device == "nexus9300-guide" and .check == "no-such-command"')" -eq 6 ]
	[ "$(jq '[.files[] | select(.device == "CONTOSO-DC1-TOR-01")] | length' stdout.txt)" -eq 3 ]
	audit nic/att-eth4-lossless.txt
	[ -z "$(cat findings)" ]
	audit lldp/lldpctl-sonic-full.json
	[ "$(jq .links stdout.txt)" -eq 33 ]
	audit lldp/lldpctl-no-neighbors.json
	[ "$status" -eq 0 ]
	[ "$(jq .links stdout.txt)" -eq 0 ]
	audit lldp/cumulus-net-show-lldp.json
	[ "$(jq .links stdout.txt)" -eq 1 ]
}
