# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# bad_input.bats - whatever is wrong with the input: one line that says where, what is wrong and what
# would be right, exit status 2, nothing on standard output, nothing written.

load common

# bad EXPECTED: runs the scenario on standard input as s.yaml, which must be refused with a line that
# begins with EXPECTED.
bad() {
	cat >s.yaml
	weft run s.yaml --out result.txt
	[ "$status" -eq 2 ] || { echo "status $status: $err"; return 1; }
	[ -z "$out" ] || { echo "printed: $out"; return 1; }
	[ "$(wc -l <stderr.txt)" -eq 1 ] || { echo "more than a line: $err"; return 1; }
	if [[ "$err" != "$1"* ]]; then
		echo "expected: $1"
		echo "     got: $err"
		return 1
	fi
	! compgen -G 'result.txt*'
}

# change SED EXPECTED: the small scenario with one change must be refused.
change() {
	small_scenario | sed "$1" | bad "$2"
}

@test "an unknown key names the nearest known one" {
	change 's/^seed/sede/' "s.yaml:2:1: unknown key 'sede'; did you mean seed?"
	change 's/hosts: 8/hots: 8/' "s.yaml:3:30: unknown key 'hots'; did you mean hosts?"
	change 's/fabric: .*/fabric: {profile: roce-400g, ecn: {kmim: 5KB}}/' \
		"s.yaml:4:36: unknown key 'ecn.kmim'; did you mean ecn.kmin?"
	change 's/fabric: .*/fabric: {kmin: 5KB}/' "s.yaml:4:10: unknown key 'kmin'; did you mean ecn.kmin?"
	change 's/size: /sise: /' "s.yaml:6:25: unknown key 'sise'; did you mean size?"
	change 's/until/untl/' "s.yaml:7:7: unknown key 'run.untl'; did you mean run.until?"
	change 's/^seed: 1/colour: blue/' \
		"s.yaml:2:1: unknown key 'colour'; the keys here are topology, fabric, traffic, faults, job, storage, hosts, devices"
}

@test "a wrong unit names the right ones" {
	change 's/until: 10ms/until: 10km/' \
		's.yaml:7:14: run.until: "10km" is not a time; write it with ps, ns, us, ms or s, e.g. 10us'
	change 's/until: 10ms/until: 10/' 's.yaml:7:14: run.until: "10" is not a time'
	change 's/size: 100KB/size: 100Gbps/' \
		's.yaml:6:31: size: "100Gbps" is not a size; write it with B, KB, MB, GB, KiB, MiB or GiB'
	change 's/radix: 8/host_rate: 400/' 's.yaml:3:51: host_rate: "400" is not a rate'
	change 's/seed: 1/seed: one/' 's.yaml:2:7: seed: "one" is not a whole number'
	change 's/seed: 1/seed: -1/' 's.yaml:2:7: seed: "-1" is not a whole number'
	change 's/seed: 1/seed:/' 's.yaml:2:1: seed: "" is not a whole number'
}

@test "a value out of range names the range" {
	change 's/hosts: 8/hosts: 0/' 's.yaml:3:37: hosts: "0" is out of range; it may be 1 to'
	change 's/size: 100KB/size: 0/' 's.yaml:6:31: size: "0" is out of range; it may be 1B to'
	change 's/until: 10ms/until: 99999999999s/' 's.yaml:7:14: run.until: "99999999999s" is out of range'
	change 's/seed: 1/seed: 99999999999999999999999/' 's.yaml:2:7: seed: "99999999999999999999999" has too many digits'
	change 's/until: 10ms/until: 0.1ps/' 's.yaml:7:14: run.until: "0.1ps" is too fine'
	change 's/fabric: .*/fabric: {profile: roce-400g, mtu: 1B}/' 's.yaml:4:35: mtu: "1B" is out of range; it may be 64B to 16KiB'
	change 's/fabric: .*/fabric: {profile: roce-400g, ecn: {pmax: 120%}}/' 's.yaml:4:42: ecn.pmax: "120%" is out of range'
}

