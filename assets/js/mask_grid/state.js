/* The mask grid: which row may read which column, drawn and edited in the browser without asking the server. Its state comes first.
 *
 * Gradio runs these files, joined in the order of SCRIPTS (app/widgets/mask_grid.py), once, as a function body with `element`, `props`,
 * `trigger` and `watch`. What the server sent is kept as `given`; the masks in use are `masks`, one a stack, and are replaced, never
 * changed, so that undo keeps the old ones as they are. Positions and layers count from 0 here and from 1 on the screen.
 * Tokens are untrusted text: they reach the page by textContent only. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const colour = (name) => getComputedStyle(at.root).getPropertyValue(name).trim();

const STACKS = ["encoder", "decoder", "cross"];
const SIZED = ["prefix", "window"];       // presets that read `size`
const ALL = -1;                           // as in core.interventions: every layer
const MOST_CELLS = 4096;                  // exceptions that a stack may have there

let given = null;                         // labels, layers, reached and more, see app/widgets/mask_grid.py
let masks = {};                           // stack -> { preset, size, hidden: [position], cells: Map "layer,query,key" -> allowed }
const view = { stack: "encoder", layer: ALL, row: 0, column: 0, over: null };
const grid = { cell: 0, rows: 0, columns: 0, label: 0, dpr: 1, tail: 0, dark: false };

const mask = () => masks[view.stack];
const layersOf = (stack) => given.layers[stack] || 0;

/** What stands on an axis: [text, dim] a position. Decoder rows are named by what they write, its columns by what it is fed. */
function labels(stack, axis) {
  const { source, target, writes } = given.labels;
  if (stack === "encoder" || (stack === "cross" && axis === "column")) return source;
  const fed = target.slice(0, given.drawn);
  return axis === "column" || !writes ? fed : fed.map(([text, dim], i) => [writes[i] ?? text, dim && writes[i] === undefined]);
}
const sizes = (stack) => [labels(stack, "row").length, labels(stack, "column").length];
