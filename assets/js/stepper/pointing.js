/* Pointing. */

const zoom = () => at.root.currentCSSZoom || 1;   // of a lecture, and of projector mode: pointers are measured in px of the window

function tip(x, y, lines) {
  const frame = at.root.getBoundingClientRect(), wide = frame.width / zoom();
  [x, y] = [(x - frame.left) / zoom(), (y - frame.top) / zoom()];
  at.tip.replaceChildren(...lines);
  at.tip.style.display = "block";
  const w = at.tip.offsetWidth, h = at.tip.offsetHeight, left = x + 16, above = y - h - 14;
  at.tip.style.left = clamp(left + w > wide - 4 ? x - w - 16 : left, 4, Math.max(4, wide - w - 4)) + "px";
  at.tip.style.top = (above < 4 ? y + 18 : above) + "px";
}

function hideTip() {
  at.tip.style.display = "none";
  at.hovered.style.display = at.linked.style.display = at.twinhovered.style.display = "none";
  if (run && view.column >= 0) highlight(view.pinned);
}

function pair(...pieces) {
  const line = make("div");
  line.append(...pieces);
  return line;
}

/** Which cell lies under the pointer, or null; rows that are not written yet have none. */
function cellUnder(event) {
  if (!run) return null;
  const frame = at.cells.getBoundingClientRect(), { values } = picture();
  const column = Math.floor((event.clientX - frame.left) / zoom() / grid.cw), row = Math.floor((event.clientY - frame.top) / zoom() / grid.ch);
  return row >= 0 && row < values.length && column >= 0 && column < axes().columns.length && axes().rows[row].members.length ? { row, column } : null;
}

function hover(event) {
  const cell = cellUnder(event);
  if (!cell) return hideTip();
  const { columns, rows } = axes(), value = picture().values[cell.row][cell.column], [from, to] = [rows[cell.row], columns[cell.column]];
  const line = link(cell, false);
  box(at.hovered, cell.column, cell.row, 1, 1);
  highlight(cell.column);
  tip(event.clientX, event.clientY, [
    make("strong", "ts-weight", Number.isNaN(value) ? word("tip.future") : picture().signed ? signed(value, 3) : digits(value)), ...line,
    pair(...phrase("tip.reads", { row: isolated(from.text), column: isolated(to.text) })),
    make("div", "ts-where", reductionName()),
    make("div", "ts-where", word("tip.where", { row: word(grows() ? "tip.step" : "tip.source", { k: places(from) }),
      column: word(view.map === "decoder" ? "tip.fed" : to.tokens[0] < run.prefix ? "tip.prefix" : "tip.source", { k: places(to) }) })),
    ...(from.kept ? [make("div", "ts-where", word("tip.kept"))] : picture().signed ? [make("div", "ts-where", word("tip.difference"))] : []),
    ...(view.cover === "weights" ? [] : [make("div", "ts-where", word("tip." + view.cover))]),
  ]);
}

function tipForBar(column, event) {
  highlight(column);
  if (event) tip(event.clientX, event.clientY, [make("strong", "", digits(received()[column])),
    pair(...phrase(grows() ? "bars.received.sofar" : "bars.received", { column: isolated(axes().columns[column].text) })),
    make("div", "ts-where", word("bars.sum", { rows: grows() ? plural("steps", view.step) : plural("rows", rowsKnown()), reduction: reductionName() }))]);
}
