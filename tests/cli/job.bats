# SPDX-License-Identifier: Apache-2.0
# job.bats - weft run with a job: training steps and other programs' traces.

load common

job_scenario() {
	printf 'topology: {kind: rail, hosts: 8, gpus: 4, radix: 0}\nfabric: roce-400g\njob:\n'
	printf '  kind: train\n  gpus_per_server: 4\n  layers: 4\n  sequence: 1024\n  scale: 1/256\n  scale_error: 100\n'
	printf '%s\n' "$@"
}

@test "a training step says where its time goes" {
	job_scenario '  tp: 4' '  micro_batches: 2' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	for row in "job time" "MFU" "step time / scale" "step, network takes no time" \
		"computing, mean of GPUs" "exposed: tensor parallel" "exposed: data parallel"; do
		says "$out" "$row"
	done
	[[ "$out" != *"exposed: experts"* ]]
	[[ "$out" != *unfinished* ]]
}

@test "a training step is the same on any number of threads" {
	job_scenario '  tp: 2' '  pp: 2' '  micro_batches: 4' >s.yaml
	"$WEFT" run s.yaml --quiet --json --threads 1 >a
	"$WEFT" run s.yaml --quiet --json --threads 3 >b
	cmp a b
	# A step is what its parts are, but for rounding a mean over 8 GPUs.
	python3 -c '
import json
job = json.load(open("a"))["runs"][0]["job"]
train = job["train"]
parts = sum(v for k, v in train.items() if k.startswith(("exposed_", "computing", "bubble")))
assert 0 <= job["end_ps"] - parts < 8 * 8, (job["end_ps"], parts)
assert 0 < train["mfu_ppm"] < 500000
'
}

# A ring of 32: the delays that are not scaled count 31 times in each collective.
# bats test_tags=long
@test "a scale keeps MFU within 2 %, or is refused with one that does" {
	printf 'description: small\nbase: llama3-8b\nhidden: 1024\nheads: 8\nkv_heads: 2\nffn: 4096\nvocabulary: 32000\nlayers: 4\n' >m.yaml
	cat >s.yaml <<-'END'
		topology: {kind: single, hosts: 32}
		fabric: ib-ndr
		job: {kind: train, model: m.yaml, gpus_per_server: 1, channels: 8, micro_batches: 2, scale: 1/1024}
	END
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:3:"
	says "$err" "scale: the fabric's delays are not scaled and could lengthen computing by "
	says "$err" "most of it in dp all-gather of 32 ranks; 1/"
	best=$(sed 's/.*ranks; 1.\([0-9]*\) would do.*/\1/' <<<"$err")
	[ "$best" -gt 4 ]
	[ "$best" -lt 64 ]
	mfu() {
		"$WEFT" run s.yaml --quiet --json --set "job.scale=1/$1" --set job.scale_error=100 |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["job"]["train"]["mfu_ppm"])'
	}
	weft run s.yaml --quiet --set "job.scale=1/$best"
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	weft run s.yaml --quiet --set "job.scale=1/$((best + 1))"
	[ "$status" -eq 2 ]
	weft run s.yaml --quiet --set "job.scale=1/$best" --set job.scale_error=0
	[ "$status" -eq 2 ]
	says "$err" "; 1 would do (0.0 % are allowed"
	weft run s.yaml --quiet --set job.scale_error=1001
	[ "$status" -eq 2 ]
	all=$(mfu 8) accepted=$(mfu "$best") refused=$(mfu 1024)
	echo "$best: $all $accepted $refused"
	[ $((accepted * 100)) -ge $((all * 98)) ]
	[ $((accepted * 100)) -le $((all * 102)) ]
	[ $((refused * 100)) -le $((all * 50)) ]
}

