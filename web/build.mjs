// SPDX-License-Identifier: Apache-2.0
// build.mjs - makes the template of the report: script, style and licences in one HTML text, as C.
//
//	node build.mjs OUT.c MODULES
//
// MODULES is the node_modules folder that `npm ci` made. The text is split at the places where weft
// report writes; OUT.c has the pieces in their order.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [out, modules] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const script = esbuild.buildSync({
	entryPoints: [join(here, "src/main.js")], nodePaths: [modules], bundle: true, minify: true, write: false, format: "iife",
	target: ["chrome90", "firefox113", "safari16.4"], charset: "utf8", legalComments: "none", logLevel: "warning",
}).outputFiles[0].text;
const style = esbuild.transformSync(readFileSync(join(modules, "uplot/dist/uPlot.min.css"), "utf8") + readFileSync(join(here, "page.css"), "utf8"),
	{ loader: "css", minify: true, charset: "utf8" }).code;
const licence = `The charts are drawn by uPlot:\n\n${readFileSync(join(modules, "uplot/LICENSE"), "utf8")}`;
for (const [name, text] of Object.entries({ script, licence })) {
	if (/<\/script|<!--/i.test(text))
		throw new Error(`the ${name} would end its own element`);
}

const parts = { STYLE: style.trim(), SCRIPT: script.trim(), LICENCES: licence };
const page = readFileSync(join(here, "page.html"), "utf8").replace(/@(STYLE|SCRIPT|LICENCES)@/g, (_, name) => parts[name]);
const pieces = page.split(/@(?:TITLE|DATA|SAMPLES)@/);
if (pieces.length !== 4)
	throw new Error("page.html names TITLE, DATA and SAMPLES once each, in this order");

const bytes = (text) => {
	const lines = [];
	const all = Buffer.from(text, "utf8");
	for (let i = 0; i < all.length; i += 24)
		lines.push(`\t${[...all.subarray(i, i + 24)].join(",")},`);
	return lines.join("\n");
};
writeFileSync(out, `/* Made by web/build.mjs; do not edit. */
#include "results/page_template.h"

${pieces.map((text, i) => `static const unsigned char piece${i}[] = {\n${bytes(text)}\n};`).join("\n\n")}

const char *const wf_page_missing = NULL;

const struct wf_page_piece wf_page_template[WF_PAGE_PIECES] = {
${pieces.map((_, i) => `\t{ piece${i}, sizeof(piece${i}) },`).join("\n")}
};
`);
