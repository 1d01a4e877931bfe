/* The kept run beside the one in view: a second map with the same columns, cell sizes and colours. Both step together, and a cell that is
 * pointed at is outlined in both. */

const GAP = 22;
const twin = { label: 0 };
const twinRows = () => ofOther(() => groups(axisOf("rows")));
const twinValues = () => ofOther(() => valuesAt(view.step));

/** Room that the second map takes from the columns of the first: its labels and the gap; 0 where there is none. */
function twinRoom() {
  const on = comparing() === "beside";
  for (const name of ["twin", "twincols"]) at[name].hidden = !on;
  if (!on) return 0;
  const widths = twinRows().map((group) => ruler.measureText(shown(group.text)).width * 1.1);
  twin.label = Math.round(clamp(Math.max(...widths) + 14, 50, 150));
  return GAP + twin.label;
}

/** Labels and sizes; column labels stand as those of the first map do. */
function layoutTwin(turn, font, widths, over) {
  if (comparing() !== "beside") return;
  const rows = twinRows(), { columns } = axes(), width = columns.length * grid.cw, px = (node, sizes) => Object.entries(sizes).forEach(([key, value]) => (node.style[key] = value + "px"));
  const named = (list, className, groups) => list.replaceChildren(...groups.map((group) => {
    const node = make("span", className + (group.dim ? " ts-dim" : ""), shown(group.text));
    node.dir = "auto";
    return node;
  }));
  named(at.twinrows, "ts-rowlabel", rows);
  named(at.twincols, "ts-col", columns);
  Array.from(at.twinrows.children).forEach((node, t) => px(node, { top: t * grid.ch, height: grid.ch, lineHeight: grid.ch }));
  Array.from(at.twincols.children).forEach((node, c) => placeColumn(node, c, turn, font, widths[c]));
  px(at.twincols, { left: grid.label + width + over + GAP + twin.label, top: grid.top - 4 });
  at.twincols.style.transform = at.cols.style.transform;
  px(at.twinrows, { width: twin.label, height: rows.length * grid.ch });
  px(at.twin, { marginLeft: over + GAP });
  px(at.twincells, { width, height: rows.length * grid.ch });
  px(at.twincanvas, { width, height: rows.length * grid.ch });
  for (const name of ["--ts-gap", "--ts-cell"]) at.twincells.style.setProperty(name, at.cells.style.getPropertyValue(name));
  at.twincanvas.width = Math.max(1, columns.length);
  at.twincanvas.height = Math.max(1, rows.length);
}

function drawTwin() {
  if (comparing() !== "beside") return;
  const values = twinValues(), n = axes().columns.length, context = at.twincanvas.getContext("2d");
  context.clearRect(0, 0, at.twincanvas.width, at.twincanvas.height);
  if (values.length && n) context.putImageData(coloured(values, n, picture().scale), 0, 0);
  const now = grows() && view.step ? Math.min(view.step, other.rows.length) - 1 : -1;
  Array.from(at.twinrows.children).forEach((node, t) => {
    node.classList.toggle("ts-later", t >= values.length);
    node.classList.toggle("ts-now", twinRows()[t].members.includes(now));
  });
}

/** The same cell of the other run: {value, row} in the map that is drawn, or null. Under the first map its rows follow the rule. */
function counterpart(cell, inTwin) {
  const how = comparing();
  if (how === "beside") {
    const value = ((inTwin ? picture().values : twinValues())[cell.row] || [])[cell.column];
    return value === undefined ? null : { value, row: cell.row };
  }
  if (how !== "under") return null;
  const rule = axes().rows.findIndex((group) => group.rule), row = cell.row < rule ? cell.row + rule + 1 : cell.row - rule - 1, values = picture().values[row];
  return values && !values.gap ? { value: values[cell.column], row } : null;
}

/** Outline what is pointed at in both maps; the line of the tip that says the other number. */
function link(cell, inTwin) {
  const found = counterpart(cell, inTwin), beside = comparing() === "beside";
  at.linked.style.display = at.twinhovered.style.display = "none";
  if (beside && (inTwin || found)) box(at.twinhovered, cell.column, cell.row, 1, 1);
  if (!beside && found) box(at.linked, cell.column, found.row, 1, 1);
  return found && !Number.isNaN(found.value) ? [make("div", "", word(inTwin ? "tip.here" : "tip.there", { value: digits(found.value) }))] : [];
}

at.twincells.addEventListener("pointermove", (event) => {
  if (!run || comparing() !== "beside") return;
  const frame = at.twincells.getBoundingClientRect(), values = twinValues(), { columns } = axes();
  const cell = { column: Math.floor((event.clientX - frame.left) / zoom() / grid.cw), row: Math.floor((event.clientY - frame.top) / zoom() / grid.ch) };
  if (!values[cell.row] || !columns[cell.column]) return hideTip();
  const value = values[cell.row][cell.column], line = link(cell, true);
  if (picture().values[cell.row]) box(at.hovered, cell.column, cell.row, 1, 1);
  else at.hovered.style.display = "none";
  highlight(cell.column);
  tip(event.clientX, event.clientY, [make("strong", "ts-weight", Number.isNaN(value) ? word("tip.future") : digits(value)), ...line,
    pair(...phrase("tip.reads", { row: isolated(twinRows()[cell.row].text), column: isolated(columns[cell.column].text) })),
    make("div", "ts-where", reductionName()), make("div", "ts-where", word("tip.kept"))]);
});
at.twincells.addEventListener("pointerleave", () => hideTip());
