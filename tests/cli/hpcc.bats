# SPDX-License-Identifier: Apache-2.0
# hpcc.bats - weft run --hpcc: the HPCC simulator's files, in its model.

load common

data() {
	echo "$WEFT_SOURCE_DIR/tests/data/ns3/$1"
}

# bats test_tags=long
@test "what it prints of the HPCC simulator's cases is what that prints" {
	# Assertions and sanitizers make the large cases take minutes.
	small=${WEFT_TEST_SHORT:+--small}
	python3 "$WEFT_SOURCE_DIR/scripts/compare_ns3.py" --weft "$WEFT" $small
}

# bats test_tags=long
@test "made-up cases on links of mixed rates: what a second implementation of the model says" {
	python3 "$WEFT_SOURCE_DIR/scripts/compare_ns3.py" --weft "$WEFT" \
		--data "$WEFT_SOURCE_DIR/tests/data/ns3_made"
	# It is still what that implementation says, and that still says what the HPCC simulator does.
	model="$WEFT_SOURCE_DIR/scripts/ns3_model.py"
	python3 "$model" --make 67 m
	diff -r m "$WEFT_SOURCE_DIR/tests/data/ns3_made/mixed/hpcc_67"
	case=$(data c_perm32_400G/dctcp)
	python3 "$model" "$case/config.txt" "$case/paths.txt" r
	cmp <(sort r/fct.txt) <(sed 's/ *$//' "$case/fct.txt" | sort)
}

@test "the same on 1, 2 and 4 threads" {
	for case in b_incast16_buf4/dcqcn c_perm16_100G/hpcc b_incast16_buf4/pfconly \
		g_loss_0.001/hpcc_rng1; do
		paths=
		[ ! -e "$(data $case)/paths.txt" ] || paths="--paths $(data $case)/paths.txt"
		for threads in 1 2 4; do
			"$WEFT" run --quiet --hpcc "$(data $case)/config.txt" $paths \
				--threads $threads --out t$threads
			cmp t1/fct.txt t$threads/fct.txt
			cmp t1/pfc.txt t$threads/pfc.txt
		done
		[ -s t1/fct.txt ]
		rm -r t1 t2 t4
	done
}

@test "the seed changes what chance decides, and nothing else" {
	for case in a_2to1/dcqcn a_2to1/pfconly; do
		for seed in 1 2; do
			"$WEFT" run --quiet --hpcc "$(data $case)/config.txt" \
				--paths "$(data $case)/paths.txt" --seed $seed --out s$seed
		done
		cmp s1/fct.txt s2/fct.txt && same=yes || same=no
		[ "$case,$same" = a_2to1/dcqcn,no ] || [ "$case,$same" = a_2to1/pfconly,yes ]
		rm -r s1 s2
	done
}

@test "without paths flows are hashed, and all end" {
	weft run --hpcc "$(data c_perm16_100G/dctcp)/config.txt" --out o
	[ "$status" -eq 0 ]
	says "$err" "16 of 16 flows done"
	[ "$(wc -l <o/fct.txt)" -eq 16 ]
}

@test "chance is that simulator's: the same marks with the same seed" {
	cut -d' ' -f1-7 "$(data b_incast16/dcqcn_paper)/fct.txt" | sort >theirs
	for seed in 1 2; do
		"$WEFT" run --quiet --hpcc "$(data b_incast16/dcqcn_paper)/config.txt" \
			--seed $seed --out o
		cut -d' ' -f1-7 o/fct.txt | sort >ours$seed
	done
	cmp ours1 theirs
	[ "$(comm -12 ours2 theirs | wc -l)" -eq 0 ]
}

@test "of several links between two switches, that simulator uses the last" {
	printf '%s\n' '4 2 4' '2 3' '0 2 100Gbps 1000ns 0' '1 3 100Gbps 1000ns 0' \
		'2 3 100Gbps 1000ns 0' '2 3 400Gbps 2000ns 0' >topo.txt
	printf '%s\n' '2' '0 1 3 100 5000 2.0' '1 0 3 100 1 2.001' >flow.txt
	printf '%s\n' '0 1 10000 100 0-2-3-1 1-3-2-0' '1 0 10000 100 1-3-2-0 0-2-3-1' >paths.txt
	sed -e 's/^TOPOLOGY_FILE .*/TOPOLOGY_FILE topo.txt/; s/^FLOW_FILE .*/FLOW_FILE flow.txt/' \
		"$(data a_2to1/pfconly)/config.txt" >config.txt
	"$WEFT" run --quiet --hpcc config.txt --paths paths.txt --out o
	# 5 packets: 5 x 83 + 20 + 83 ns forward, an acknowledgement back, 4 us of links each way.
	[ "$(cut -d' ' -f7,8 o/fct.txt | tr '\n' ' ')" = "8527 8599 8015 8183 " ]
}

