/* Editing: every change makes new masks, can be undone, and is told to the server. */

const past = [], future = [];
const DEBOUNCE = 16;   // ms; at most 20
let telling = 0, turn = 0;   // turn: edits told so far, by which the server knows an older one that comes late

/** New masks for the stack in view. A gesture that has begun (a drag, a slider) goes into the step of its beginning. */
function change(next, goesOn = false) {
  if (!goesOn) { past.push({ masks, stack: view.stack }); future.length = 0; if (past.length > 300) past.shift(); }
  masks = { ...masks, [view.stack]: { ...mask(), ...next } };
  changed();
}

function changed() {
  at.full.hidden = true;
  paint();
  clearTimeout(telling);
  telling = setTimeout(tell, DEBOUNCE);
}

function tell() { turn += 1; trigger("edit", { masks: canonical(), turn }); }

/** One step back (past, future) or forward (future, past); the stack that changes comes into view. */
function travel(from, to) {
  const step = from.pop();
  if (!step) return;
  to.push({ masks, stack: step.stack });
  masks = step.masks;
  if (reached(step.stack)) view.stack = step.stack;
  changed();
}
const undo = () => travel(past, future);
const redo = () => travel(future, past);

function reset() {
  const one = mask();
  if (one.preset || one.hidden.length || one.cells.size) change({ preset: "", size: 0, hidden: [], cells: new Map() });
}

/** A preset with its size; without one, a size that shows what the preset does. */
function choose(preset, size, goesOn) {
  const first = preset === "prefix" ? Math.ceil(grid.columns / 3) : 1;
  change({ preset, size: SIZED.includes(preset) ? size ?? (mask().size || first) : 0 }, goesOn);
}

function hideColumn(column) {
  const { hidden } = mask(), on = hidden.includes(column);
  change({ hidden: on ? hidden.filter((at) => at !== column) : [...hidden, column].sort((a, b) => a - b) });
}

const isOpen = (row, column) => picture().open[row * grid.columns + column] === 1;
const isPad = (column) => column >= columnsThatAreReal(view.stack, grid.columns);

/** Open or close cells in the layer that is chosen. A cell that is then as it would be anyway is no exception. */
function draw(places, open, goesOn) {
  const one = mask(), cells = new Map(one.cells), layer = view.layer;
  for (const [row, column] of places) {
    if (isPad(column)) continue;
    const end = "," + row + "," + column, own = layer + end;
    if (layer === ALL) for (let l = 0; l < layersOf(view.stack); l++) cells.delete(l + end);   // "all" means all
    const preset = !one.hidden.includes(column) && presetAllows(one, view.stack, row, column);
    const without = layer === ALL ? preset : cells.get(ALL + end) ?? preset;
    if (without === open) cells.delete(own); else cells.set(own, open);
  }
  if (cells.size > MOST_CELLS) { at.full.textContent = word("full", { n: MOST_CELLS }); at.full.hidden = false; return false; }
  if (same(cells, one.cells)) return false;
  change({ cells }, goesOn);
  return true;
}

const same = (a, b) => a.size === b.size && [...a].every(([place, allowed]) => b.get(place) === allowed);

/** The cells between two, for a pointer that moved faster than one cell an event. */
function between([r0, c0], [r1, c1]) {
  const steps = Math.max(Math.abs(r1 - r0), Math.abs(c1 - c0), 1);
  return Array.from({ length: steps + 1 }, (_, k) => [Math.round(r0 + ((r1 - r0) * k) / steps), Math.round(c0 + ((c1 - c0) * k) / steps)]);
}
