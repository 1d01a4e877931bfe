/* Pointing. */

function tip(x, y, lines) {
  const frame = at.root.getBoundingClientRect();
  at.tip.replaceChildren(...lines);
  at.tip.style.display = "block";
  const w = at.tip.offsetWidth, h = at.tip.offsetHeight, left = x - frame.left + 16, above = y - frame.top - h - 14;
  at.tip.style.left = clamp(left + w > frame.width - 4 ? x - frame.left - w - 16 : left, 4, Math.max(4, frame.width - w - 4)) + "px";
  at.tip.style.top = (above < 4 ? y - frame.top + 18 : above) + "px";
}

function hideTip() {
  at.tip.style.display = "none";
  at.hovered.style.display = "none";
  if (view.column >= 0) highlight(-1);
}

function pair(...pieces) {
  const line = make("div");
  line.append(...pieces);
  return line;
}

/** Which cell lies under the pointer, or null; rows that are not written yet have none. */
function cellUnder(event) {
  const frame = at.cells.getBoundingClientRect();
  const column = Math.floor((event.clientX - frame.left) / grid.cw), row = Math.floor((event.clientY - frame.top) / grid.ch);
  return run && column >= 0 && column < run.source.length && row >= 0 && row < run.rows.length ? { row, column } : null;
}

function hover(event) {
  const cell = cellUnder(event);
  if (!cell || cell.row >= view.step) return hideTip();
  box(at.hovered, cell.column, cell.row, 1, 1);
  highlight(cell.column);
  tip(event.clientX, event.clientY, [
    make("strong", "ts-weight", digits(reduction().rows[cell.row][cell.column])),
    pair("'", isolated(run.rows[cell.row].t[0]), "' reads '", isolated(run.source[cell.column][0]), "'"),
    make("div", "ts-where", reductionName()),
    make("div", "ts-where", "step " + (cell.row + 1) + ", source token " + (cell.column + 1) + (cell.column < run.prefix ? " (task prefix)" : "")),
  ]);
}

function tipForBar(column, event) {
  highlight(column);
  if (event) tip(event.clientX, event.clientY, [make("strong", "", digits(coverage()[column])),
    pair("'", isolated(run.source[column][0]), "' received so far"), make("div", "ts-where", "Σ over " + view.step + (view.step === 1 ? " step, " : " steps, ") + reductionName())]);
}
