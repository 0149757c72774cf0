// SPDX-License-Identifier: Apache-2.0
// theme.js - light and dark: the system's choice until a person makes one; paper is always light.
// Canvases do not follow style sheets by themselves, so what draws on one asks here and is told.

const listeners = new Set();
let printing = false;
let chosen = null; // "light", "dark", or null: the system's

// The lines of the fabrics: colours that the colour-blind tell apart (after Okabe and Ito), and a dash
// pattern each, so that no chart depends on colour.
const LINES = {
	light: ["#0067a5", "#c04f00", "#00795a", "#a0457e", "#8a6100", "#2b8cc4", "#444444", "#7a3b00"],
	dark: ["#5db4f0", "#ff9a52", "#3fcfa3", "#ee9fcb", "#e8c04a", "#a9d9ff", "#d0d0d0", "#d59a6a"],
};
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4], [5, 2, 2, 2, 2, 2], [1, 5], [16, 3, 4, 3]];

// Heat, from nothing to full. Each ramp changes steadily in lightness, so it survives grey printing.
const RAMPS = {
	light: {
		blue: ["#dfe5ea", "#b5cfe4", "#7fb2d9", "#3f8ac4", "#125a9c", "#0a2f66"],
		red: ["#dfe5ea", "#f3cfa6", "#eda35c", "#d96f20", "#a8450a", "#6b2503"],
		green: ["#dfe5ea", "#bcdcc3", "#84c29a", "#3f9e74", "#0d6f52", "#053f30"],
	},
	dark: {
		blue: ["#2b333b", "#25496b", "#2a6da6", "#4d9ad8", "#8fc6f2", "#e0f1ff"],
		red: ["#2b333b", "#5e3a17", "#9a5412", "#d97b25", "#f6ab63", "#ffe6cb"],
		green: ["#2b333b", "#1f4a3c", "#1f7358", "#38a37e", "#7bd1ae", "#d8f7ea"],
	},
};

export function mode() {
	if (printing)
		return "light";
	return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

export function lineColour(i) {
	return LINES[mode()][i % LINES.light.length];
}

export function lineDash(i) {
	return DASHES[i % DASHES.length];
}

// The colour of share, 0 to 1, on the ramp of that name.
export function heat(name, share) {
	const ramp = RAMPS[mode()][name];
	const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
	const low = Math.min(Math.floor(at), ramp.length - 2);
	const part = (shade, i) => parseInt(shade.slice(1 + 2 * i, 3 + 2 * i), 16);
	const mixed = [0, 1, 2].map((i) =>
		Math.round(part(ramp[low], i) + (part(ramp[low + 1], i) - part(ramp[low], i)) * (at - low)));
	return `rgb(${mixed.join(",")})`;
}

// The value of a custom property of the style sheet, as "--ink".
export function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Calls listener when the colours change, as long as element is on the page.
export function onChange(element, listener) {
	listeners.add({ element, listener });
}

function apply() {
	document.documentElement.dataset.theme = mode();
	for (const entry of listeners) {
		if (entry.element.isConnected)
			entry.listener();
		else
			listeners.delete(entry);
	}
}

export function toggle() {
	chosen = mode() === "dark" ? "light" : "dark";
	try {
		localStorage.setItem("weft-theme", chosen);
	} catch { /* a page from a file may not keep anything; it is light or dark until closed */ }
	apply();
	return chosen;
}

// Calls around printing: before(), then the page is light and still, then after().
export function start(before, after) {
	try {
		const kept = localStorage.getItem("weft-theme");
		chosen = kept === "light" || kept === "dark" ? kept : null;
	} catch { /* as above */ }
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
	addEventListener("beforeprint", () => {
		printing = true;
		before();
		apply();
	});
	addEventListener("afterprint", () => {
		printing = false;
		after();
		apply();
	});
	apply();
}
