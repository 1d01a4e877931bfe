/* Matrices: several heatmaps with their numbers; those with the same axes share one pointer. Their state comes first.
 *
 * Gradio runs these files, joined in the order of ONCE (app/widgets/scripts.py), once, as a function body with `element`, `props`,
 * `trigger` and `watch`. `panels` is what the server sent, each with its numbers decoded and the nodes that it is drawn into; `spot` is
 * the cell that the person points at, in every panel with the axes of the one it lies in.
 * Labels are untrusted text: they reach the page by textContent and canvas only. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

const PRINTED = 34;          // px of a cell from which its number is printed
const LEAST = 15, MOST = 46; // px of a cell
const TIGHT = 13;            // where panels are rather side by side than with numbers

let panels = [];
let spot = null;             // { axes, panel, row, column }
const view = { dark: false, width: 0, beside: false };

const value = (panel, row, column) => panel.values[row * panel.columns.length + column];

/** The number as it is printed: never NaN, and a minus sign that is one. `places` undefined: four digits that count. */
function number(x, places) {
  if (Number.isNaN(x)) return "";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const text = places === undefined ? String(+x.toPrecision(4)) : x.toFixed(places);
  return (+text === 0 ? text.replace("-", "") : text).replaceAll("-", "−");
}
const sayNumber = (x) => number(x) || word("none");

/** The panels that share the axes of a spot. */
const linked = (where) => (where ? panels.filter((panel) => panel.axes === where.axes) : []);
