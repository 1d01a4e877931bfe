/* The mask in words and as M_ij in cases: the same words as core.interventions.wording, the same lines as core/mask_formulas.py. */

const LISTED = 6;   // positions or cells that a line writes out
const listed = (items, sep = ",", n = LISTED) => items.slice(0, n).join(sep) + (items.length > n ? sep + "…" : "");
const MINUS_INFINITY = "−∞";

/** "causal", "prefix 3", "causal, hidden 2, 4 cells changed". */
function wording(one, stack) {
  const rule = one.preset || { encoder: "bidirectional", decoder: "causal", cross: "padding" }[stack];
  const parts = [word("rule." + rule) + (SIZED.includes(rule) ? " " + one.size : "")];
  if (one.hidden.length) parts.push(word("wording.hidden", { at: listed(one.hidden.map((k) => k + 1), " ") }));
  if (one.cells.size) parts.push(plural("wording.cells", one.cells.size));
  return parts.join(", ");
}

/** What the preset means, in one sentence, and that what was drawn over it wins. */
function meaning(one, stack) {
  const rule = ruleOf(one, stack), said = word("means." + rule + (rule === "window" && stack === "decoder" ? ".decoder" : ""), { p: one.size });
  return one.hidden.length || one.cells.size ? said + " " + word("means.drawn") : said;
}

/** [value, condition] a line; earlier lines win over later ones. */
function cases(one, stack, padded) {
  const lines = padded ? [[MINUS_INFINITY, word("case.padding")]] : [];
  lines.push(...cellCases(one, true), ...cellCases(one, false));
  if (one.hidden.length) lines.push([MINUS_INFINITY, word("case.hidden", { set: "{" + listed(one.hidden.map((k) => k + 1)) + "}" })]);
  lines.push(...presetCases(ruleOf(one, stack), one.size, stack));
  if (lines.length > 1 && !lines[lines.length - 1][1]) lines[lines.length - 1][1] = word("case.otherwise");
  return lines;
}

function presetCases(rule, p, stack) {
  if (rule === "prefix") {
    return [["0", word("case.prefix", { p })], ["0", word("case.past", { p })], [MINUS_INFINITY, word("case.future", { p })]];
  }
  if (rule === "window" && stack === "decoder") return [["0", `i−${p} ≤ j ≤ i`], [MINUS_INFINITY, word("case.window", { p })]];
  const pairs = { causal: ["j ≤ i", "j > i"], diagonal: ["j = i", "j ≠ i"], window: [`|i−j| ≤ ${p}`, `|i−j| > ${p}`] }[rule];
  return pairs ? [["0", pairs[0]], [MINUS_INFINITY, pairs[1]]] : [["0", ""]];
}

/** One line for each layer (or for all) and verdict that has cells. */
function cellCases(one, layered) {
  const groups = new Map();
  const sorted = cellsOf(one).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  for (const [layer, i, j, allowed] of sorted) {
    if ((layer !== ALL) !== layered) continue;
    const key = layer + " " + allowed;
    if (!groups.has(key)) groups.set(key, { layer, allowed, places: [] });
    groups.get(key).places.push(`(${i + 1},${j + 1})`);
  }
  return Array.from(groups.values(), ({ layer, allowed, places }) => {
    const set = "(i,j) ∈ {" + listed(places) + "}";
    return [allowed ? "0" : MINUS_INFINITY, layered ? word("case.layer", { set, layer: layer + 1 }) : set];
  });
}

/** A condition with its variables in italics. */
function condition(text) {
  const node = make("span", "mg-where");
  text.split(/(?<![\p{L}])([ij])(?![\p{L}])/u).forEach((piece, k) => node.append(k % 2 ? make("i", "", piece) : piece));
  return node;
}

function drawFormula() {
  const one = mask(), lines = cases(one, view.stack, columnsThatAreReal(view.stack, grid.columns) < grid.columns);
  const name = make("span", "mg-name"), scripts = make("span", "mg-scripts");
  scripts.append(make("span", "", word("short." + view.stack) + ", " + word("label." + ruleOf(one, view.stack))), make("i", "", "ij"));
  name.append(make("i", "", "M"), scripts, " = ");
  const right = make("span", "mg-cases");
  for (const [value, where] of lines) right.append(make("span", "mg-value", value), condition(where));
  at.formula.replaceChildren(name, ...(lines.length > 1 ? [brace()] : []), right);
  at.wording.replaceChildren(make("strong", "", word("stack." + view.stack) + ": " + wording(one, view.stack)));
  at.meaning.textContent = meaning(one, view.stack);
}

const SVG = "http://www.w3.org/2000/svg";
function brace() {
  const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 10 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "mg-brace");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M9.500 1C5 1 5.500 6 5.500 14V38C5.500 46 5 49 0.500 50C5 51 5.500 54 5.500 62V86C5.500 94 5 99 9.500 99");
  path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(path);
  return svg;
}