@test "an unknown name lists what there is" {
	change 's/leaf-spine/leafspine/' 's.yaml:3:18: kind: "leafspine" is not known; write auto'
	change 's/permutation/permutations/' "s.yaml:6:12: kind: there is no traffic 'permutations'; did you mean permutation?"
	change 's/fabric: .*/fabric: roce-400/' "s.yaml:4:9: there is no profile 'roce-400'; did you mean roce-400g?"
	change 's/fabric: .*/fabric: token-ring/' "s.yaml:4:9: there is no profile 'token-ring'; there are ib-"
	change 's/fabric: .*/fabric: {profile: roce-400g, routing: emcp}/' "s.yaml:4:39: routing: there is no 'emcp'; did you mean ecmp?"
	change 's/fabric: .*/fabric: {profile: roce-400g, flowctl: pcf}/' "s.yaml:4:39: flowctl: there is no 'pcf'; did you mean pfc?"
	change 's/fabric: .*/fabric: .\/nowhere.yaml/' "s.yaml:4:9: there is no profile file ./nowhere.yaml"
	change 's/{kind: permutation.*/{kind: random, sizes: websearsh}/' \
		"s.yaml:6:27: sizes: there is no distribution 'websearsh'; did you mean websearch?"
	change 's/{kind: permutation.*/{kind: random, sizes: .\/mine.txt}/' "s.yaml:6:27: there is no file ./mine.txt"
}

@test "values that do not fit each other" {
	change 's/{kind: permutation.*/{kind: incast, fanin: 8}/' \
		's.yaml:6:27: fanin: 8 hosts cannot send to one of 8; it may be at most 7'
	change 's/{kind: permutation.*/{kind: incast, target: 8, fanin: 2}/' \
		's.yaml:6:28: target: there is no host 8; the hosts are 0 to 7'
	change 's/fabric: .*/fabric: {profile: roce-400g, ecn: {kmin: 2MB}}/' \
		's.yaml:4:42: ecn.kmin: it is above ecn.kmax; it may be at most 1501500B'
	change 's/fabric: .*/fabric: {profile: roce-400g, ecn: {kmax: 2KB}}/' \
		's.yaml:4:42: ecn.kmin: it is above ecn.kmax; it may be at most 2000B'
	change 's/fabric: .*/fabric: {profile: roce-400g, flowctl: credit}/' \
		's.yaml:4:39: flowctl: credit cannot be had on Ethernet; write pfc or none'
	change 's/fabric: .*/fabric: {profile: ib-ndr, link_layer: ethernet}/' 's.yaml:4:39: flowctl: credit cannot be had on Ethernet'
	change 's/fabric: .*/fabric: {profile: ib-ndr, flowctl: pfc}/' 's.yaml:4:36: flowctl: pfc cannot be had on InfiniBand'
	change 's/fabric: .*/fabric: {profile: ib-ndr, vl: {buffer: 1KB}}/' 's.yaml:4:40: vl.buffer: no packet of mtu 4096B'
	change 's/fabric: .*/fabric: {profile: roce-400g, classes: {lossless: 9}}/' 's.yaml:4:50: classes.lossless: "9" is not a list of priorities'
	change 's/fabric: .*/fabric: {profile: ib-ndr, cc: {ibcc: {cct: "0,1,x"}}}/' \
		's.yaml:4:45: cc.ibcc.cct: "0,1,x" is not a congestion control table: entry 3: "x" is not a whole number'
	change 's/fabric: .*/fabric: {profile: roce-400g, buffer: {size: 10KB}}/' 's.yaml:4:45: buffer.size: '
	change 's/size: 100KB/class: 9/' 's.yaml:6:32: class: Ethernet (fabric roce-400g) has no priority 9; write 0 to 7'
	change 's/radix: 8/radix: 2/' 's.yaml:3:'
}

