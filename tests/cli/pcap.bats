# SPDX-License-Identifier: Apache-2.0
# pcap.bats - weft run --pcap and --wire-check: captures that Wireshark reads, packets that are packets.

load common

# rc_scenario: an incast on queue pairs that makes flow control speak; lines to change by sed.
rc_scenario() {
	cat <<'END'
name: captured
seed: 1
topology: {kind: leaf-spine, hosts: 16, radix: 16}
fabric: {profile: roce-400g, buffer: {size: 8MB, alpha: 1/16}}
traffic:
  - {kind: incast, fanin: 15, size: 300KB, op: write}
run: {until: 10ms}
END
}

need_tshark() {
	command -v tshark >/dev/null || skip "tshark is not installed"
}

# count FILE FILTER: packets that match.
count() {
	tshark -r "$1" -Y "$2" 2>/dev/null | wc -l
}

# is_clean FILE: tshark finds nothing wrong in any packet, and their times do not go back. One pass, which also
# leaves the opcode of each packet in opcodes.txt.
is_clean() {
	tshark -r "$1" -o ip.check_checksum:TRUE -T fields -E separator=, -e frame.number -e frame.time_epoch \
		-e infiniband.bth.opcode -e _ws.malformed -e _ws.expert.severity -e ip.checksum.status \
		2>/dev/null >packets.txt
	[ -s packets.txt ]
	awk -F, '
		$4 != "" || $5 >= 6291456 || $6 == 0 && $6 != "" || $2 + 0 < last + 0 { print; bad++ }
		{ last = $2 }
		END { exit bad > 0 }' packets.txt >bad.txt || { head bad.txt; return 1; }
	awk -F, '$3 != "" { print $3 }' packets.txt >opcodes.txt
}

# opcodes NUMBER...: how many packets of the file that is_clean() looked at last have one of these opcodes; all, of
# those that have one.
opcodes() {
	grep -cxE "$(tr ' ' '|' <<<"${*:-[0-9]+}")" opcodes.txt || true # there may be none
}

# delivered_and_sent: what hosts sent plus what the switches sent to hosts of one run, control left out, by the report.
delivered_and_sent() {
	python3 -c 'import json; r = json.load(open("stdout.txt"))["runs"][0]
print(r["packets_sent"] + r["packets_delivered"])'
}

@test "both ports of a host, and one of them" {
	need_tshark
	rc_scenario | sed 's/radix: 16/radix: 16, ports: 2, host_rate: 200Gbps/; s/roce-400g,/&nic: {rate_min: 0}, /' >s.yaml
	weft run s.yaml --quiet --json --pcap o.pcapng
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(opcodes)" -eq "$(delivered_and_sent)" ]
	tshark -r o.pcapng -T fields -e frame.interface_name 2>/dev/null | sort -u >names.txt
	grep -qx "h0:0" names.txt
	grep -qx "h0:1" names.txt
	weft run s.yaml --quiet --json --pcap one.pcapng --pcap-port h0:1
	[ "$status" -eq 0 ]
	is_clean one.pcapng
	tshark -r o.pcapng -Y 'frame.interface_name == "h0:1"' -T fields -e infiniband.bth.psn -e frame.time_epoch \
		2>/dev/null >all.txt
	tshark -r one.pcapng -T fields -e infiniband.bth.psn -e frame.time_epoch 2>/dev/null | diff all.txt -
	[ -s all.txt ]
}

@test "every operation on every link layer, as Wireshark sees it" {
	need_tshark
	rc_scenario >s.yaml
	for fabric in roce-400g ib-ndr roce-400g-lossy; do
		for op in $(first_of write send read window); do # some: the first at least
			weft run s.yaml --quiet --json --fabric $fabric --pcap o.pcapng \
				--set traffic.op=$op --set traffic.size=50KB
			[ "$status" -eq 0 ]
			is_clean o.pcapng
			[ "$(opcodes)" -eq "$(delivered_and_sent)" ]
			case $op in
			write) wanted="6 7 8 17" ;;
			send) wanted="0 1 2 17" ;;
			read) wanted="12 13 14 15" ;;
			window) wanted="4 17" ;;
			esac
			for o in $wanted; do
				[ "$(opcodes "$o")" -gt 0 ]
			done
		done
	done
}

