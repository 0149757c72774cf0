#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# diagnose.bats - weft diagnose: every incident of examples/incidents has the right cause first, from its results file
# and from the counters that real devices would have shown; its healthy twin has no warning. What operators' tools print.

load common

# name, run, the rule that must come first, where it is (device), and from exported counters ("-": it cannot be seen there).
INCIDENTS="
pause-storm 2 pause-storm h15 pause-storm
deaf-adapter 2 pause-ignored leaf3 pause-ignored
stock-map 2 class-moved leaf3 class-moved
forgotten-tos 2 rdma-lossy - rdma-lossy
cnp-class 2 cnp-class h0 cnp-class
ecn-off 2 ecn-off leaf3 ecn-off
ecn-above-pfc 2 ecn-after-pfc leaf3 ecn-after-pfc
no-cc 2 cc-off - cc-off
dcqcn-off 2 cnp-ignored h15 cnp-ignored
small-alpha 2 pause-threshold leaf3 pause-threshold
short-headroom 2 headroom leaf3 headroom
mtu 2 mtu leaf0 mtu
polarised 2 polarised - polarised
slow-link 2 slow-link leaf0 slow-link
slow-pcie 2 slow-host h9 -
flap 2 link-down leaf0 link-down
dead-spine 2 link-down spine1 link-down
dead-leaf 2 link-down leaf0 link-down
one-way-loss 2 link-errors leaf0 link-errors
marginal-link 2 fec-margin leaf0 fec-margin
late-leaf 2 routing-loop leaf1 routing-loop
deadlock 2 deadlock - deadlock
slow-receiver 2 slow-receiver h15 slow-receiver
tcp-backup 2 foreign-traffic - foreign-traffic
checkpoint-burst 2 class-moved - class-moved
"

# What CI looks at; all of them with WEFT_TEST_ALL.
SAMPLE="pause-storm stock-map ecn-off late-leaf"

# first FILE ARGS...: sets $first to the rule, severity and device of the first finding of the only case, and $worst.
first() {
	local file=$1
	shift
	"$WEFT" diagnose "$@" --json >"$file" || [ $? -ne 2 ]
	read -r first severity device <<<"$(jq -r '.cases[0].findings[0] // {} | "\(.rule) \(.severity) \(.device)"' "$file")"
	worst=$(jq -r '.cases[0].worst' "$file")
	[ "$(jq '.not_understood | length' "$file")" -eq 0 ]
}

# exported DB RUN: what devices would have shown of it, diagnosed.
exported() {
	local end
	end=$(sqlite3 "$1" "SELECT end_ps FROM run WHERE id = $2")
	"$WEFT" export "$1" --run "$2" --to counters --out "out-$2"
	first "counters-$2.json" "out-$2/after" --before "out-$2/before" --interval "${end}ps"
}

# incident NAME RUN RULE DEVICE EXPORTED
incident() {
	local healthy=1
	"$WEFT" run "$WEFT_SOURCE_DIR/examples/incidents/$1.yaml" --seed 1 --record "$1.db" >/dev/null 2>&1
	first ill.json "$1.db" --run "$2"
	echo "$1: $first $severity $device"
	[ "$first" = "$3" ]
	[ "$severity" != information ]
	[ "$4" = - ] || [ "$device" = "$4" ]
	first well.json "$1.db" --run $healthy
	echo "$1, healthy: $first $worst"
	[ "$worst" = nothing ] || [ "$worst" = information ]
	exported "$1.db" $healthy
	echo "$1, healthy, exported: $first $worst"
	[ "$worst" = nothing ] || [ "$worst" = information ]
	[ "$5" != - ] || return 0
	exported "$1.db" "$2"
	echo "$1, exported: $first $severity"
	[ "$first" = "$5" ]
	[ "$severity" != information ]
	rm -rf out-1 "out-$2" "$1.db"
}

@test "every incident has the right cause first, and its healthy twin no warning" {
	local name rest seen=0
	while read -r name rest; do
		[ -n "$name" ] || continue
		[ -f "$WEFT_SOURCE_DIR/examples/incidents/$name.yaml" ]
		seen=$((seen + 1))
		if [ -n "${WEFT_TEST_ALL-}" ] || [[ " $SAMPLE " == *" $name "* ]]; then
			# shellcheck disable=SC2086 # words
			incident "$name" $rest
		fi
	done <<<"$INCIDENTS"
	# Each scenario is there but the second file of one.
	[ "$seen" -eq $(($(find "$WEFT_SOURCE_DIR/examples/incidents" -name '*.yaml' | wc -l) - 1)) ]
}