@test "ports of hosts that cannot be" {
	change 's/radix: 8/ports: 3/' 's.yaml:3:47: ports: "3" is out of range; it may be 1 to 2'
	change 's/radix: 8/ports: 0/' 's.yaml:3:47: ports: "0" is out of range; it may be 1 to 2'
	change 's/radix: 8/ports: 2, homing: both/' 's.yaml:3:58: homing: "both" is not known; write same, pair or planes'
	change 's/kind: leaf-spine, hosts: 8, radix: 8/kind: single, hosts: 8, ports: 2/' \
		's.yaml:3:18: homing: pair needs leaves that meet above, and kind single has none; write same or planes, or another kind'
	change 's/kind: leaf-spine, hosts: 8, radix: 8/kind: dragonfly, hosts: 8, ports: 2/' \
		's.yaml:3:46: ports: hosts of kind dragonfly have one port; 1, or kind single, leaf-spine'
	change 's/radix: 8/radix: 8, ports: 2/; s/roce-400g/ib-ndr/' \
		's.yaml:3:57: ports: on InfiniBand a queue pair belongs to a port, and traffic with op window has none; write op: write, send or read'
	change 's/radix: 8/radix: 8, ports: 2, homing: planes/; s/fabric: .*/fabric: {profile: ib-ndr, sm: weft}/; s/size: 100KB/&, op: write/' \
		's.yaml:3:68: homing: port 2 of h0 is in a subnet of its own, and a subnet manager has one; write homing: same or pair, or sm: ideal'
	change 's/fabric: .*/fabric: {profile: ib-ndr, routing: lft, sm: weft, sm.adaptive: true}/; s/size: 100KB/&, op: write/' \
		's.yaml:4:64: sm.adaptive: with routing lft a switch does not choose among the ports of a group; write routing: adaptive'
	change 's/radix: 8/radix: 8, ports: 2/; s/fabric: .*/fabric: {profile: ib-ndr, sharp: {enabled: true}}/; s/size: 100KB/&, op: write/' \
		's.yaml:4:44: sharp.enabled: hosts that take part in reductions of switches have one port; write false, or topology.ports: 1'
	change 's/radix: 8/radix: 8, ports: 2/; s/fabric: .*/fabric: {profile: ib-ndr, nic: {apm: always}}/; s/size: 100KB/&, op: write/' \
		's.yaml:4:38: nic.apm: "always" is not known; write none or armed'
	change 's/radix: 8/radix: 8, ports: 2/; s/fabric: .*/fabric: {profile: roce-400g, routing: lft}/' \
		's.yaml:4:39: routing: lft has one port for a destination, and hosts with 2 ports are reached by several; write ecmp'
	change 's/radix: 8/radix: 8, ports: 2/; s/size: 100KB/&, op: tcp/' \
		"s.yaml:3:57: ports: the kernel's TCP has one port here; write ports: 1, or leave TCP out"
	change 's/radix: 8/radix: 8, ports: 2/; s/size: 100KB/&, op: write/; $a storage: [{targets: h7, transport: tcp}]' \
		"s.yaml:3:57: ports: the kernel's TCP has one port here; write ports: 1, or leave TCP out"
	change 's/radix: 8/radix: 8, ports: 2/; s/size: 100KB/&, op: write/; s/fabric: .*/fabric: {profile: roce-400g, nic: {stack: sockets}}/; $a storage: [{targets: h7}]' \
		"s.yaml:3:57: ports: the kernel's TCP has one port here; write ports: 1, or leave TCP out"
	change 's/fabric: .*/fabric: {profile: roce-400g, nic: {bond: lacp}}/' \
		's.yaml:4:42: nic.bond: "lacp" is not known; write affinity, hash or active-backup'
}

@test "faults that cannot be" {
	fault() {
		{ small_scenario; echo "faults:"; echo "  - $1"; } | bad "$2"
	}
	fault '{link: [leaf0, spine9], down: 1us}' "s.yaml:9:12: link: the topology has no node 'spine9'; did you mean spine"
	fault '{link: [h0, spine0], down: 1us}' 's.yaml:9:12: link: there is no link between h0 and spine0; h0 is linked to leaf0'
	fault '{link: [leaf0, spine0, 5], down: 1us}' 's.yaml:9:12: link: there are only 4 links between leaf0 and spine0; write 0 to 3'
	fault '{link: leaf0, down: 1us}' 's.yaml:9:12: link is a value; write the names of its two ends'
	fault '{down: 1us}' 's.yaml:9:5: on is missing; write, e.g., on: leaf0-spine1'
	fault '{link: [leaf0, spine0]}' 's.yaml:9:5: down is missing'
	fault '{link: [leaf0, spine0], down: 2us, up: 1us}' 's.yaml:9:44: up: the link comes back before it goes down'
	fault '{link: [leaf0, spine0], down: 2us, upp: 1us}' "s.yaml:9:40: unknown key 'upp'; did you mean up?"
}

