# SPDX-License-Identifier: Apache-2.0
# ctest: long
# claims.bats - docs/claims.md and docs/incidents.md: every claim and incident measured again, with the verdict, the figures
# and the pictures of the page.

load common

# On one seed each, not all the same one; on all five with WEFT_TEST_ALL.
@test "every claim and incident has the verdict and the figures of the page" {
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

@test "every incident is on the page, with a picture, and reproduced on every seed" {
	n=0
	for example in "$WEFT_SOURCE_DIR"/examples/incidents/*.yaml; do
		name=$(basename "$example" .yaml)
		grep -qF "\`examples/incidents/$name.yaml\`" "$WEFT_SOURCE_DIR/docs/incidents.md" || { echo "$name: not on the page"; return 1; }
		# What another incident has in a second scenario.
		if grep -qF "more=\"$name\"" "$WEFT_SOURCE_DIR/scripts/claimlib/incidents.py"; then continue; fi
		n=$((n + 1))
		for part in "(incidents/$name.svg)" "<!-- claims.py incident-$name -->"; do
			grep -qF "$part" "$WEFT_SOURCE_DIR/docs/incidents.md" || { echo "$name: the page has no $part"; return 1; }
		done
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$WEFT_SOURCE_DIR/docs/incidents/$name.svg"
	done
	[ "$n" -ge 16 ]
	[ "$(python3 -B "$WEFT_SOURCE_DIR/scripts/claims.py" --list | grep -c '^incident-')" -eq "$n" ]
	[ "$(grep -c '^\*\*Reproduced\.\*\*$' "$WEFT_SOURCE_DIR/docs/incidents.md")" -eq "$n" ]
	[ "$(find "$WEFT_SOURCE_DIR/docs/incidents" -name '*.svg' | wc -l)" -eq "$n" ]
}

# tree: a copy of what claims.py reads and writes.
tree() {
	mkdir -p docs scripts
	cp "$WEFT_SOURCE_DIR"/docs/{claims,validation,incidents}.md docs
	cp -r "$WEFT_SOURCE_DIR/docs/incidents" docs
	cp -r "$WEFT_SOURCE_DIR"/scripts/{claims.py,claimlib} scripts
}

@test "an incident without its fault is not reproduced, and its picture is another" {
	tree
	cp -r "$WEFT_SOURCE_DIR/examples" examples
	check() {
		status=0
		python3 -B scripts/claims.py --weft "$WEFT" --check --sample --only incident-deaf-adapter >stdout.txt 2>stderr.txt || status=$?
	}
	check
	[ "$status" -eq 0 ]
	# One byte of the picture.
	sed 's/#0969da/#0969db/' docs/incidents/deaf-adapter.svg >other.svg
	cp docs/incidents/deaf-adapter.svg good.svg
	cp other.svg docs/incidents/deaf-adapter.svg
	check
	[ "$status" -eq 1 ]
	[ "$(cat stderr.txt)" = "docs/incidents/deaf-adapter.svg: is not what is measured now" ]
	cp good.svg docs/incidents/deaf-adapter.svg
	# h13 obeys pauses like all others.
	sed -i '/h13: {pfc/d' examples/incidents/deaf-adapter.yaml
	check
	[ "$status" -eq 1 ]
	says "$(cat stderr.txt)" "measured: | the lossless class loses packets, with PFC on | 0 packets | no |"
	says "$(cat stderr.txt)" "deaf-adapter.svg: is not what is measured now"
	says "$(cat stdout.txt)" "**Reproduced in part.**"
	# The other way round: a healthy twin that is ill.
	cp "$WEFT_SOURCE_DIR/examples/incidents/deaf-adapter.yaml" examples/incidents
	sed -i '0,/    buffer: /s//    devices: {h13: {pfc: {rx: 5}}}\n    buffer: /' examples/incidents/deaf-adapter.yaml
	check
	[ "$status" -eq 1 ]
	grep -q 'measured: | the healthy twins show none of it | .* | no |' stderr.txt
}

@test "a figure or a verdict that differs is told, with status 1" {
	tree
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