@test "an isolated loss costs 52 packets" {
	sed 's/0.000000$/0/; s/^0 3 100Gbps 1000ns 0$/0 3 100Gbps 1000ns 0.0002/' \
		"$(data inputs)/topo_star3.txt" >topo.txt
	cp "$(data inputs)/flow_g_one_10MB.txt" flow.txt
	sed -e 's/^TOPOLOGY_FILE .*/TOPOLOGY_FILE topo.txt/; s/^FLOW_FILE .*/FLOW_FILE flow.txt/' \
		-e 's/^ERROR_RATE_PER_LINK .*/ERROR_RATE_PER_LINK 0/' \
		"$(data g_loss_0.001/dcqcn_rng1)/config.txt" >config.txt
	for seed in 1 2 3 4 5 6; do
		"$WEFT" run --quiet --hpcc config.txt --seed $seed --out o
		[ -s o/fct.txt ] || continue # the last packet was lost
		fct=$(cut -d' ' -f7 o/fct.txt)
		[ $(((fct - 834091) % 4316)) -eq 0 ]
	done
}

@test "a run may last for long: what a second implementation says of the 95th second" {
	cp "$(data inputs)/topo_star3.txt" topo.txt
	printf '%s\n' 3 '0 2 3 100 1000000 2.0' '1 2 3 100 1000000 95.0' \
		'0 2 3 100 1000000 95.0' >flow.txt
	printf '%s\n' '0 2 10000 100 0-3-2 2-3-0' '1 2 10000 100 1-3-2 2-3-1' \
		'0 2 10001 100 0-3-2 2-3-0' >paths.txt
	for cc in pfconly hpcc; do
		sed -e 's/^TOPOLOGY_FILE .*/TOPOLOGY_FILE topo.txt/; s/^FLOW_FILE .*/FLOW_FILE flow.txt/' \
			-e 's/^SIMULATOR_STOP_TIME .*/SIMULATOR_STOP_TIME 100/' \
			"$(data a_2to1/$cc)/config.txt" >config.txt
		"$WEFT" run --quiet --hpcc config.txt --paths paths.txt --out o
		python3 "$WEFT_SOURCE_DIR/scripts/ns3_model.py" config.txt paths.txt r
		cmp <(sort o/fct.txt) <(sort r/fct.txt)
		# Alone: 1,000 packets of 83 ns, one more link, an acknowledgement of 4 + 4, 4 us of links.
		[ $cc = hpcc ] || [ "$(head -1 o/fct.txt | cut -d' ' -f7)" = $((1001 * 83 + 4008)) ]
	done
	# The longest that can be said: 1,000,000 s.
	sed -i 's/95.0$/999999.0/' flow.txt
	sed -i 's/^SIMULATOR_STOP_TIME .*/SIMULATOR_STOP_TIME 1000000/' config.txt
	weft run --hpcc config.txt --paths paths.txt --out o
	[ "$status" -eq 0 ]
	says "$err" "3 of 3 flows done"
	sed -i 's/^SIMULATOR_STOP_TIME .*/SIMULATOR_STOP_TIME 1000001/' config.txt
	weft run --hpcc config.txt --paths paths.txt --out o
	[ "$status" -eq 2 ]
	says "$err" "SIMULATOR_STOP_TIME"
}

@test "what only this model does is no choice of a scenario" {
	small_scenario >s.yaml
	for choice in flowctl=pfc-hpcc routing=pinned link.time_step=1ns; do
		weft run s.yaml --set fabric.$choice
		[ "$status" -eq 2 ]
		says "$err" "${choice%=*}"
		says "$err" "$choice"
	done
	weft list flowctl
	[ "$status" -eq 0 ]
	run ! grep -q hpcc <<<"$out"
	weft list routing
	[ "$status" -eq 0 ]
	run ! grep -q pinned <<<"$out"
	weft list parameters
	[ "$status" -eq 0 ]
	run ! grep -q time_step <<<"$out"
}

@test "mistakes are told with their place" {
	config() {
		weft run --hpcc config.txt --out o
		[ "$status" -eq 2 ]
		says "$err" "$1"
		[ ! -e o/fct.txt ]
	}
	good="$(data a_2to1/dcqcn)/config.txt"
	sed 's/^CC_MODE .*/CC_MODE 9/' "$good" >config.txt
	config "CC_MODE 9 is not supported"
	sed 's/^RATE_AI .*/RATE_AI fast/' "$good" >config.txt
	config "config.txt:22:9: RATE_AI"
	sed 's/^LINK_DOWN .*/LINK_DOWN 2000 0 3/' "$good" >config.txt
	config "LINK_DOWN"
	cp "$good" config.txt
	config "cannot open"
	weft run --hpcc "$good"
	[ "$status" -eq 2 ]
	says "$err" "--out"
	weft run --paths x s.yaml
	[ "$status" -eq 2 ]
	says "$err" "--hpcc"
}
