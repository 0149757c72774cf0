# SPDX-License-Identifier: Apache-2.0
# validate.bats - theory against runs: rows of docs/validation.md that are no test of their own elsewhere.

load common

# Each packet is 4178 B on the line, its acknowledgement 86 B. The mean wait is that of two M/G/1 queues.
@test "waits are those of two M/D/1 queues in a row" {
	for load in 0.5 0.8; do
		for seed in 1 2; do
			weft run "$WEFT_SOURCE_DIR/examples/validate-queue.yaml" --quiet --json --seed $seed \
				--set traffic.load=$load
			[ "$status" -eq 0 ] || { echo "$err"; return 1; }
			python3 -c '
import json
run = json.load(open("stdout.txt"))["runs"][0]
f = run["flow_completion_ps"]
service = 4178 * 8 / 100e9 * 1e12
rho = f["n"] * service / (32 * 4e9)
ack = rho * 86 / 4178
theory = 2 * rho / (2 * (1 - rho - ack))
waits = (f["mean"] - f["min"]) / service
print(rho, theory, waits)
assert 0.97 < waits / theory < 1.03, (rho, theory, waits)
'
		done
	done
}