@test "faults by name that cannot be" {
	fault() {
		{ small_scenario; echo "faults:"; echo "  - $1"; } | bad "$2"
	}
	fault '{on: leaf9-spine0, at: 1us, fault: down}' "s.yaml:9:10: leaf9-spine0: the network has no such device"
	fault '{on: leaf0:99, at: 1us, fault: down}' 's.yaml:9:10: leaf0:99: leaf0 has no such port; write 0 to 7'
	fault '{on: h0-spine0, at: 1us, fault: down}' 's.yaml:9:10: h0-spine0: there is no link between h0 and spine0'
	fault '{on: leaf0, fault: down}' 's.yaml:9:5: at is missing; write, e.g., at: 20us'
	fault '{on: leaf0, at: 1us}' 's.yaml:9:5: write what goes wrong: fault (down, flap, pause-storm, slow-receiver) or set, one of them'
	fault '{on: leaf0, at: 1us, fault: down, set: {mtu: 1KB}}' 's.yaml:9:5: write what goes wrong'
	fault '{on: leaf0, at: 1us, fault: broken}' "s.yaml:9:33: there is no fault 'broken'"
	fault '{on: leaf0, at: 2us, until: 1us, fault: down}' 's.yaml:9:33: until: it is over before it begins'
	fault '{on: leaf0, at: 2us, fault: flap}' 's.yaml:9:5: a flap needs every and for'
	fault '{on: leaf0, at: 2us, fault: flap, every: 1us, for: 2us}' 's.yaml:9:56: for: it would be down all the time'
	fault '{on: leaf0, at: 2us, fault: down, every: 1us}' 's.yaml:9:5: every and for go with fault: flap'
	fault '{on: leaf0, at: 2us, fault: down, up: 3us}' 's.yaml:9:5: down and up go with link'
	fault '{on: spine0, at: 2us, fault: pause-storm}' 's.yaml:9:10: pause-storm: spine0 is no host; adapters do that, e.g. h0'
	fault '{on: h0, at: 2us, fault: slow-receiver}' 's.yaml:9:5: a slow-receiver needs a rate; write, e.g., rate: 32Gbps'
	fault '{on: h0, at: 2us, fault: slow-receiver, rate: 100bps}' 's.yaml:9:51: rate: "100bps" is out of range'
	fault '{on: h0, at: 2us, fault: down, rate: 1Gbps}' 's.yaml:9:5: rate goes with fault: slow-receiver'
	fault '{on: leaf0, at: 2us, fault: slow-receiver, rate: 1Gbps}' 's.yaml:9:10: slow-receiver: leaf0 is no host; adapters do that, e.g. h0'
	fault '{on: leaf0, at: 2us, set: {vl: {buffer: 32KiB}}}' 's.yaml:9:45: vl.buffer cannot change while the fabric runs; write it under devices'
	fault '{on: leaf0, at: 2us, set: {mtu: 1KB}}' 's.yaml:9:37: mtu is the same for all devices of a fabric; write it under fabric'
	fault '{on: h0, at: 2us, set: {ecn: {kmin: 1KB}}}' 's.yaml:9:41: ecn.kmin: h0 has no such setting; switches have it'
	fault '{on: leaf0, at: 2us, set: {ecn: {kmin: 9MB, kmax: 1MB}}}' 's.yaml:9:44: ecn.kmin'
	fault '{on: leaf0, at: 2us, set: [1]}' 's.yaml:9:31: set is a list'
	fault '{on: [leaf0], at: 2us, fault: down}' 's.yaml:9:10: on is a list; write one name'
	fault '{on: leaf0, at: 0us, until: 1000s, fault: flap, every: 1us, for: 500ns}' 's.yaml:9:10: with this there are more than 100000 events'
}

