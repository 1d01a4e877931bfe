/* Formula cards. Their state comes first.
 *
 * They run, joined in the order of SCRIPTS (app/widgets/formula_cards.py), once the tab has opened. `course` comes first and never
 * changes; state.cards are the numbers of the cards, state.tour those of the tour. Texts of tokens are untrusted: textContent only. */

const at = { root: element.querySelector("[data-ts=root]"), ramp: make("i", "ts-ramp") };
let course = null;
at.root.className = "ts-root fc-root";
at.root.setAttribute("role", "region");
at.root.setAttribute("aria-label", word("label"));
const state = { dark: false, view: "cards", sheet: "000", arranged: "", placed: new Set(), search: "", item: 0, cards: null, tour: null, model: undefined, stale: false, revealed: new Set() };
const cards = new Map();      // id -> { id, node, lines, pictures, ... } of what is drawn

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const minus = (text) => text.replace("-", "−");

/** As app/formula_shown.py writes numbers. */
function number(x, places = 3) {
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  if (Math.abs(x) >= 1e6) return minus(x.toExponential(1).replace("e+", "e"));
  if (x === 0 || Math.abs(x) >= 0.5 * 10 ** -places) return minus(x.toFixed(places));
  if (Math.abs(x) >= 1e-4) return minus(x.toFixed(4).replace(/0+$/, ""));
  return x.toExponential(0).replace(/-/g, "−");
}

function listing(values, places = 2, most = 6) {
  const all = Array.from(values), shownOnes = all.slice(0, most).map((x) => (Number.isFinite(x) ? minus(x.toFixed(places)) : number(x)));
  return shownOnes.join(",\u2009") + (all.length > most ? ",\u2009…" : "");
}

function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

/** float16 in base64; ±∞ among them. */
function halves(text) {
  const raw = new Uint16Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  return Float32Array.from(raw, (h) => {
    const sign = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, f = h & 1023;
    if (e === 31) return f ? NaN : sign * Infinity;
    return sign * (e ? 2 ** (e - 15) * (1 + f / 1024) : 2 ** -14 * (f / 1024));
  });
}

function softmax(scores) {
  const top = Math.max(...scores), powers = scores.map((x) => Math.exp(x - top)), sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / sum);
}

function button(className, text, press) {
  const node = make("button", className, text);
  node.type = "button";
  node.onclick = press;
  return node;
}

/** CONFIG, STATE or θ: what a thing is in the words of the lessons. */
function tag(label) {
  const node = make("span", "fc-tag fc-" + { CONFIG: "config", STATE: "state", "θ": "theta" }[label], label);
  node.title = word("label." + { CONFIG: "config", STATE: "state", "θ": "theta" }[label]);
  return node;
}
