/* Layout: how big a cell is, where the labels go. */

const ruler = document.createElement("canvas").getContext("2d");
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

/** Rows to leave room for: a run that is being written gets about as many as its source has. */
const expectedRows = () => Math.max(1, axes().rows.length, comparing() === "beside" ? twinRows().length : 0, run.done || !grows() ? 0 : clamp(run.source.length + 2, 6, 24));

/** Room for what stands under the cells: bars, and for cross-attention the thresholds and the strip of input × gradient. */
function footHeight() {
  at.marks.hidden = view.map !== "cross";
  at.gradient.hidden = !run.gradient || view.map !== "cross";
  return Math.max(BAR_HEIGHT + 42, at.foot.offsetHeight + BAR_HEIGHT - at.bars.offsetHeight) + 4;
}

/** Choose cell and label sizes for the room there is, then place the labels. Sizes are whole device pixels, so cells stay crisp. */
function layout() {
  const beside = at.side.offsetTop < at.stage.offsetTop + at.stage.offsetHeight / 2;
  const { columns, rows } = axes(), room = at.body.clientWidth - (beside ? 310 : 0), n = columns.length, m = expectedRows(), dpr = window.devicePixelRatio || 1;
  if (room <= 0 || !n) return false;
  const narrow = room < 480, least = narrow ? 13 : 15, font = narrow ? 11 : n > 40 ? 12 : n > 24 ? 13 : 14;
  ruler.font = font + "px " + getComputedStyle(at.root).fontFamily;
  const widths = columns.map((group) => Math.min(narrow ? 84 : 124, ruler.measureText(shown(group.text)).width + 6));
  const widest = Math.max(...widths);
  const targets = rows.map((group) => ruler.measureText(shown(group.text)).width * 1.1);
  grid.label = Math.round(clamp(Math.max(...targets, run.done ? 0 : widest) + 14, narrow ? 50 : 64, narrow ? 90 : 150));
  const zoom = at.root.currentCSSZoom || 1, height = clamp(window.innerHeight / zoom - 300, zoom > 1 ? 260 : 460, 800), foot = footHeight(), scrolls = (top) => top + foot + m * 15 > height;
  const taken = twinRoom(), share = taken ? 0.5 : 1, avail = (room - grid.label - taken - (scrolls(60) ? 14 : 2)) * share;   // the scroll bar, where there will be one
  const overhang = (cw) => Math.max(0, ...widths.map((w, i) => w * 0.71 + 12 - (n - i - 0.5) * cw));
  let turn = widest + 6 <= Math.min(110, avail / n) ? 0 : 45, over = turn ? overhang(avail / n) : 4;
  if (turn && (avail - over) / n < 19) { turn = 90; over = 4; }
  const top = Math.ceil(turn === 0 ? 36 : turn === 45 ? (widest + font * 1.25) * 0.71 + 8 : widest + 8);
  const ideal = clamp((height - top - foot) / m, 15, 52);
  const whole = (x) => Math.max(1, Math.floor(x * dpr)) / dpr;
  let cw = clamp((avail - over) / n, least, 110);
  // A run keeps its row height while rows stream in; only a clear misfit is corrected at the end.
  const same = grid.run === run.id + view.map, keep = same && grid.width === room && Math.abs(grid.ch / Math.min(ideal, Math.max(cw, 22)) - 1) < 0.25;
  grid.ch = keep || (same && !run.done && grid.width === room) ? grid.ch : whole(Math.min(ideal, Math.max(cw, 22)));
  cw = grid.cw = whole(Math.min(cw, Math.max(least, grid.ch * 2.2)));
  over = turn === 45 ? Math.ceil(overhang(cw)) : over;
  Object.assign(grid, { run: run.id + view.map, width: room, rows: m, top });

  const px = (node, sizes) => Object.entries(sizes).forEach(([key, value]) => (node.style[key] = value + "px"));
  const wide = grid.label + n * cw + over + (taken ? taken + n * cw + over : 0);
  const fit = Math.min(room, wide + (scrolls(top) ? 14 : 2));
  at.body.style.setProperty("--ts-fit", fit + "px");
  at.body.style.setProperty("--ts-window", (beside ? fit : room) - 16 + "px");   // what stands still beside a scrolled map is no wider
  px(at.sheet, { width: wide });
  px(at.corner, { width: grid.label, height: top });
  px(at.cols, { left: grid.label, top: top - 4 });
  at.cols.style.transform = turn ? "rotate(-" + turn + "deg)" : "";
  px(at.rows, { width: grid.label, height: m * grid.ch });
  px(at.cells, { width: n * cw, height: m * grid.ch });
  px(at.gradient.querySelector(".ts-graxis"), { width: grid.label });
  px(at.axis, { width: grid.label, height: BAR_HEIGHT });
  px(at.bars, { width: n * cw, height: BAR_HEIGHT });
  px(at.scroll, { maxHeight: Math.round(height) + 24 });   // the foot may yet grow by a line
  at.sheet.style.fontSize = font + "px";
  px(at.canvas, { width: n * cw, height: m * grid.ch });
  at.cells.style.setProperty("--ts-gap", Math.max(1, Math.round(dpr)) / dpr + "px");
  at.cells.style.setProperty("--ts-cell", cw + "px " + grid.ch + "px");
  layoutTwin(turn, font, widths, over);
  for (const name of ["caption", "text", "unit"]) {
    const { fontSize, fontFamily } = getComputedStyle(at[name]);
    grid[name] = { font: fontSize + " " + fontFamily, width: at[name].clientWidth };
  }
  Array.from(at.cols.children).forEach((node, i) => placeColumn(node, i, turn, font, widths[i]));
  placeRows();
  return true;
}

/** The frame of the labels is turned, not each label: one transform instead of one a column, which every frame would pay for. */
function placeColumn(node, i, turn, font, width) {
  const middle = (i + 0.5) * grid.cw, line = font * 1.25, x = turn === 45 ? middle + line * 0.3 : middle + line / 2, angle = (turn * Math.PI) / 180;
  const place = turn ? { left: x * Math.cos(angle), top: x * Math.sin(angle) - line } : { left: i * grid.cw + 2, top: -line };
  Object.assign(node.style, { left: place.left.toFixed(2) + "px", top: place.top.toFixed(2) + "px", maxWidth: turn ? width + 2 + "px" : "", width: turn ? "" : grid.cw - 4 + "px", textAlign: turn ? "" : "center" });
}

function placeRows() {
  Array.from(at.rows.children).forEach((node, t) => {
    node.style.top = t * grid.ch + "px";
    node.style.height = node.style.lineHeight = grid.ch + "px";
  });
}