@test "storage that cannot be" {
	storage() {
		small_scenario | sed "s/^traffic:/storage:/; s/^  - .*/  - $1/" | bad "$2"
	}
	storage '{kind: random}' 's.yaml:6:5: targets: nobody has the drives; write hosts, e.g. targets: [h6, h7]'
	storage '{targets: h9}' "s.yaml:6:15: targets: h9: the network has no such device; did you mean h0?"
	storage '{targets: [h7, leaf0]}' 's.yaml:6:15: targets: leaf0 means leaf0, which is no host; write hosts, e.g. h0'
	storage "{targets: 'leaf0:3'}" 's.yaml:6:16: targets: leaf0:3: that is no host; write hosts, e.g. h0'
	storage "{targets: '*'}" 's.yaml:6:16: targets: * means '
	storage '{targets: hosts}' 's.yaml:6:15: targets: all 8 hosts are, and nobody uses them'
	storage '{targets: h7, hosts: [h1, h7]}' 's.yaml:6:26: hosts: h7 is among the targets, too'
	storage "{targets: h7, hosts: 'h9*'}" 's.yaml:6:27: hosts: h9*: the network has no such device'
	storage '{targets: h7, transport: udp}' 's.yaml:6:30: transport: "udp" is not known; write auto, rdma or tcp'
	storage '{targets: h7, maxh2cdata: 4097}' 's.yaml:6:31: maxh2cdata: it is no multiple of 4; write e.g. 4096B'
	storage '{targets: h7, maxh2cdata: 4095}' 's.yaml:6:31: maxh2cdata: "4095" is out of range; it may be 4KiB to 64MiB'
	storage '{targets: h7, data_align: 30}' 's.yaml:6:31: data_align: it is no multiple of 4; write e.g. 28B'
	storage '{targets: h7, kind: backup}' 's.yaml:6:25: kind: "backup" is not known; write random'
	storage '{targets: h7, class: 9}' 's.yaml:6:26: class: Ethernet (fabric roce-400g) has no priority 9; write 0 to 7'
	storage '{targets: h7, block: 511}' 's.yaml:6:26: block: "511" is out of range; it may be 512B to 64MiB'
	storage '{targets: h7, dept: 5}' "s.yaml:6:19: unknown key 'dept'; did you mean depth?"
	many='targets: [h4, h5, h6, h7], queues: 128, depth: 1024'
	storage "{$many}\\n  - {$many}\\n  - {targets: h7}" 's.yaml:8:5: depth: with 224 more of this entry 4194528 I/Os may be under way at a time'
	small_scenario | sed 's/^traffic:/storage:/; s/^  - .*/  kind: random/' | bad 's.yaml:6:3: storage is a mapping; write a list'
	small_scenario | sed 's/^traffic:/storage: []/; /^  - /d' | bad 's.yaml:5:10: storage is empty; write a list'
	{ small_scenario; echo 'storage: [{targets: h7}]'; } |
		bad 's.yaml:6:5: op: traffic beside storage goes over queue pairs or TCP; write op: write, send, read or tcp'
}

@test "devices that cannot be" {
	device() {
		{ small_scenario; echo "devices:"; echo "  $1"; } | bad "$2"
	}
	device 'leaf9: {ecn: {kmin: 1MB}}' 's.yaml:9:3: leaf9: the network has no such device; did you mean leaf'
	device 'h0: {ecn: {kmin: 1MB}}' 's.yaml:9:20: ecn.kmin: h0 has no such setting; switches have it'
	device 'spine0: {nic: {pcie: 10Gbps}}' 's.yaml:9:24: nic.pcie: spine0 has no such setting; hosts have it'
	device 'h0: {nic: {rx_full: endless, rx_buffer: 1MB}}' 's.yaml:9:43: nic.rx_buffer: an endless one has no size'
	device 'h0: {nic: {rx_full: pause, rx_xoff: 1MB}}' 's.yaml:9:39: nic.rx_xoff: the buffer has less than that; it may be at most 220896B'
	device 'h0: {nic: {rx_full: pause, rx_xoff: 100KB, rx_xon: 150KB}}' 's.yaml:9:54: nic.rx_xon: a pause would end before it begins; it may be at most 100000B'
	device 'h0: {nic: {rx_buffer: 50KB}}' 's.yaml:9:25: nic.rx_buffer: h0 has 50000B, but after a pause up to'
	device 'h0: {nic: {rx_full: wait}}' 's.yaml:9:23: nic.rx_full: "wait" is not known'
	device "'leaf0:3': {buffer: {size: 1MB}}" 's.yaml:9:30: buffer.size: leaf0:3 has no such setting'
	device "'leaf0:3': {link: {fec: rs544}}" 's.yaml:9:27: link.fec: leaf0:3 has no such setting; links have it, e.g. leaf0-spine1'
	device 'h0: {link: {fec: kp4}}' 's.yaml:9:20: link.fec: "kp4" is not known; write none, firecode, rs528'
	device 'h0: {link: {raw_ber: 2%}}' 's.yaml:9:24: link.raw_ber: "2%" is out of range; it may be 0 to 1e-2'
	device 'h0: {link: {width: 2}}' 's.yaml:9:22: link.width: "2" is out of range; it may be '
	device 'h0: {link: {retry: llr, retry_max: 0}}' 's.yaml:9:38: link.retry_max: "0" is out of range; it may be 1 to 15'
	device 'h0: {link: {retry_buffer: 2KB}}' 's.yaml:9:29: link.retry_buffer: no packet of mtu 4096B and its headers fits; it must be at least 4224B'
	device 'leaf0: {mtu: 1KB}' 's.yaml:9:16: mtu is the same for all devices of a fabric; write it under fabric'
	device 'leaf0: {ecn: {kmim: 1MB}}' "s.yaml:9:17: unknown key 'ecn.kmim'; did you mean ecn.kmin?"
	device 'leaf0: {ecn: {kmin: 3MB}}' 's.yaml:9:23: ecn.kmin'
	device "leaf0: {maps: {dscp_tc: '64:3'}}" 's.yaml:9:28: maps.dscp_tc: "64:3" is not DSCP:class'
	device "leaf0: {maps: {tc_pg: '3-1:3'}}" 's.yaml:9:26: maps.tc_pg: "3-1:3" is not class:group'
	device "leaf0: {hash: {fields: 'src,port'}}" 's.yaml:9:27: hash.fields: there is no field "port"'
	device "leaf0: {pfc: {tx: '9'}}" 's.yaml:9:22: pfc.tx'
	device 'leaf0: 5' 's.yaml:9:10: leaf0 is a value; write a mapping of parameters'
	device 'leaf0-spine9: {link: {ber: 1e-9}}' 's.yaml:9:3: leaf0-spine9: the network has no such device'
	device 'leaf0-spine0/9: {link: {ber: 1e-9}}' 's.yaml:9:3: leaf0-spine0/9: there is no such link: they have fewer between leaf0 and spine0'
	for n in 0 -1 2x '' '*' 00 4294967297; do
		device "leaf0-spine0/$n: {link: {ber: 1e-9}}" "s.yaml:9:3: leaf0-spine0/$n: links between the same two are numbered from 1 on; write leaf0-spine0/1, or leaf0-spine0 for all of them"
	done
	{ small_scenario; echo "devices: [leaf0]"; } | bad 's.yaml:8:10: devices is a list'
}