# switch: what SONiC prints of one, below a prompt; and its COUNTERS_DB.
switch() {
	cat >switch.txt <<'END'
admin@tor1:~$ show pfc counters
  Port Rx    PFC0    PFC3
---------  ------  ------
Ethernet0       0   1,203
Ethernet4       0       0

  Port Tx    PFC0    PFC3
---------  ------  ------
Ethernet0       0       0
Ethernet4       0   5,120

admin@tor1:~$ show queue counters
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3           1,000        1,000,000            0             0
Ethernet4    UC3               7             7000            0             0
admin@tor1:~$ show pfcwd stats
      QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-----------  --------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet0:3   stormed                        2/1         0/300           0/0              0/200                0/0
END
	cat >db.json <<'END'
{"COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1", "Ethernet4": "oid:0x2"},
 "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x11", "Ethernet4:3": "oid:0x12"},
 "COUNTERS:oid:0x1": {"SAI_PORT_STAT_PFC_0_RX_PKTS": "0", "SAI_PORT_STAT_PFC_3_RX_PKTS": "1203",
   "SAI_PORT_STAT_PFC_0_TX_PKTS": "0", "SAI_PORT_STAT_PFC_3_TX_PKTS": "0"},
 "COUNTERS:oid:0x2": {"SAI_PORT_STAT_PFC_0_RX_PKTS": "0", "SAI_PORT_STAT_PFC_3_RX_PKTS": "0",
   "SAI_PORT_STAT_PFC_0_TX_PKTS": "0", "SAI_PORT_STAT_PFC_3_TX_PKTS": "5120"},
 "COUNTERS:oid:0x11": {"SAI_QUEUE_STAT_PACKETS": "1000", "SAI_QUEUE_STAT_BYTES": "1000000",
   "SAI_QUEUE_STAT_DROPPED_PACKETS": "0", "SAI_QUEUE_STAT_DROPPED_BYTES": "0",
   "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "1",
   "PFC_WD_QUEUE_STATS_TX_PACKETS": "0", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS": "300",
   "PFC_WD_QUEUE_STATS_RX_PACKETS": "0", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS": "0",
   "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS_LAST": "200", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS_LAST": "0",
   "PFC_WD_STATUS": "stormed"},
 "COUNTERS:oid:0x12": {"SAI_QUEUE_STAT_PACKETS": "7", "SAI_QUEUE_STAT_BYTES": "7000",
   "SAI_QUEUE_STAT_DROPPED_PACKETS": "0", "SAI_QUEUE_STAT_DROPPED_BYTES": "0"}}
END
}

# same A B: two documents are the same but for files and lines.
same() {
	diff <(jq 'del(.cases[].name) | del(.. | .file?, .line?)' "$1") <(jq 'del(.cases[].name) | del(.. | .file?, .line?)' "$2")
}

@test "text and dump of the same switch say the same" {
	switch
	first text.json switch.txt
	[ "$first $severity $device" = "watchdog error tor1" ]
	says "$(jq -r '.cases[0].findings[0].what' text.json)" "acted 2 times on queue 3 and dropped 300 packets; it holds the queue now"
	first dump.json tor1=db.json
	same text.json dump.json
	[ "$(jq '.cases[0].values' text.json)" -eq 25 ]
	# Both together are no more than one.
	first both.json switch.txt tor1=db.json
	same text.json both.json
}

@test "one snapshot says what was ever counted, two what has happened in between" {
	switch
	weft diagnose switch.txt
	[ "$status" -eq 1 ]
	weft diagnose switch.txt --before switch.txt --interval 10s
	[ "$status" -eq 1 ] # the watchdog holds the queue now
	says "$out" "acted 0 times"
	sed 's/ stormed /healthy /' switch.txt >later.txt
	weft diagnose later.txt --before switch.txt --interval 10s
	[ "$status" -eq 0 ]
	says "$out" "nothing found"
}

@test "folders name devices, and so does NAME=" {
	mkdir -p site/tor1 site/h1/infiniband/mlx5_0/ports/1/hw_counters
	switch
	mv db.json site/tor1/counters.json
	echo 12 >site/h1/infiniband/mlx5_0/ports/1/hw_counters/rp_cnp_ignored
	echo 3 >site/h1/infiniband/mlx5_0/ports/1/hw_counters/rp_cnp_handled
	first site.json site
	[ "$(jq -r '[.cases[0].findings[] | select(.severity != "information") | .rule + " " + .device] | sort | join(", ")' site.json)" = \
		"cnp-ignored h1, watchdog tor1" ]
	first named.json h7=site/h1
	[ "$first $device" = "cnp-ignored h7" ]
}

