# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# sharp.bats - switches that reduce: what is refused, the example and its twin, who falls back, and what
# docs/validation.md says.

load common

# run_it FABRIC MORE: an all-reduce on two leaves, its times with and without.
write() {
	cat >s.yaml <<-END
		topology: {kind: leaf-spine, hosts: 16, radix: 16}
		fabric: {$1}
		job: {kind: all-reduce, bytes: 64KiB, gpus_per_server: 1, collnet: true}
		$2
	END
}

@test "what does not go together is refused, with its place" {
	while IFS='|' read -r fabric more place; do
		write "$fabric" "$more"
		weft run s.yaml --quiet
		[ "$status" -eq 2 ] || { echo "$fabric: $status $err"; return 1; }
		says "$err" "$place"
	done <<-END
		profile: roce-400g, sharp: {enabled: true}||s.yaml:2:47: sharp.enabled: switches reduce on InfiniBand alone; write false
		profile: ib-ndr, sharp: {enabled: true}, link: {loss: 1%}||s.yaml:2:64: link.loss: switches that reduce (sharp.enabled) do not send again what a link loses
		profile: ib-ndr, sharp: {enabled: true}, link: {raw_ber: 1e-9}||s.yaml:2:67: link.raw_ber: switches that reduce
		profile: ib-ndr, sharp: {enabled: true}|devices: {leaf0: {link: {ber: 1e-12}}}|s.yaml:4:31: link.ber: switches that reduce
		profile: ib-ndr, mtu: 1024B, sharp: {enabled: true, payload: 2KiB}||s.yaml:2:71: sharp.payload: an operation is one packet of at most mtu, 1024B
		profile: ib-ndr, sharp: {enabled: true, generation: quantum-9}||s.yaml:2:62: sharp.generation:
	END
	write 'profile: ib-ndr, sharp: {enabled: true}, link: {loss: 1%, retry: llr}' ''
	weft run s.yaml --quiet
	[ "$status" -eq 0 ]
}

# field FILE PATH: a value of the JSON.
field() {
	jq -r "$2" "$1"
}

@test "the example is faster than its twin, the same on any number of threads" {
	weft run "$WEFT_SOURCE_DIR/examples/no-sharp.yaml" --json --out twin.json
	for threads in 1 2 4; do
		weft run "$WEFT_SOURCE_DIR/examples/sharp.yaml" --json --threads $threads --out $threads.json
		[ "$status" -eq 0 ]
		cmp 1.json $threads.json
	done
	[ "$(field 1.json '.runs[0].job.groups[0].algorithm')" = nvls ]
	[ "$(field twin.json '.runs[0].job.groups[0].algorithm')" = tree ]
	sharp=$(field 1.json '.runs[0].job.end_ps') twin=$(field twin.json '.runs[0].job.end_ps')
	[ $((2 * sharp)) -lt "$twin" ]
	# Each NIC of 128 sends 512 KiB four times, and gets as much.
	[ "$(field 1.json '.runs[0].job.message_bytes')" -eq $((4 * 128 * 512 * 1024)) ]
	[ "$(field 1.json '.runs[0].notes | length')" -eq 0 ]
}

@test "whoever finds no tree falls back, and a note says so" {
	write 'profile: ib-ndr, sharp: {enabled: true, streaming: auto, trees: 1, tree_jobs: 1}' ''
	sed -i 's/^job: .*/job: {kind: train, model: mixtral-8x7b, layers: 2, tp: 1, pp: 1, ep: 4, gpus_per_server: 1, micro_batches: 1, sequence: 256, scale: 1\/1024, scale_error: 100, collnet: true}/' s.yaml
	weft run s.yaml --json
	[ "$status" -eq 0 ]
	[ "$(field stdout.txt '.runs[0].notes[0].rule')" = sharp-fallback ]
	says "$(field stdout.txt '.runs[0].notes[0].text')" "7 of 9 communicators do not reduce in the fabric's switches, and NCCL does without: 7 found every low-latency tree full (sharp.trees, sharp.tree_jobs)"
	# The first group of experts below each leaf has its tree; all-to-all takes none of it.
	weft run s.yaml --json --set job.collnet=false
	[ "$(field stdout.txt '.runs[0].notes | length')" -eq 0 ]
}

@test "docs/validation.md has the times of small reductions" {
	python3 "$WEFT_SOURCE_DIR/scripts/sharp_grid.py" --weft "$WEFT" --check --small >grid.txt 2>&1 || { cat grid.txt; return 1; }
	[ "$(grep -c '^| 8 B |' grid.txt)" -eq 2 ]
}