@test "the same parameter twice" {
	change 's/fabric: .*/fabric: {profile: roce-400g, ecn: {kmin: 1KB}, ecn.kmin: 2KB}/' \
		's.yaml:4:58: ecn.kmin is there twice in this file'
}

@test "the wrong shape" {
	change '/^topology/d' 's.yaml:1:1: topology is missing; write, e.g., topology: {kind: fat-tree, hosts: 128}'
	change '/^fabric/d' 's.yaml:1:1: fabric is missing'
	change '/^traffic/,/^  -/d' 's.yaml:1:1: traffic, job or storage is missing'
	change 's/^topology.*/topology: big/' 's.yaml:3:11: topology: this is a value; write a mapping'
	change 's/^  - /  x: /' 's.yaml:6:3: traffic is a mapping; write a list of mappings'
	change 's/fabric: .*/fabric: []/' 's.yaml:4:9: fabric is an empty list'
	change 's/fabric: .*/fabric: [[roce-400g]]/' 's.yaml:4:10: a fabric is a list'
	change 's/fabric: .*/fabric: {profile: [a, b]}/' 's.yaml:4:19: profile is a list; write one name'
	change 's/hosts: 8/hosts: [8]/' 's.yaml:3:37: hosts is a list; write a single value'
	change 's/^run.*/run: 10ms/' 's.yaml:7:6: run is a value; write a mapping'
	bad 's.yaml:1:1: this is a list; write a mapping' <<<'[1, 2]'
	bad 's.yaml: it is empty' </dev/null
	bad 's.yaml: it is empty' <<<'# nothing'
}

@test "what is not YAML" {
	change 's/^seed: 1/seed: 1\nseed: 2/' "s.yaml:3:1: the key 'seed' is there twice, first on line 2"
	printf 'run:\n\tuntil: 1ms\n' | bad 's.yaml:2:1: this is not YAML: tab character may not be used as indentation'
	printf 'a: [1, 2\nb: 3\n' | bad 's.yaml:3:1: this is not YAML'
	printf 'a: &x [*x, *x]\n' | bad 's.yaml:1:5: an anchor cannot be used here'
	printf 'a: 1\n---\nb: 1\n' | bad 's.yaml: it holds more than one document'
	printf 'a: \xff\n' | bad 's.yaml:1:4: the byte 0xff is no text'
	printf 'name: x\0y\n' | bad 's.yaml:1:8: the byte 0x00 is no text'
	head -c 100000 /dev/zero | tr '\0' '[' | bad 's.yaml:1:33: it is nested more than 32 deep'
	head -c 3000 "$WEFT" | bad 's.yaml:1:'
}

