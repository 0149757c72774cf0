# SPDX-License-Identifier: Apache-2.0
# claims.bats - docs/claims.md: every claim measured again, with the verdict and the figures of the page.
# ctest: timeout=900

load common

@test "every claim has the verdict and the figures of the page" {
	small=
	# Assertions and sanitizers make the larger ones take minutes.
	[ "${WEFT_BUILD_TYPE:-}" = Release ] || small=--small
	python3 -B "$WEFT_SOURCE_DIR/scripts/claims.py" --weft "$WEFT" --check $small
}

@test "every scenario of a claim is on the page, and measured" {
	for example in "$WEFT_SOURCE_DIR"/examples/claim-*.yaml; do
		name=$(basename "$example" .yaml)
		grep -q "$name" "$WEFT_SOURCE_DIR/docs/claims.md" || { echo "$name: not on the page"; return 1; }
		# claim-storage-burst and claim-storage-steady are measured as claim-storage-%s.
		grep -qE "$name|${name%-*}-%s" "$WEFT_SOURCE_DIR/scripts/claims.py" ||
			{ echo "$name: not measured"; return 1; }
	done
}

@test "a figure or a verdict that differs is told, with status 1" {
	mkdir -p docs scripts
	cp "$WEFT_SOURCE_DIR"/docs/{claims,validation}.md docs
	cp "$WEFT_SOURCE_DIR/scripts/claims.py" scripts
	ln -s "$WEFT_SOURCE_DIR/examples" examples
	check() {
		status=0
		python3 -B scripts/claims.py --weft "$WEFT" --check --only write >stdout.txt 2>stderr.txt || status=$?
	}
	check
	[ "$status" -eq 0 ]
	cp docs/claims.md good.md
	sed 's/one switch | 1.00 us/one switch | 1.05 us/' good.md >docs/claims.md
	check
	[ "$status" -eq 1 ]
	says "$(cat stderr.txt)" "recorded: | RDMA write of 8 B, one switch | 1.05 us"
	sed 's/| 1.5 to 2 us on RoCE | 1.53 us | yes |/| 1.5 to 2 us on RoCE | 1.53 us | no |/' good.md >docs/claims.md
	check
	[ "$status" -eq 1 ]
	says "$(cat stderr.txt)" "measured: | 1.5 to 2 us on RoCE | 1.53 us | yes |"
	python3 -B scripts/claims.py --weft "$WEFT" --write --only write >stdout.txt
	cmp docs/claims.md good.md
}
