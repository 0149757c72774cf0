# SPDX-License-Identifier: Apache-2.0
# man5.bats - weft-scenario(5) and weft-results(5), as the build made them: well formed, and of what weft has.
# ctest: long

load common

pages=(weft-scenario weft-results)

# page NAME: the path of its source.
page() {
	echo "$(dirname "$WEFT")/man/$1.5"
}

# shown NAME [WIDTH]: as people read it, in lines so long that few are broken.
shown() {
	groff -t -man -Tutf8 -P-cbou -rcR=1 "-rLL=${2:-9000}n" "$(page "$1")"
}

@test "formatters have nothing to say of them" {
	for name in "${pages[@]}"; do
		for width in 60 80 120; do
			groff -ww -t -man -Tutf8 -z -rcR=1 "-rLL=${width}n" "$(page "$name")" 2>>said.txt
		done
		groff -ww -t -man -Tps -z "$(page "$name")" 2>>said.txt
		# That there is no date is meant: it would be that of the build.
		mandoc -T lint -W warning "$(page "$name")" | grep -v "WARNING: missing date" >>said.txt || true # nothing else is what is hoped for
	done
	[ ! -s said.txt ] || { cat said.txt; return 1; }
	# They would speak.
	printf '.TH A 5 "" "" ""\n.SH NAME\na \\- b\n.no-such-macro\n.SH X\n.SH Y\n' >bad.5
	[ -n "$(groff -ww -man -Tutf8 -z bad.5 2>&1)" ]
	mandoc -T lint -W warning bad.5 | grep -q ": ERROR: "
}

@test "man finds and shows them" {
	for name in "${pages[@]}"; do
		man -l "$(page "$name")" >shown.txt
		grep -q "^NAME$" shown.txt
		grep -q "$name - " shown.txt
		grep -q "^SEE ALSO$" shown.txt
	done
}

@test "every parameter is in weft-scenario(5), with its default" {
	shown weft-scenario >shown.txt
	weft list parameters --json
	[ "$(jq '.parameters | length' stdout.txt)" -gt 200 ]
	jq -r '.parameters[] | .name, .help, .default' stdout.txt >parameters.txt
	python3 - <<'END'
page = " ".join(open("shown.txt").read().split())
rows = open("parameters.txt").read().split("\n")[:-1]
for name, help, default in zip(rows[::3], rows[1::3], rows[2::3]):
    want = f" {name} {' '.join(help.split())}. Default {default or 'none'}"
    assert want in page, want
END
}

@test "every table, view and column of a results file is in weft-results(5)" {
	small_scenario >s.yaml
	"$WEFT" run s.yaml --record r.db --quiet >/dev/null
	shown weft-results >shown.txt
	sqlite3 r.db "SELECT m.type, m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%'" >columns.txt
	[ "$(cut -d'|' -f2 columns.txt | sort -u | wc -l)" -gt 20 ]
	python3 - <<'END'
import re
page = open("shown.txt").read()
tables = dict(re.findall(r"^   (\w+)(?: \(view\))?\n((?:(?:       .*)?\n)*)", page, re.M))
for line in open("columns.txt").read().split():
    kind, table, column = line.split("|")
    want = rf"^       {column}\s" if kind == "table" else rf"^       Columns: (?:.*, )?{column}[,.]"
    assert re.search(want, tables[table], re.M), line
END
}

@test "what docs/ say is in the pages: sections, code, words" {
	for name in "${pages[@]}"; do
		shown "$name" >shown.txt
		python3 - "$WEFT_SOURCE_DIR/docs/${name#weft-}.md" <<'END'
import re, sys
page = open("shown.txt").read()
flat = " ".join(page.replace("*", "").split())
text = re.sub(r"<!-- man: omit -->.*?<!-- man: end -->", "", open(sys.argv[1]).read(), flags=re.S)
code = [line for block in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M) for line in block.splitlines()]
code += re.findall(r"^(?:\t|    )(.*)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
assert len(code) > 20
for line in code:
    assert line.expandtabs(4) in page, line
for title in re.findall(r"^## (.*)", text, re.M):
    assert f"\n{title.upper()}\n" in page, title
prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
for paragraph in re.split(r"\n\s*\n", prose):
    if paragraph.startswith(("#", "|", "<!--", "\t", "    ")):
        continue
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", "@", paragraph).replace("`", "").replace("*", "").replace("…", "...")
    for part in words.split("@"):
        for sentence in re.split(r"^- |\n- ", part):
            want = " ".join(sentence.split())
            assert want in flat, want
END
	done
}
