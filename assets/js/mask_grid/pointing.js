/* Pointing: mouse, pen, finger and keys. A drag gives every cell it crosses the state that its first cell takes. */

const zoom = () => at.root.currentCSSZoom || 1;   // of a lecture, and of projector mode: pointers are measured in px of the window
const HOLD = 260, SLIP = 8;   // ms a finger rests before it draws instead of scrolling; px it may move meanwhile
let stroke = null;            // a drag: { open, last, begun }
let finger = null;            // a finger that has not decided yet: { timer, x, y, place }

function cellUnder(event) {
  const box = at.cells.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top) / zoom() / grid.cell), column = Math.floor((event.clientX - box.left) / zoom() / grid.cell);
  return row >= 0 && row < grid.rows && column >= 0 && column < grid.columns ? [row, column] : null;
}

function begin([row, column]) {
  stroke = { open: !isOpen(row, column), last: [row, column], begun: false };
  extend([row, column]);
}

function extend(place) {
  if (draw(between(stroke.last, place), stroke.open, stroke.begun)) stroke.begun = true;
  stroke.last = place;
  [view.row, view.column] = place;
  announce();
  paint();
}

function press(event) {
  const place = cellUnder(event);
  if (!place || event.button > 0) return;
  at.cells.focus({ preventScroll: true });
  if (event.pointerType !== "touch") { at.cells.setPointerCapture(event.pointerId); return begin(place); }
  finger = { x: event.clientX, y: event.clientY, place, timer: setTimeout(() => { finger = null; begin(place); }, HOLD) };
}

function move(event) {
  if (finger && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) > SLIP) drop();
  const place = cellUnder(event);
  if (stroke && place && place.join() !== stroke.last.join()) extend(place);
  if (event.pointerType === "touch" && !stroke) return;
  point(place, event);
}

function release() {
  if (finger) { const { place } = finger; drop(); begin(place); }   // a tap
  stroke = null;
}

function drop() { if (finger) clearTimeout(finger.timer); finger = null; }

at.cells.addEventListener("pointerdown", press);
at.cells.addEventListener("pointermove", move);
at.cells.addEventListener("pointerup", release);
at.cells.addEventListener("pointercancel", () => { drop(); stroke = null; });
at.cells.addEventListener("pointerleave", () => point(null));
at.cells.addEventListener("touchmove", (event) => { if (stroke) event.preventDefault(); }, { passive: false });
at.cells.addEventListener("contextmenu", (event) => { if (stroke || finger) event.preventDefault(); });

/** Outline the cell, name its row and column, and say why it is as it is. */
function point(place, event) {
  view.over = place && { row: place[0], column: place[1] };
  drawColumns(); drawFocus();
  at.tip.style.display = place ? "block" : "none";
  if (!place) return;
  const [row, column] = place, open = isOpen(row, column), entry = make("div", "mg-entry");
  entry.append(make("i", "", "M"), make("sub", "", row + 1 + "," + (column + 1)), " = " + (open ? "0" : MINUS_INFINITY));
  const reads = make("div"), names = { row: isolated(labels(view.stack, "row")[row][0]), column: isolated(labels(view.stack, "column")[column][0]) };
  reads.append(...phrase(open ? "tip.open" : "tip.closed", names));
  at.tip.replaceChildren(entry, reads, make("div", "ts-where", reason(row, column)));
  placeTip(event);
}

function reason(row, column) {
  const k = row * grid.columns + column, { from, own } = picture(), name = Object.keys(FROM).find((key) => FROM[key] === from[k]);
  const why = word("from." + name, { preset: word("rule." + ruleOf(mask(), view.stack)), layer: view.layer + 1 });
  const layers = view.layer === ALL ? own.get(k) : null;
  return layers ? why + "; " + word("from.others", { layers: listed(layers.map((layer) => layer + 1), ", ") }) : why;
}

function placeTip(event) {
  const frame = at.root.getBoundingClientRect(), x = (event.clientX - frame.left) / zoom(), y = (event.clientY - frame.top) / zoom(), wide = frame.width / zoom(), w = at.tip.offsetWidth, h = at.tip.offsetHeight;
  at.tip.style.left = clamp(x + w + 20 > wide ? x - w - 14 : x + 16, 4, Math.max(4, wide - w - 4)) + "px";
  at.tip.style.top = (y - h - 14 < 4 ? y + 18 : y - h - 14) + "px";
}

function announce() {
  const { row, column } = view, open = isOpen(row, column);
  at.live.textContent = word("said", { row: shown(labels(view.stack, "row")[row][0]), column: shown(labels(view.stack, "column")[column][0]), state: word(open ? "visible" : "hidden") });
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

at.cells.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !grid.rows || !grid.columns) return;
  const step = STEPS[event.key], here = [view.row, view.column];
  if (step) {
    const there = [clamp(view.row + step[0], 0, grid.rows - 1), clamp(view.column + step[1], 0, grid.columns - 1)];
    if (event.shiftKey && !stroke) begin(here);
    if (event.shiftKey) extend(there); else { [view.row, view.column] = there; announce(); drawFocus(); }
    follow();
  } else if (event.key === " " || event.key === "Enter") { begin(here); stroke = null; }
  else if (event.key === "h" || event.key === "H") { if (!isPad(view.column)) { hideColumn(view.column); announce(); } }
  else if (event.key === "Home") { view.column = 0; announce(); drawFocus(); follow(); }
  else if (event.key === "End") { view.column = grid.columns - 1; announce(); drawFocus(); follow(); }
  else return;
  event.preventDefault();
});
at.cells.addEventListener("keyup", (event) => { if (event.key === "Shift") stroke = null; });
at.cells.addEventListener("focus", () => { if (given) { drawFocus(); announce(); } });
at.cells.addEventListener("blur", () => { stroke = null; drawFocus(); });

/** Keep the cell with the focus in view, beside and below the labels that stay. */
function follow() {
  const { cell, label } = grid, top = at.top.offsetHeight, x = view.column * cell, y = view.row * cell, box = at.scroll;
  box.scrollLeft = clamp(box.scrollLeft, x + cell + label + 8 - box.clientWidth, x);
  box.scrollTop = clamp(box.scrollTop, y + cell + top + 8 - box.clientHeight, y);
}
