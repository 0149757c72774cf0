# SPDX-License-Identifier: Apache-2.0
# dead.bash - a fabric that can be brought to stand still: h2 is on sw3, h1 on sw5. Where the link between these two goes down, sw3
# sends by sw4, the long way round; sw4 never learns of it and sends back to sw3.

# dead_cluster FABRIC: the file dead.yaml.
dead_cluster() {
	cat >loop.txt <<'END'
8 5 8
3 4 5 6 7
0 5 10Gbps 0.0005ms 0
1 5 10Gbps 0.0005ms 0
2 3 10Gbps 0.0005ms 0
3 5 10Gbps 0.0005ms 0
3 4 10Gbps 0.0005ms 0
4 6 10Gbps 0.0005ms 0
6 7 10Gbps 0.0005ms 0
7 5 10Gbps 0.0005ms 0
END
	printf 'topology: {kind: hpcc, file: loop.txt}\nfabric: {%s}\ndevices: {sw4: {switch: {reconverge: 1000s}}}\nrun: {reconverge: 5us}\n' "$1" >dead.yaml
}
