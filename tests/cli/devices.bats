# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# devices.bats - what single devices are set to, as weft show devices tells it, and that a packet capture has what adapters mark.

load common

scenario() {
	cat <<-'END'
		name: set otherwise
		topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}
		fabric:
		  - roce-100g
		  - {profile: ib-hdr, devices: {leaf1: {switch: {latency: 1us}}}}
		traffic:
		  - {kind: permutation, op: write, size: 20KB}
		devices:
		  leaf*: {ecn: {kmin: 10KB}}
		  leaf1: {ecn: {kmin: 20KB}}
		  tier2: {hash: {seed: 4}}
		  'leaf1:h5': {port: {mtu: 1500B}}
		  h5-leaf1: {link: {ber: 1e-9}}
		  h3: {nic: {dscp: '3:24', cnp_dscp: 40}}
		run: {until: 10ms}
	END
}

# shown DEVICE FABRIC: parameters that a line of the scenario set, and which.
shown() {
	"$WEFT" show devices s.yaml "$1" --json >shown.json || return 1
	jq -r --arg f "$2" '.fabrics[] | select(.fabric == $f) | .parameters as $p | .sources | to_entries[]
		| select(.value | startswith("s.yaml")) | "\(.key) \($p[.key]) \(.value)"' shown.json
}

@test "weft show devices says what a device has, and which line said so" {
	scenario >s.yaml
	[ "$(shown leaf0 roce-100g)" = "ecn.kmin 10KB s.yaml:9" ] || { shown leaf0 roce-100g; return 1; }
	[ "$(shown leaf1 roce-100g)" = "ecn.kmin 20KB s.yaml:10" ]
	[ "$(shown spine0 roce-100g)" = "hash.seed 4 s.yaml:11" ]
	[ "$(shown h0 roce-100g)" = "" ]
	[ "$(shown h3 roce-100g)" = "$(printf '%s\n' "nic.dscp 3:24 s.yaml:14" "nic.cnp_dscp 40 s.yaml:14")" ] ||
		{ shown h3 roce-100g; return 1; }
	# A port has what its device has, what is said of it, and what is said of its link at both ends.
	[ "$(shown leaf1:h5 roce-100g | sort)" = "$(printf '%s\n' "ecn.kmin 20KB s.yaml:10" "link.ber 1e-9 s.yaml:13" \
		"port.mtu 1500B s.yaml:12")" ] || { shown leaf1:h5 roce-100g; return 1; }
	shown h5:leaf1 roce-100g | grep -q "^link.ber 1e-9 s.yaml:13$"
	[ "$(shown leaf0:h1 roce-100g)" = "ecn.kmin 10KB s.yaml:9" ]
	# An entry of one fabric is that fabric's.
	shown leaf1 ib-hdr | grep -q "^switch.latency 1us s.yaml:5$"
	[ "$(shown leaf1 roce-100g | grep -c switch.latency)" = 0 ]
}

@test "a host's second port has a name and a link, and may be set by itself" {
	cat >s.yaml <<-'END'
		topology: {kind: leaf-spine, hosts: 8, ports: 2, radix: 8, host_rate: 100Gbps}
		fabric: {profile: roce-100g, name: f}
		traffic: [{kind: permutation, op: write, size: 20KB}]
		devices:
		  h5:1: {link: {ber: 1e-9}}
		  h5-leaf3: {port: {mtu: 1500B}}
		  h2: {nic: {bond: active-backup, bond_failover: 3us}}
		run: {until: 10ms}
	END
	[ "$(shown h5:0 f)" = "" ] || { shown h5:0 f; return 1; }
	[ "$(shown h5:1 f | sort)" = "$(printf '%s\n' "link.ber 1e-9 s.yaml:5" "port.mtu 1500B s.yaml:6")" ] ||
		{ shown h5:1 f; return 1; }
	[ "$(shown leaf3:h5 f)" = "port.mtu 1500B s.yaml:6" ]
	[ "$(shown h2 f)" = "$(printf '%s\n' "nic.bond active-backup s.yaml:7" "nic.bond_failover 3us s.yaml:7")" ]
	weft run s.yaml --quiet --ports --json
	[ "$status" -eq 0 ]
}

@test "weft show devices as a table, and what it cannot show" {
	scenario >s.yaml
	weft show devices s.yaml leaf1:h5
	[ "$status" -eq 0 ]
	grep -q "port.mtu: 1500B .*s.yaml:12" stdout.txt
	weft show devices s.yaml leaf7
	[ "$status" -eq 2 ]
	says "$err" "leaf7: the network has no such device; did you mean leaf"
	weft show devices s.yaml 'leaf*'
	[ "$status" -eq 2 ]
	says "$err" "that is several; name one device or port, e.g. leaf"
}

@test "packets carry the DSCP that their adapter gives them" {
	scenario >s.yaml
	weft run s.yaml --fabric roce-100g --pcap c.pcapng --quiet
	[ "$status" -eq 0 ]
	# h3 is 10.0.0.4, or as weft numbers it: by its packets' own addresses.
	tshark -r c.pcapng -Y 'infiniband.bth.opcode != 17 && udp.dstport == 4791' -T fields -e ip.src -e ip.dsfield.dscp \
		2>/dev/null | sort -u >marks.txt
	[ "$(cut -f 2 marks.txt | sort -n | uniq -c | tr -s ' ' | tr '\n' ';')" = " 1 24; 7 26;" ] ||
		{ cat marks.txt; return 1; }
}