# A message has 5 to 12 packets here, and seldom a whole number of them.
# bats test_tags=long
@test "scales that are no powers of two give the same MFU" {
	printf 'description: small\nbase: llama3-8b\nhidden: 1024\nheads: 8\nkv_heads: 2\nffn: 1344\nvocabulary: 16032\nlayers: 4\n' >m.yaml
	cat >s.yaml <<-'END'
		topology: {kind: single, hosts: 32}
		fabric: ib-ndr
		job: {kind: train, model: m.yaml, gpus_per_server: 1, micro_batches: 2, scale: 1/2}
	END
	mfu() {
		"$WEFT" run s.yaml --quiet --json --set "job.scale=$1" |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["job"]["train"]["mfu_ppm"])'
	}
	half=$(mfu 1/2)
	# Unscaled messages are whole packets, too: with others it is 0.5 % off.
	now=$(mfu 1)
	echo "1: $half $now"
	[ $((now * 1000)) -ge $((half * 997)) ]
	[ $((now * 1000)) -le $((half * 1003)) ]
	for scale in 1/5 1/6 1/7 1/9 0.1; do
		now=$(mfu "$scale")
		echo "$scale: $half $now"
		[ $((now * 100)) -ge $((half * 99)) ]
		[ $((now * 100)) -le $((half * 101)) ]
	done
}

# GPT-3 175B on 64 GPUs of 80 GB: tensor parallel 8 and 8 stages, 18 bytes a parameter, is what Megatron-LM runs
# (Korthikanti et al., arXiv 2205.05198). Llama 3 405B: 16 stages (arXiv 2407.21783).
@test "a job that does not fit the GPU's memory is refused, with what would" {
	step() {
		printf 'topology: {kind: rail, hosts: %s, gpus: 8, radix: 0}\nfabric: ib-ndr\njob: {kind: train, tp: 8, micro_batches: 16, scale_error: 100, scale: 1/64, %s}\nrun: {until: 1ns}\n' \
			"$1" "$2" >s.yaml
		weft run s.yaml --quiet
	}
	step 64 "model: gpt-175b, pp: 8, sharded: false"
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	says "$out" "GPU memory, at least "
	step 64 "model: gpt-175b, pp: 4, sharded: false"
	[ "$status" -eq 2 ]
	# 24 layers and the embedding, an eighth of them: 5.51e9 parameters of 6 and 12 bytes.
	says "$err" "s.yaml:3:6: memory_check: a GPU of stage 0 would need 105.3 GB at least (weights and gradients 33.1, optimizer 66.2, activations 6.0 with micro_batch 1) and has 85.9; tp 8, pp 4, sharded would fit"
	step 64 "model: gpt-175b, pp: 4, sharded: false, memory_check: false"
	[ "$status" -eq 0 ]
	printf 'description: any\nbase: h100\ncapacity: 0\n' >any.yaml
	step 64 "model: gpt-175b, pp: 4, sharded: false, gpu: any.yaml"
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	step 126 "model: llama3-405b, gpus_per_server: 1, tp: 1, gpu: h200"
	[ "$status" -eq 2 ]
	step 1008 "model: llama3-405b, pp: 7"
	[ "$status" -eq 2 ]
	says "$err" "tp 8, pp 7, recompute would fit"
	step 1008 "model: llama3-405b, pp: 14"
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
}

@test "servers of the job and of the rails are the same" {
	job_scenario '  tp: 4' >s.yaml
	weft run s.yaml --quiet --set topology.gpus=8
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:5:20: gpus_per_server: the job's servers have 4 NICs, the topology's 8 (gpus)"
}

@test "traces of other programs run" {
	for kind in goal htsim simai; do
		weft run "$WEFT_SOURCE_DIR/examples/trace-$kind.yaml" --quiet
		[ "$status" -eq 0 ] || { echo "$err"; return 1; }
		says "$out" "job time"
		[[ "$out" != *unfinished* ]]
	done
}

@test "a ring of sends before receives does not get stuck" {
	{
		echo "num_ranks 8"
		for r in 0 1 2 3 4 5 6 7; do
			printf 'rank %d {\ns: send 100000b to %d\nr: recv 100000b from %d\nr requires s\n}\n' \
				$r $(((r + 1) % 8)) $(((r + 7) % 8))
		done
	} >ring.goal
	printf 'topology: {kind: single, hosts: 8}\nfabric: ib-ndr\njob: {kind: goal, file: ring.goal, gpus_per_server: 1}\n' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	[[ "$out" != *unfinished* ]]
}

