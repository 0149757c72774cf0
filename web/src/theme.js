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

// Heat, from nothing to full, through several hues: full is the colour of something hot in both themes.
// Each ramp changes steadily in lightness, so it survives grey printing. A difference has a middle.
const RAMPS = {
	light: {
		heat: ["#e3e7eb", "#fbe3a1", "#fdb652", "#f37a2b", "#dd3d20", "#b01022", "#78001f"],
		stop: ["#e3e7eb", "#eccbe6", "#dd97d0", "#c25ab4", "#93278f", "#5c0f6b", "#340540"],
		queue: ["#e3e7eb", "#cfe7a6", "#86cf8d", "#3fae93", "#1f819a", "#215291", "#232a66"],
		difference: ["#0b4a8f", "#3f86c6", "#a3c8e4", "#e6e9ec", "#f5bd97", "#dc6a33", "#9c2a0a"],
	},
	dark: {
		heat: ["#262d35", "#4b2a5e", "#8a2a64", "#c83a4b", "#ee6a2c", "#fba62d", "#fbe255"],
		stop: ["#262d35", "#43305f", "#6a3a95", "#9a4cc0", "#cb66cf", "#f08ad0", "#ffc2dd"],
		queue: ["#262d35", "#2b3f74", "#23678c", "#1f8f8a", "#44b678", "#9ad455", "#ecec5a"],
		difference: ["#7cc4ff", "#3d8fd6", "#295a88", "#2b323a", "#87472a", "#dd6f33", "#ffb27a"],
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

// Ink that can be read on a colour as heat() returns it.
export function inkOn(colour) {
	const [r, g, b] = colour.match(/\d+/g).map(Number);
	return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#16202a" : "#fff";
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