@test "flow control is in the capture: PFC frames and credits" {
	need_tshark
	rc_scenario >s.yaml
	weft run s.yaml --quiet --json --pcap o.pcapng
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(count o.pcapng 'macc.opcode == 0x0101')" -gt 0 ]
	weft run s.yaml --quiet --json --fabric ib-ndr --pcap o.pcapng
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(count o.pcapng 'infiniband_link')" -gt 0 ]
	[ "$(count o.pcapng 'infiniband.bth')" -eq "$(delivered_and_sent)" ]
}

@test "what is left of trimmed packets is in it, and names its class" {
	need_tshark
	rc_scenario >s.yaml
	weft run s.yaml --quiet --json --fabric uec-400g --pcap o.pcapng --wire-check \
		--set traffic.class=3
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(count o.pcapng 'infiniband.bth')" -eq "$(delivered_and_sent)" ]
	# Class 3 has DSCP 26, and 28 when it was trimmed; such a packet is a frame of the smallest size,
	# and each was told of by name: an acknowledgement with a syndrome of weft's own.
	trimmed="$(count o.pcapng 'ip.dsfield.dscp == 28')"
	[ "$trimmed" -gt 0 ]
	[ "$trimmed" -eq "$(python3 -c 'import json
print(json.load(open("stdout.txt"))["runs"][0]["total"]["trimmed"])')" ]
	[ "$(count o.pcapng 'ip.dsfield.dscp == 28 && frame.len > 100')" -eq 0 ]
	[ "$(count o.pcapng 'infiniband.aeth.syndrome == 0x7f')" -eq "$((2 * trimmed))" ]
}

@test "congestion is in it: marked packets and CNPs" {
	need_tshark
	rc_scenario >s.yaml
	weft run s.yaml --quiet --json --pcap o.pcapng --wire-check --set fabric.cc.algorithm=dcqcn
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(count o.pcapng 'ip.dsfield.ecn == 3')" -gt 0 ]
	[ "$(count o.pcapng 'infiniband.bth.opcode == 0x81')" -gt 0 ]
}

@test "RoCE v1: no IP, a VLAN tag for PFC, no marks" {
	need_tshark
	rc_scenario >s.yaml
	weft run s.yaml --quiet --json --pcap o.pcapng --wire-check --set fabric.header=rocev1 \
		--set fabric.cc.algorithm=none
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(count o.pcapng 'eth && infiniband.grh && vlan.priority == 3 && vlan.etype == 0x8915')" -eq \
		"$(delivered_and_sent)" ]
	[ "$(count o.pcapng 'macc.opcode == 0x0101')" -gt 0 ]
	[ "$(count o.pcapng 'ip || udp || infiniband.bth.opcode == 0x81')" -eq 0 ]
	# 14 + 4 + 40 before the BTH; behind it BTH, payload and ICRC. The FCS is not in captures.
	[ "$(count o.pcapng 'infiniband.bth.opcode == 7 && frame.len == 4170')" -gt 0 ]
	python3 -c 'import json; assert json.load(open("stdout.txt"))["runs"][0]["total"]["ecn_marks"] == 0'
	# What lives on marks cannot be had with it.
	for cc in dcqcn dctcp nscc; do
		weft run s.yaml --quiet --set fabric.header=rocev1 --set fabric.cc.algorithm=$cc
		[ "$status" -eq 2 ]
		says "$err" "$cc lives on marks"
	done
}

@test "losses are in it: a packet that was lost on the link, and its repetition" {
	need_tshark
	rc_scenario >s.yaml
	for fabric in $(first_of roce-400g ib-ndr roce-400g-lossy); do # some: the first at least
		weft run s.yaml --quiet --json --fabric $fabric --set fabric.link.ber=5e-9 --set run.until=100ms \
			--set traffic.size=2MB --pcap o.pcapng --wire-check
		[ "$status" -eq 0 ]
		python3 -c 'import json; r = json.load(open("stdout.txt"))["runs"][0]
assert r["packets_dropped"] > 0 and r["finished"]'
		is_clean o.pcapng
		[ "$(count o.pcapng 'infiniband.aeth.syndrome.opcode == 3')" -gt 0 ]
	done
}

@test "the same bytes on 1, 2 and 4 threads" {
	rc_scenario >s.yaml
	for fabric in roce-400g ib-ndr roce-400g-lossy; do
		for threads in 1 2 4; do
			weft run s.yaml --quiet --fabric $fabric --pcap $threads.pcapng --threads $threads \
				--set fabric.link.ber=1e-9 --wire-check
			[ "$status" -eq 0 ]
			says "$err" "packets, all the same as their bytes"
		done
		cmp 1.pcapng 2.pcapng
		cmp 1.pcapng 4.pcapng
	done
}

@test "ports can be chosen; both ends of a link see the same packets" {
	need_tshark
	rc_scenario >s.yaml
	weft run s.yaml --quiet --pcap o.pcapng --pcap-port h5,leaf0:0,h0
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	[ "$(tshark -r o.pcapng -T fields -e frame.interface_name 2>/dev/null | sort -u | xargs)" = \
		"h0 h5 leaf0:0" ]
	[ "$(count o.pcapng 'frame.interface_name == "h0"')" -eq \
		"$(count o.pcapng 'frame.interface_name == "leaf0:0"')" ]
	weft run s.yaml --quiet --pcap o.pcapng --pcap-port leaf1
	[ "$status" -eq 0 ]
	[ "$(tshark -r o.pcapng -T fields -e frame.interface_name 2>/dev/null | sort -u | wc -l)" -gt 4 ]
}

@test "several fabrics are several files" {
	rc_scenario >s.yaml
	mkdir d.x
	weft run s.yaml --quiet --fabric ib-ndr,roce-400g,ib-ndr --pcap d.x/o.pcapng
	[ "$status" -eq 0 ]
	[ "$(ls d.x | xargs)" = "o.ib-ndr.pcapng o.ib-ndr_2.pcapng o.roce-400g.pcapng" ]
	cmp d.x/o.ib-ndr.pcapng d.x/o.ib-ndr_2.pcapng
	weft run s.yaml --quiet --fabric ib-ndr,roce-400g --pcap d.x/plain
	[ -s d.x/plain.ib-ndr ]
}

@test "a report does not depend on being watched" {
	rc_scenario >s.yaml
	weft run s.yaml --quiet --json
	cp stdout.txt plain.json
	weft run s.yaml --quiet --json --pcap o.pcapng --wire-check
	cmp stdout.txt plain.json
}

# bats test_tags=long
@test "--wire-check passes on every example, as it is and on queue pairs" {
	n=0
	for example in "$WEFT_SOURCE_DIR"/examples/*.yaml "$WEFT_SOURCE_DIR"/examples/incidents/*.yaml; do
		# Claims and validations are larger, and have nothing on the wire that others do not.
		[[ "$example" != */claim-*.yaml && "$example" != */validate-*.yaml ]] || continue
		n=$((n + 1))
		op=(traffic.op=write)
		[ $((n % 2)) -eq 0 ] || op=(traffic.op=read)
		# A job is on queue pairs anyway, and so is an incident.
		! grep -q '^job:' "$example" || op=()
		[[ "$example" != */incidents/* ]] || op=()
		for set in "" "${op[@]}"; do
			weft run "$example" ${set:+--set "$set"} --quiet --wire-check --set run.until=20us \
				--set fabric.sender.timeout=10us
			[ "$status" -eq 0 ] || { echo "$example $set"; echo "$err"; return 1; }
			says "$err" "packets, all the same as their bytes"
		done
	done
	[ "$n" -ge 35 ]
}

@test "ports that are not there" {
	rc_scenario >s.yaml
	for ports in h99 leaf7:0 leaf0:99 leaf0: leaf0:x leaf0:-1 "" , h0,,h1 h0:1 leaf0:4294967296; do
		weft run s.yaml --pcap o.pcapng --pcap-port "$ports"
		[ "$status" -eq 2 ] || { echo "'$ports': $status"; return 1; }
		says "$err" "--pcap-port"
	done
	weft run s.yaml --pcap o.pcapng --pcap-port laef0
	says "$err" "did you mean leaf0"
	weft run s.yaml --pcap-port h0
	[ "$status" -eq 2 ]
	says "$err" "--pcap FILE"
	[ -z "$(ls o.pcapng* 2>/dev/null)" ]
}

@test "a file that cannot be written" {
	rc_scenario >s.yaml
	weft run s.yaml --quiet --pcap nowhere/o.pcapng
	[ "$status" -eq 2 ]
	says "$err" "nowhere/o.pcapng: cannot write it"
	mkdir o.pcapng
	weft run s.yaml --quiet --pcap o.pcapng
	[ "$status" -eq 2 ]
	[ -z "$(ls o.pcapng.* 2>/dev/null)" ]
	weft run s.yaml --quiet --pcap "$(printf 'x%.0s' {1..5000})"
	[ "$status" -ne 0 ]
}

@test "a pipe is written to, not replaced" {
	rc_scenario >s.yaml
	mkfifo pipe
	timeout 600 cat pipe >through.pcapng &
	weft run s.yaml --quiet --pcap pipe
	wait
	[ "$status" -eq 0 ]
	[ -p pipe ]
	weft run s.yaml --quiet --pcap o.pcapng
	cmp o.pcapng through.pcapng
}

@test "a managed fabric: management packets with their MADs, and data by the LIDs that the manager gave" {
	need_tshark
	cat >s.yaml <<'END'
name: managed
seed: 1
topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 400Gbps}
fabric: {profile: ib-ndr, routing: lft, sm: weft, sm.start: cold, sm.lmc: 1}
traffic:
  - {kind: shift, distance: 3, op: write, size: 20KB, start: 30ms}
run: {until: 100ms}
END
	weft run s.yaml --quiet --json --pcap o.pcapng --pcap-port h0,h1,h2,h3,h4,h5,h6,h7,leaf0,leaf1,spine0
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	# With all ports a packet is there twice, where it leaves and where it comes.
	smps=$(python3 -c 'import json; print(json.load(open("stdout.txt"))["runs"][0]["sm"]["smps"])')
	[ "$(count o.pcapng 'infiniband.mad.mgmtclass == 0x81')" -eq $((2 * smps)) ]
	[ "$(count o.pcapng 'infiniband.mad.mgmtclass == 0x81 && infiniband.lrh.vl == 15 && infiniband.bth.destqp == 0')" \
		-eq $((2 * smps)) ]
	# What the manager says that it asked for, without what it asked its own adapter: NodeInfo.
	out='frame.interface_name == "h0" && frame.packet_flags_direction == 2'
	python3 -c 'import json; r = json.load(open("stdout.txt"))["runs"][0]["sm"]["requests"]
print(r["Get(NodeInfo)"] - 1, r["Set(LinearForwardingTable)"])' >asked.txt
	echo "$(count o.pcapng "$out && infiniband.mad.method == 0x01 && infiniband.mad.attributeid == 0x0011")" \
		"$(count o.pcapng "$out && infiniband.mad.method == 0x02 && infiniband.mad.attributeid == 0x0019")" >seen.txt
	diff asked.txt seen.txt
	# Each answer of a switch to what it is says how many ports it has.
	tshark -r o.pcapng -Y "infiniband.mad.method == 0x81 && infiniband.nodeinfo.nodetype == 2" \
		-T fields -e infiniband.nodeinfo.numports 2>/dev/null | sort -u >ports.txt
	[ -s ports.txt ]
	! grep -vx '0x0[48]' ports.txt || false
	# With LMC 1 every host has two LIDs from an even one on; without a manager they would be 1 to 8.
	tshark -r o.pcapng -Y 'infiniband.bth.opcode != 100 || infiniband.lrh.vl != 15' -T fields \
		-e infiniband.lrh.slid -e infiniband.lrh.dlid 2>/dev/null | tr '\t' '\n' | sort -nu >lids.txt
	[ "$(wc -l <lids.txt)" -eq 8 ]
	! grep -vE '[02468]$' lids.txt || false
	# So has TCP.
	sed -i 's/op: write/op: tcp/' s.yaml
	weft run s.yaml --quiet --pcap tcp.pcapng --pcap-port h1
	[ "$status" -eq 0 ]
	is_clean tcp.pcapng
	tshark -r tcp.pcapng -Y 'infiniband.lrh.vl != 15' -T fields -e infiniband.lrh.slid -e infiniband.lrh.dlid \
		2>/dev/null | tr '\t' '\n' | sort -nu >lids.txt
	[ "$(xargs <lids.txt)" = "4 10 14" ]
}

@test "a managed fabric whose hosts have two ports: each answers for itself, and its data has its LID" {
	need_tshark
	cat >s.yaml <<'END'
name: managed
seed: 1
topology: {kind: leaf-spine, hosts: 4, radix: 4, ports: 2, homing: pair, host_rate: 400Gbps}
fabric: {profile: ib-ndr, routing: lft, sm: weft, sm.start: cold}
traffic:
  - {kind: shift, distance: 1, op: write, size: 20KB, start: 30ms}
  - {kind: shift, distance: 2, op: write, size: 20KB, start: 30ms}
run: {until: 100ms}
END
	weft run s.yaml --quiet --pcap o.pcapng
	[ "$status" -eq 0 ]
	is_clean o.pcapng
	# Interface hN:0 is port 1 of host N, whose GUID is the host's; port 2 has 0x400000 more.
	tshark -r o.pcapng -Y 'frame.packet_flags_direction == 2 && infiniband.mad.method == 0x81 && infiniband.nodeinfo.nodetype == 1' \
		-T fields -e frame.interface_name -e infiniband.nodeinfo.localportnum -e infiniband.nodeinfo.portguid \
		2>/dev/null | sort -u >ports.txt
	# The manager asks its own first port without a wire.
	printf 'h%s:%s\t0x0%s\t0x00c0defffe%s000%s\n' 0 1 2 40 1 1 0 1 00 2 1 1 2 40 2 2 0 1 00 3 2 1 2 40 3 \
		3 0 1 00 4 3 1 2 40 4 >expected.txt
	diff expected.txt ports.txt
	# All data that leaves by a port has its LID, and no other port's has; what comes to a port has it, too.
	for way in '2 slid' '1 dlid'; do
		tshark -r o.pcapng -Y "frame.packet_flags_direction == ${way% *} && infiniband.lrh.vl != 15" \
			-T fields -e frame.interface_name -e "infiniband.lrh.${way#* }" 2>/dev/null | sort -u >"lids${way% *}.txt"
		[ "$(cut -f1 "lids${way% *}.txt" | sort -u | wc -l)" -eq "$(wc -l <"lids${way% *}.txt")" ]
		[ "$(cut -f2 "lids${way% *}.txt" | sort -u | wc -l)" -eq "$(wc -l <"lids${way% *}.txt")" ]
	done
	diff lids1.txt lids2.txt
	[ "$(cut -d: -f2 lids1.txt | cut -c1 | sort -u | xargs)" = "0 1" ]
}
