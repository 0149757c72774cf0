# SPDX-License-Identifier: Apache-2.0
# ctest: long
# claims.bats - docs/claims.md: every claim measured again, with the verdict and the figures of the page.

load common

# On one seed each, not all the same one; on all five with WEFT_TEST_ALL.
@test "every claim has the verdict and the figures of the page" {
	sample=--sample
	[ -z "${WEFT_TEST_ALL-}" ] || sample=
	# shellcheck disable=SC2086
	python3 -B "$WEFT_SOURCE_DIR/scripts/claims.py" --weft "$WEFT" --check $sample
}

@test "every scenario of a claim is on the page, and measured" {
	for example in "$WEFT_SOURCE_DIR"/examples/claim-*.yaml; do
		name=$(basename "$example" .yaml)
		grep -q "$name" "$WEFT_SOURCE_DIR/docs/claims.md" || { echo "$name: not on the page"; return 1; }
		# claim-storage-burst and claim-storage-steady are measured as claim-storage-%s.
		grep -qE "$name|${name%-*}-%s" "$WEFT_SOURCE_DIR"/scripts/claimlib/*.py ||
			{ echo "$name: not measured"; return 1; }
	done
}

@test "a figure or a verdict that differs is told, with status 1" {
	mkdir -p docs scripts
	cp "$WEFT_SOURCE_DIR"/docs/{claims,validation}.md docs
	cp -r "$WEFT_SOURCE_DIR"/scripts/{claims.py,claimlib} scripts
	ln -s "$WEFT_SOURCE_DIR/examples" examples
	check() {
		status=0
		python3 -B scripts/claims.py --weft "$WEFT" --check "$@" --only write >stdout.txt 2>stderr.txt || status=$?
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
	sed 's/\(| \[Hops\](#hops) |\) Holds in part/\1 Holds/' good.md >docs/claims.md
	check
	[ "$status" -eq 1 ]
	says "$(cat stderr.txt)" "measured: | [Hops](#hops) | Holds in part |"
	python3 -B scripts/claims.py --weft "$WEFT" --write --only write >stdout.txt
	cmp docs/claims.md good.md
	# On one seed: out of what the page has for all of them.
	sed 's/one switch | 1.00 us/one switch | 1.05 (1.02 to 1.09) us/' good.md >docs/claims.md
	check --sample
	[ "$status" -eq 1 ]
	says "$(cat stderr.txt)" "recorded: | RDMA write of 8 B, one switch | 1.05 (1.02 to 1.09) us"
	sed 's/one switch | 1.00 us/one switch | 0.98 (0.97 to 1.02) us/' good.md >docs/claims.md
	check --sample
	[ "$status" -eq 0 ]
}

@test "the pages are of five seeds: another number is for printing only" {
	claims() {
		status=0
		python3 -B "$WEFT_SOURCE_DIR/scripts/claims.py" --weft "$WEFT" --only write "$@" >stdout.txt 2>stderr.txt || status=$?
	}
	claims --seeds 2 --check
	[ "$status" -eq 2 ]
	says "$(cat stderr.txt)" "--seeds goes with neither --check nor --write"
	claims --seeds 0
	[ "$status" -eq 2 ]
	claims --seeds 2
	[ "$status" -eq 0 ]
	says "$(cat stdout.txt)" "| 1.5 to 2 us on RoCE | 1.53 us | yes |"
}

@test "a claim that holds on some seeds only says on how many" {
	cat >weft5 <<-'EOF'
		#!/bin/sh
		# In place of weft: the MFU of roce-400g-mistuned is 25 % on odd seeds, 35 % on even ones; of the rest 45 %.
		mfu=450000
		for a; do
			[ "$a" != roce-400g-mistuned ] || bad=1
			case "$a" in seed=*[13579]) odd=1 ;; esac
			case "$a" in ib-* | roce-*) fabric=$a ;; esac
		done
		[ -z "$bad" ] || mfu=350000
		[ -z "$bad" ] || [ -z "$odd" ] || mfu=250000
		echo "{\"runs\": [{\"fabric\": \"$fabric\", \"finished\": true, \"job\": {\"train\": {\"mfu_ppm\": $mfu}}}]}"
	EOF
	chmod +x weft5
	python3 -B "$WEFT_SOURCE_DIR/scripts/claims.py" --weft "$PWD/weft5" --only mfu >stdout.txt
	says "$(cat stdout.txt)" "| badly tuned, MFU falls below 30 %: racks | 25.0 (25.0 to 35.0) % | on 3 of 5 seeds |"
	says "$(cat stdout.txt)" "**Holds in part.**"
}
