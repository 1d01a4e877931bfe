/* Rules: what a row may see, exactly as core/masks.py has it (a test compares them), and masks as core.interventions writes them. */

const FROM = { preset: 0, hidden: 1, all: 2, layer: 3, pad: 4 };   // why a cell is as it is

const ruleOf = (one, stack) => one.preset || (stack === "decoder" ? "causal" : "bidirectional");

/** Whether the preset alone lets row i read column j. */
function presetAllows(one, stack, i, j) {
  switch (ruleOf(one, stack)) {
    case "causal": return j <= i;
    case "prefix": return j <= i || j < one.size;
    case "diagonal": return i === j;
    case "window": return Math.abs(i - j) <= one.size && (stack !== "decoder" || j <= i);
    default: return true;   // "padding": nothing but padding is hidden
  }
}

/** The mask in one layer, or of all layers but for cells of a single one (layer ALL): open 0 or 1 and its reason, a cell each. */
function effective(one, stack, layer, rows, columns) {
  const open = new Uint8Array(rows * columns), from = new Uint8Array(rows * columns), hidden = new Set(one.hidden);
  const real = columnsThatAreReal(stack, columns);
  for (let i = 0, k = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++, k++) {
      open[k] = !hidden.has(j) && presetAllows(one, stack, i, j) ? 1 : 0;
      from[k] = hidden.has(j) ? FROM.hidden : FROM.preset;
    }
  }
  for (const wanted of layer === ALL ? [ALL] : [ALL, layer]) {   // a cell of one layer wins over the same cell of all
    for (const [l, i, j, allowed] of cellsOf(one)) {
      if (l !== wanted || i >= rows || j >= columns) continue;
      open[i * columns + j] = allowed ? 1 : 0;
      from[i * columns + j] = wanted === ALL ? FROM.all : FROM.layer;
    }
  }
  for (let i = 0; i < rows; i++) for (let j = real; j < columns; j++) { open[i * columns + j] = 0; from[i * columns + j] = FROM.pad; }
  return { open, from };
}

/** Pad tokens stand at the end of the source and stay hidden, whatever is drawn. */
const columnsThatAreReal = (stack, columns) => (stack === "decoder" ? columns : columns - (given.pads || 0));

const cellsOf = (one) => Array.from(one.cells, ([place, allowed]) => [...place.split(",").map(Number), allowed]);
const layersDrawn = (one) => [...new Set(cellsOf(one).map(([layer]) => layer))].filter((layer) => layer !== ALL).sort((a, b) => a - b);

/** Row that sees nothing -> the layers where it does. What the server found for these masks (a family's own window) is kept. */
function deadRows(stack) {
  const one = masks[stack], [rows, columns] = sizes(stack), own = layersDrawn(one), found = new Map();
  const seeing = new Map([ALL, ...own].map((layer) => [layer, effective(one, stack, layer, rows, columns).open]));
  for (let layer = 0; layer < layersOf(stack); layer++) {
    const open = seeing.get(layer) || seeing.get(ALL);
    for (let i = 0; i < rows; i++) if (!open.subarray(i * columns, (i + 1) * columns).includes(1)) found.set(i, [...(found.get(i) || []), layer]);
  }
  if (JSON.stringify(canonical()) === JSON.stringify(given.masks || {})) {
    for (const [row, layers] of Object.entries((given.dead || {})[stack] || {})) found.set(+row, [...new Set([...(found.get(+row) || []), ...layers])].sort((a, b) => a - b));
  }
  return found;
}

/** What core.interventions accepts as Masks: only what is not at its default, cells in order of layer, row, column. */
function canonical() {
  const out = {};
  for (const stack of STACKS) {
    const one = masks[stack], inner = {};
    if (one.preset) inner.preset = one.preset;
    if (one.size && SIZED.includes(one.preset)) inner.size = one.size;
    if (one.hidden.length) inner.hidden = one.hidden;
    if (one.cells.size) inner.exceptions = cellsOf(one).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).map(cellObject);
    if (Object.keys(inner).length) out[stack] = inner;
  }
  return out;
}

function cellObject([layer, query, key, allowed]) {
  const cell = {};
  if (query) cell.query = query;
  if (key) cell.key = key;
  if (layer !== ALL) cell.layer = layer;
  if (allowed) cell.allowed = true;
  return cell;
}

/** The masks that such an object names. */
function parsed(object) {
  return Object.fromEntries(STACKS.map((stack) => {
    const { preset = "", size = 0, hidden = [], exceptions = [] } = (object || {})[stack] || {};
    const cells = new Map(exceptions.map(({ query = 0, key = 0, layer = ALL, allowed = false }) => [[layer, query, key].join(), allowed]));
    return [stack, { preset, size: SIZED.includes(preset) ? size : 0, hidden: [...new Set(hidden)].sort((a, b) => a - b), cells }];
  }));
}