@test "an anchor bomb is refused at once" {
	{
		echo 'a: &a [x, x, x, x, x, x, x, x, x]'
		for i in b c d e f g h i; do
			echo "$i: &$i [*a, *a, *a, *a, *a, *a, *a, *a]"
		done
	} | bad 's.yaml:1:5: an anchor cannot be used here'
}

@test "a file that cannot be read" {
	weft run nowhere.yaml
	[ "$status" -eq 2 ]
	says "$err" "nowhere.yaml: cannot open it: No such file or directory"
	mkdir folder
	weft run folder
	[ "$status" -eq 2 ]
	says "$err" "folder: it is a directory; name a file in it"
	mkfifo pipe
	weft run pipe
	[ "$status" -eq 2 ]
	says "$err" "pipe: it is not a regular file"
	weft run /dev/zero
	[ "$status" -eq 2 ]
	says "$err" "/dev/zero: it is not a regular file"
	if [ "$(id -u)" -ne 0 ]; then
		small_scenario >secret.yaml
		chmod 0 secret.yaml
		weft run secret.yaml
		[ "$status" -eq 2 ]
		says "$err" "secret.yaml: cannot open it: Permission denied"
	fi
}

# bytes_read: by this process and those that it has waited for.
bytes_read() {
	sed -n 's/^rchar: //p' "/proc/$$/io"
}

@test "a file of two gigabytes is not read" {
	truncate -s 2G big.yaml
	before=$(bytes_read)
	weft run big.yaml
	[ "$status" -eq 2 ]
	says "$err" "big.yaml: it has 2147483648 bytes; at most 1 MiB are read"
	truncate -s 2G big.txt
	small_scenario | sed 's/^topology.*/topology: {kind: hpcc, file: big.txt}/' | bad 'big.txt: it has 2147483648 bytes; at most 64 MiB are read'
	[ $(($(bytes_read) - before)) -lt 100000000 ]
}

@test "files that a scenario names" {
	change 's/^topology.*/topology: {kind: hpcc, file: gone.txt}/' 's.yaml:3:30: there is no file gone.txt'
	change 's/^topology.*/topology: {kind: hpcc}/' 's.yaml:3:18: kind: hpcc is read from a file'
	mkdir -p sub
	printf '3 1 2\n2\n0 2 100Gbps 1us 0\n0 7 100Gbps 1us 0\n' >sub/t.txt
	change 's/^topology.*/topology: {kind: hpcc, file: sub\/t.txt}/' 'sub/t.txt:4:'
	change 's/^topology.*/topology: {kind: hpcc, file: sub}/' 'sub: it is a directory'
	printf '0 0\nten 100\n' >cdf.txt
	change 's/{kind: permutation.*/{kind: random, sizes: cdf.txt}/' 'cdf.txt:2:1: the size: "ten" is not a size'
}

@test "a profile that is wrong is named with its own place" {
	mkdir -p mine
	printf 'base: roce-400g\necn: {kmin: many}\n' >mine/a.yaml
	printf 'base: c\n' >mine/b.yaml
	printf 'base: b\n' >mine/c.yaml
	printf 'base: nothing\n' >mine/d.yaml
	printf 'bsae: roce-400g\n' >mine/e.yaml
	small_scenario >s.yaml
	for case in "a:mine/a.yaml:2:13: ecn.kmin: \"many\" is not a size" \
		"b:mine/c.yaml:1:7: base 'b' is the 8th profile" \
		"d:mine/d.yaml:1:7: there is no profile 'nothing'" \
		"e:mine/e.yaml:1:1: unknown key 'bsae'; did you mean base?"; do
		weft run s.yaml --profiles mine --fabric "${case%%:*}"
		[ "$status" -eq 2 ]
		says "$err" "${case#*:}"
	done
	weft run s.yaml --profiles nowhere
	[ "$status" -eq 2 ]
	says "$err" "--profiles nowhere: there is no such folder"
}

