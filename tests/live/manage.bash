# SPDX-License-Identifier: Apache-2.0
# manage.bash - fabrics whose devices answer management packets, and what their model says of them.

load common

# managed: for every test. In builds with a sanitizer, libosmvendor's users look as if they used what they have given
# back: an answer may come, and a thread of theirs free the request, before write() of it returns; the sanitizer looks
# at the buffer again then.
managed() {
	needs ibnetdiscover jq
	printf 'interceptor_via_lib:libosmvendor\ninterceptor_via_lib:libibumad\n' >suppressions.txt
	export ASAN_OPTIONS=$ASAN_OPTIONS:suppressions=$PWD/suppressions.txt
}

# fabric KIND SM [RATE]: starts one: tree, 64 hosts on two tiers, or dragonfly, 36 hosts.
fabric() {
	local topology
	case $1 in
	tree) topology="{ kind: leaf-spine, radix: 16, hosts: 64, host_rate: ${3:-400Gbps} }" ;;
	dragonfly)
		topology="{ kind: dragonfly, hosts: 36, group_switches: 3, switch_hosts: 3, global_links: 1,"
		topology+=" host_rate: ${3:-400Gbps}, fabric_rate: ${3:-400Gbps} }"
		;;
	esac
	printf 'name: %s\ntopology: %s\nfabric: { profile: ib-ndr, sm: %s }\n' "$1" "$topology" "$2" >fabric.yaml
	up fabric.yaml
	model
}

# model: what the model says, in model.json, links.txt (a line for each end: node, port, peer) and hosts.txt.
model() {
	"$WEFT" status --json >model.json
	jq -r '.model.ports[] | "\(.node) \(.port) \(.peer)"' model.json | sort >links.txt
	jq -r '.hosts[].name' model.json | sort >hosts.txt
	jq -r '.model.ports[] | select(.switch) | .node' model.json | sort -u >switches.txt
}

# runs HOST PROGRAM ARGS...: it ends well, and what it says is in said.txt.
runs() {
	if ! on "$@" >said.txt 2>said.err; then
		echo "on $*:"
		cat said.txt said.err
		return 1
	fi
}

# lid NAME: of a host or switch, by ibnetdiscover, which is in nodes.txt.
lid() {
	[ -s nodes.txt ] || on "$(head -1 hosts.txt)" ibnetdiscover -p >nodes.txt
	# CA    64  1 0x00c0defffe000040 4x NDR - SW    72  8 0x00c0defffe800047 ( 'h63 weft0' - 'leaf7' )
	sed -nE "s/^(CA|SW) +([0-9]+) .*\( '$1( weft0)?' - .*/\2/p" nodes.txt | head -1
}
