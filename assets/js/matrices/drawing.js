/* Drawing: colours, numbers, hatches for −∞, check boxes. */

let frame = 0;
function paint() { if (!frame) frame = requestAnimationFrame(flush); }

function flush() {
  frame = 0;
  const width = at.panels.clientWidth;
  if (width !== view.width) { if (panels.length && !layout()) return; view.width = width; }
  for (const panel of panels) drawPanel(panel);
  drawSpot();
  element.dataset.ready = "1";
}

function drawPanel(panel) {
  if (!panel.grid) return;   // not laid out yet: its tab is not in sight
  const { cw, ch, dpr } = panel.grid, context = panel.at.canvas.getContext("2d"), n = panel.columns.length, places = placesFor(panel, context);
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.clearRect(0, 0, n * cw, panel.rows.length * ch);
  const hatching = hatch(context, dpr);
  context.textAlign = "center"; context.textBaseline = "middle";
  for (let i = 0; i < panel.rows.length; i++) for (let j = 0; j < n; j++) {
    const x = value(panel, i, j), left = j * cw, top = i * ch;
    if (Number.isNaN(x)) { box(context, panel, i, j); continue; }
    const rgb = x === -Infinity ? null : tint(panel, x);
    context.fillStyle = rgb ? "rgb(" + rgb.join() + ")" : hatching;
    if (panel.drag) { bar(context, panel, i, left, top, x, places); continue; }
    context.fillRect(left + 0.5, top + 0.5, cw - 1, ch - 1);
    if (cw >= PRINTED && !(panel.dead.has(i) && x === 0)) {
      context.fillStyle = rgb ? inkOn(rgb) : colour("--body-text-color");
      context.fillText(number(x, places), left + cw / 2 + (panel.checked ? 7 : 0), top + ch / 2 + 0.5, cw - 2);
    }
    box(context, panel, i, j);
  }
}

/** A weight from 0 to 1 as a bar; its number stands above it, or in it where there is no room above. */
function bar(context, panel, row, left, top, x, places) {
  const { cw, ch } = panel.grid, height = x * (ch - 2), foot = top + ch - 1, above = ch - height > 18;
  context.fillStyle = colour("--mx-closed");
  context.fillRect(left + 0.5, top + 1, cw - 1, ch - 2);
  context.fillStyle = colour(canDrag(panel, row) ? "--mx-bar" : "--mx-was");
  context.fillRect(left + 0.5, foot - Math.max(height, 1.5), cw - 1, Math.max(height, 1.5));
  if (cw < PRINTED) return;
  context.fillStyle = above ? colour("--body-text-color") : "#fff";
  context.fillText(number(x, places), left + cw / 2, above ? foot - height - 9 : foot - height + 10, cw - 2);
}

/** As many digits as the panel asks for and the widest of its numbers leaves room for. */
function placesFor(panel, context) {
  const room = panel.grid.cw - (panel.checked ? 18 : 4), printed = Array.from(panel.values).filter(Number.isFinite);
  context.font = "11px " + getComputedStyle(at.root).fontFamily;
  for (let places = panel.digits; places > 0; places--) {
    const length = Math.max(0, ...[Math.min(...printed), Math.max(...printed)].map((x) => context.measureText(number(x, places)).width));
    if (length <= room) return places;
  }
  return 0;
}

function tint(panel, x) {
  if (panel.scale === "diverging") return colourOf(x, Math.max(Math.abs(panel.low), Math.abs(panel.high)) || 1, true);
  return colourOf(x - panel.low, panel.high - panel.low || 1, false);
}

const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff");

function hatch(context, dpr) {
  const tile = document.createElement("canvas"), size = Math.round(7 * dpr), pen = tile.getContext("2d");
  tile.width = tile.height = size;
  pen.fillStyle = colour("--mx-closed");
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = colour("--mx-hatch");
  pen.lineWidth = dpr;
  for (const shift of [-size, 0, size]) { pen.beginPath(); pen.moveTo(shift, size); pen.lineTo(shift + size, 0); pen.stroke(); }
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / dpr));
  return pattern;
}

/** A check box in the cell, on paper of its own, so that it is seen on every colour. */
function box(context, panel, row, column) {
  if (!panel.checked) return;
  const { cw, ch } = panel.grid, side = 11, left = cw >= PRINTED ? column * cw + 3 : (column + 0.5) * cw - side / 2, top = (row + 0.5) * ch - side / 2;
  const on = panel.checked.has(row + "," + column);
  context.fillStyle = on ? "#111" : "rgba(255, 255, 255, 0.75)";
  context.strokeStyle = "#333";
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(left, top, side, side, 2);
  context.fill();
  context.stroke();
  if (!on) return;
  context.strokeStyle = "#fff";
  context.lineWidth = 1.8;
  context.beginPath();
  context.moveTo(left + 2.5, top + 5.800); context.lineTo(left + 4.700, top + 8); context.lineTo(left + 8.600, top + 3);
  context.stroke();
}