@test "the command line" {
	small_scenario >s.yaml
	# wrong MESSAGE ARGS...
	wrong() {
		local message=$1
		shift
		weft "$@"
		[ "$status" -eq 2 ] || { echo "status $status of $*: $err"; return 1; }
		[ -z "$out" ] || { echo "printed: $out"; return 1; }
		says "$err" "$message"
	}
	wrong "there is no command 'rum'; did you mean run?" rum
	wrong "weft run: which scenario?" run
	wrong "weft run: one scenario at a time, not t.yaml too" run s.yaml t.yaml
	wrong "weft run: there is no option --jsn; did you mean json?" run s.yaml --jsn
	wrong "weft run: there is no option -x" run -x s.yaml
	wrong "weft run: --out needs a value" run s.yaml --out
	wrong "weft run: -o needs a value" run s.yaml -o
	wrong "weft run: --json takes no value" run s.yaml --json=yes
	wrong 'weft run: --threads: "0" is out of range; it may be 1 to 64' run s.yaml --threads 0
	wrong 'weft run: --threads: "many" is not a whole number' run s.yaml --threads many
	wrong "weft run: --set seed: write PARAMETER=VALUE" run s.yaml --set seed
	wrong '--seed x: seed: "x" is not a whole number' run s.yaml --seed x
	wrong "--set fabric.ecn.kmim=1KB: unknown key 'ecn.kmim'; did you mean ecn.kmin?" run s.yaml --set fabric.ecn.kmim=1KB
	wrong "--set fabric.ecn.kmin=2MB: ecn.kmin: it is above ecn.kmax" run s.yaml --set fabric.ecn.kmin=2MB
	wrong "--set hosts=4: unknown parameter; it begins with fabric." run s.yaml --set hosts=4
	wrong "--set traffic.3.size=4: there is no traffic 3; there are 0 to 0" run s.yaml --set traffic.3.size=4
	wrong "--fabric: there is no profile 'x'" run s.yaml --fabric roce-400g,x
	wrong "--fabric: there is no profile ''" run s.yaml --fabric ''
	wrong "weft list: there is no topic 'profile'; did you mean profiles?" list profile
	wrong "weft list: one topic at a time" list profiles routing
	wrong "weft show: name one profile" show
	wrong "there is no profile 'x'" show x
	wrong "weft help: there is no command 'x'" help x
}

@test "traffic beside a job without an operation is an error of the traffic" {
	cat >both.yaml <<'END'
topology: {kind: single, hosts: 8}
fabric: ib-ndr
traffic:
  - {kind: incast, fanin: 2, size: 1KB, op: write}
  - {kind: permutation, size: 1MB}
job: {kind: all-reduce, bytes: 1MB, gpus_per_server: 1}
END
	weft run both.yaml
	[ "$status" -eq 2 ]
	says "$err" "both.yaml:5:5: op: traffic beside a job goes over queue pairs or TCP; write op: write, send, read or tcp"
	sed '/^job/d' both.yaml >mixed.yaml
	weft run mixed.yaml
	[ "$status" -eq 2 ]
	says "$err" "mixed.yaml:5:5: op: window does not go together with write, send, read or tcp"
}

@test "a topology and a job that count a server's NICs differently are refused" {
	printf 'topology: {kind: leaf-spine, hosts: 32, gpus: 4}\nfabric: ib-ndr\njob: {kind: all-reduce, bytes: 1MB, gpus_per_server: 8}\n' >g.yaml
	weft run g.yaml
	[ "$status" -eq 2 ]
	says "$err" "g.yaml:3:54: gpus_per_server: the job's servers have 8 NICs, the topology's 4 (gpus)"
	sed -i 's/gpus: 4/gpus: 8/' g.yaml
	weft run g.yaml
	[ "$status" -eq 0 ]
}

@test "a profile made for other links, and a model that fits no GPU, are refused" {
	small_scenario | sed 's/roce-400g/roce-100g/' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "nic.rate_max: this is made for hosts of at most 100 Gb/s, and there are links of 400"
	weft run s.yaml --set topology.host_rate=100Gbps
	[ "$status" -eq 0 ]
	printf 'topology: {kind: rail, hosts: 64}\nfabric: ib-ndr\njob: {kind: train, model: llama3-405b, tp: 1}\n' >big.yaml
	weft run big.yaml
	[ "$status" -eq 2 ]
	says "$err" "memory_check: a GPU of stage 0 would need "
}
