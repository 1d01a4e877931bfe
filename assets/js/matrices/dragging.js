/* A row of weights that is set by hand: a cell is dragged up or down, the others keep their proportions. Nothing is sent before its end. */

const BAR = 84;              // px of a row whose cells are bars
const STILL = 3;             // px that are no drag yet
const NUDGE = 0.05, REST = 400;   // by one press of a key; ms until what was pressed is sent

let drag = null;             // { panel, column, from, top, share, pointer } while a cell is held
let late = false;            // whether an answer came meanwhile
let resting = 0;

const lastRow = (panel) => panel.rows.length - 1;
const canDrag = (panel, row) => !!panel.drag && row === lastRow(panel);
const rowOf = (panel, row) => panel.values.slice(row * panel.columns.length, (row + 1) * panel.columns.length);

/** `from` with `share` on one column. Columns beyond those drawn count: a row adds up to 1, or sees nothing. */
function sharedOut(panel, from, column, share) {
  const others = (row) => row.reduce((sum, x, j) => sum + (j === column ? 0 : x), 0), own = rowOf(panel, 0);
  const base = [from, own].find((row) => others(row) > 1e-9);
  if (!base) return own.map((_, j) => (j === column ? 1 : 0));
  const factor = (1 - share) / Math.max(1e-9, 1 - base[column]);
  return base.map((x, j) => (j === column ? share : x * factor));
}

function setShare(panel, from, column, share) {
  panel.values.set(sharedOut(panel, from, column, share), lastRow(panel) * panel.columns.length);
  drawPanel(panel);
}

function hold(panel, event) {
  const where = cellUnder(panel, event);
  if (event.button || !where || !canDrag(panel, where.row)) return;
  sendShare();
  drag = { panel, column: where.column, from: rowOf(panel, where.row), top: event.clientY, share: null, pointer: event.pointerId };
  drag.start = drag.from[where.column];
  panel.at.cells.setPointerCapture(event.pointerId);
}

/** True while a cell is dragged: the pointer then names no other cell. */
function pull(panel, event) {
  if (!drag || drag.panel !== panel || drag.pointer !== event.pointerId) return false;
  const up = drag.top - event.clientY, { column } = drag;
  if (drag.share === null && Math.abs(up) < STILL) return true;
  drag.share = clamp(Math.round(100 * (drag.start + up / zoom() / (BAR - 2))) / 100, 0, 1);
  setShare(panel, drag.from, column, drag.share);
  pointAt({ axes: panel.axes, panel, row: lastRow(panel), column }, event.clientX, event.clientY);
  return true;
}

/** The end of a drag; true where there was one, so that it is no click as well. */
function release(given) {
  if (!drag) return false;
  const { panel, column, from, share } = drag, moved = share !== null;
  drag = null;
  if (!given && moved) setShare(panel, from, column, from[column]);
  else if (moved) trigger("edit", { panel: panel.index, column, share });
  if (late && !(given && moved)) receive();
  late = false;
  return moved;
}

/** + and − move the weight of the cell in focus; it is sent when they rest. */
let pressed = null;          // { panel, column, share } that has not been sent
function nudge(panel, row, column, key) {
  const way = { "+": 1, "=": 1, "-": -1, "−": -1 }[key];
  if (!way || !canDrag(panel, row)) return false;
  const now = pressed && pressed.column === column ? pressed.share : value(panel, row, column);
  if (pressed && pressed.column !== column) sendShare();
  const share = clamp(Math.round(100 * (now + way * NUDGE)) / 100, 0, 1);
  setShare(panel, rowOf(panel, row), column, share);
  pressed = { panel, column, share };
  clearTimeout(resting);
  resting = setTimeout(sendShare, REST);
  return true;
}

function sendShare() {
  clearTimeout(resting);
  if (!pressed) return;
  const { panel, column, share } = pressed;
  pressed = null;
  trigger("edit", { panel: panel.index, column, share });
}