@test "counters that have stopped are told of, and ones that go on are not" {
	printf '# Port counters: Lid 5 port 2\nSymbolErrorCounter:..............65535\nLinkDownedCounter:...............1\n' >pq.txt
	weft diagnose pq.txt
	[ "$status" -eq 3 ]
	says "$out" "65,535 or more"
	says "$out" "1 counter of 1 port stands at the most"
	sed -i 's/65535/65536/' pq.txt
	weft diagnose pq.txt
	[[ "$out" != *"or more"* ]]
}

@test "what is not understood is told of with its place, what cannot be right is an error" {
	printf 'rx_prio3_pause: 0\nwhatever it is\nrx_what: 5\n' >odd.txt
	weft diagnose odd.txt
	[ "$status" -eq 0 ]
	says "$err" "odd.txt:2:1: this line is not understood, and left out"
	says "$err" "odd.txt:3:1: counter 'rx_what' is not known, and left out"
	switch
	head -c 300 db.json >cut.json
	weft diagnose cut.json
	[ "$status" -eq 2 ]
	says "$err" "cut.json:4:43:"
	says "$err" "is the file complete?"
	weft diagnose nowhere
	[ "$status" -eq 2 ]
	weft diagnose
	[ "$status" -eq 2 ]
	weft diagnose odd.txt --live
	[ "$status" -eq 2 ]
}

# Files of others, which are not in the repository: WEFT_REFERENCE is the folder that has cli/, nic/ and ib/.
@test "real files have what their stories say" {
	[ -d "${WEFT_REFERENCE-}/cli" ] || skip "WEFT_REFERENCE names no folder with cli/, nic/ and ib/"
	local r=$WEFT_REFERENCE f
	for f in pfc-counters pg-drop queue-counters queue-voq queue-wredcounters pfcwd-stats; do
		"$WEFT" diagnose "sw=$r/cli/golden-show-$f.txt" --json >"$f.json" || [ $? -ne 2 ]
		[ "$(jq '.not_understood | length' "$f.json")" -eq 0 ]
	done
	# The same counters of queues as text and as JSON.
	"$WEFT" diagnose "sw=$r/cli/golden-show-queue-counters.json" --json >queue.json || [ $? -ne 2 ]
	same queue-counters.json queue.json
	# A storm, restored, storm again.
	for f in t1-stormed t3-stormed-again; do
		first storm.json "$r/cli/si8483-$f.txt"
		[ "$first $device" = "watchdog sonic-10431" ]
		says "$(jq -r '.cases[0].findings[0].what' storm.json)" "it holds the queue now"
	done
	first restored.json "$r/cli/si8483-t2-restored.txt"
	[[ "$(jq -r '.cases[0].findings[0].what' restored.json)" != *"holds the queue"* ]]
	first before.json "$r/cli/si8483-t0-no-storm.txt"
	[ "$worst" = nothing ]
	# Lossy drops beside untouched lossless queues.
	first lossy.json "$r/cli/su2393-queue-counters.txt"
	[ "$first $worst" = "lossy-drops information" ]
	[ "$(jq '.cases[0].findings[0].queue' lossy.json)" -eq 1 ]
	# All RDMA in priority 0; what is lost is no matter of congestion control.
	first nic.json "h=$r/nic/byteps179-t2-ethtool.txt" "h=$r/nic/byteps179-t2-hw_counters.txt" --before "h=$r/nic/byteps179-t0-ethtool.txt"
	[ "$first $severity" = "rdma-lossy warning" ]
	[ "$(jq '[.cases[0].findings[] | select(.rule == "retransmissions")] | length' nic.json)" -eq 1 ]
	first e810.json "$r/nic/intel-e810-prio.txt"
	[ "$first" = slow-receiver ]
	first prom.json "$r/nic/node_exporter-infiniband.prom"
	[ "$worst" = information ]
	# A real fabric: counters of 542 ports, some at their end.
	"$WEFT" diagnose "$r/ib/gary/pm.db_csv" --json >gary.json || [ $? -ne 2 ]
	[ "$(jq '.cases[0].devices' gary.json)" -eq 272 ]
	[ "$(jq '[.cases[0].findings[] | select(.rule == "link-errors")] | length > 0' gary.json)" = true ]
	[ "$(jq '[.cases[0].findings[] | select(.rule == "saturated")] | length' gary.json)" -eq 1 ]
}