# The time is that of the bytes on a 400 Gb/s line, 26 of headers for 4096 of data, to 0.1 %.
# bats test_tags=long
@test "messages longer than 1 GiB go in several" {
	cat >big.goal <<-'END'
		num_ranks 2
		rank 0 {
		a: send 2415919105b to 1 tag 1
		b: send 100b to 1 tag 2
		}
		rank 1 {
		a: recv 2415919105b from 0 tag 1
		b: recv 100b from 0 tag 2
		}
	END
	printf 'Nodes 2\nConnections 1\n0->1 start 0 size 1342177280\n' >big.cm
	for kind in goal,2415919105,1 goal,2415919105,2 htsim,1342177280,1; do
		IFS=, read -r kind bytes qps <<<"$kind"
		file=big.$([ $kind = goal ] && echo goal || echo cm)
		printf 'topology: {kind: single, hosts: 2}\nfabric: ib-ndr\njob: {kind: %s, file: %s, gpus_per_server: 1, qps_per_connection: %s}\nrun: {until: 1s}\n' \
			$kind $file $qps >s.yaml
		weft run s.yaml --quiet --json
		[ "$status" -eq 0 ] || { echo "$err"; return 1; }
		python3 -c '
import json, sys
job = json.load(open("stdout.txt"))["runs"][0]["job"]
bytes = int(sys.argv[1])
line = bytes / 4096 * 4122 * 8 / 400e9 * 1e12
assert job["finished"] and job["errors"] == 0, job
assert 1 < job["end_ps"] / line < 1.001, (job["end_ps"], line)
' $bytes
	done
	sed -i 's/size .*/size 300000000000/' big.cm
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:3:6: job: a message of 300000000000 bytes is too long; 274877906944 are possible"
}

@test "Chakra traces run, and have as many ranks as there are files" {
	for r in 0 1 2 3; do
		# metadata; then a node: id 1, type COMP, 250 us
		printf '\7\12\0050.0.4\7\010\001\030\004\070\372\001' >"t.$r.et"
	done
	printf 'topology: {kind: single, hosts: 8}\nfabric: ib-ndr\njob: {kind: chakra, file: t, gpus_per_server: 1}\n' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	says "$out" "250.0 us"
	printf '\377' >t.2.et
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "t.2.et: byte 0: a number that does not end"
}

@test "what is wrong with a job is said with its place" {
	job_scenario '  tp: 3' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:10:7: tp: 3 * pp 1 do not divide 8 GPUs"
	job_scenario '  model: llama4' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:10:10: there is no model 'llama4'"
	job_scenario '  gpu: h10' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:10:8: there is no GPU 'h10'; did you mean h100?"
	printf 'topology: {kind: single, hosts: 8}\nfabric: ib-ndr\njob: {kind: goal}\n' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "kind: goal is read from a file; name it"
	printf 'topology: {kind: single, hosts: 8}\nfabric: ib-ndr\njob: {kind: goal, file: x.goal}\n' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "x.goal"
	printf 'num_ranks 2\nrank 0 {\nsend 1b to 5\n}\n' >x.goal
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "x.goal:3:12: the other rank is 5; at most 1 is allowed"
	printf 'num_ranks 9\n' >x.goal
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "x.goal has 9 ranks; the cluster has 8 GPUs"
}

@test "flows of the HPCC simulator run on any fabric" {
	printf '3\n0 2 3 100 1000000 2.000000\n1 2 3 100 1000000 2.000000\n2 0 3 100 1000 2.001\n' >flow.txt
	printf 'topology: {kind: single, hosts: 3}\nfabric: [ib-ndr, roce-400g]\njob: {kind: hpcc, file: flow.txt, gpus_per_server: 1}\n' >s.yaml
	weft run s.yaml --quiet --json
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	# The last starts 1 ms (less a binary fraction) after the first, and takes a few us.
	python3 - "$out" <<'END'
import json, sys
for run in json.loads(sys.argv[1])["runs"]:
    job = run["job"]
    assert job["finished"] and 999e6 < job["end_ps"] < 1020e6, job
END
	sed -i 's/^2 0 3/2 7 3/' flow.txt
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "file: flow.txt has 8 ranks; the cluster has 3 GPUs"
	sed -i 's/^2 7 3/2 2 3/' flow.txt
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "flow.txt:4: the flow goes from node 2 to itself"
}
