/* The nodes of one panel; `panel.at` names them. Sizes come later, from layout. */

function built(panel) {
  const node = make("figure", "mx-panel"), head = make("figcaption", "mx-head"), sheet = make("div", "mx-sheet");
  const top = make("div", "mx-top"), middle = make("div", "mx-mid"), parts = {
    node, sheet, scroll: make("div", "mx-scroll"), corner: make("div", "mx-corner"), cols: make("div", "mx-cols"), rows: make("div", "mx-rows"),
    cells: make("div", "mx-cells"), canvas: make("canvas"), dead: make("div"), mark: make("i", "mx-mark"),
  };
  head.append(make("strong", "", panel.title), ...(panel.low === panel.high || panel.drag ? [] : [legend(panel)]));
  if (panel.note) head.append(make("span", "mx-note", panel.note));
  parts.corner.append(make("span", "", panel.column_title ? panel.column_title + " →" : ""), make("span", "", panel.row_title ? panel.row_title + " ↓" : ""));
  for (const [list, texts, name] of [[parts.cols, panel.columns, "mx-col"], [parts.rows, panel.rows, "mx-row"]]) {
    list.append(...texts.map((text) => { const label = make("span", name, shown(text)); label.dir = "auto"; label.title = shown(text); return label; }));
  }
  parts.mark.hidden = true;
  parts.cells.tabIndex = 0;
  parts.cells.setAttribute("role", "application");
  parts.cells.setAttribute("aria-label", [word("cells", { title: panel.title, rows: panel.rows.length, columns: panel.columns.length }), ...(panel.drag ? [word("drag")] : [])].join(" "));
  parts.canvas.setAttribute("aria-hidden", "true");
  parts.cells.append(parts.canvas, parts.dead, parts.mark);
  if (panel.drag) parts.cells.append(parts.hold = make("div", "mx-hold"));   // where a finger draws and does not scroll the page
  top.append(parts.corner, parts.cols);
  middle.append(parts.rows, parts.cells);
  sheet.append(top, middle);
  parts.scroll.append(sheet);
  node.append(head, parts.scroll);
  panel.at = parts;
  ((window.twoStacks ||= {}).tables ||= []).push({ at: parts.scroll, table: () => ({ ...panel, cell: (i, j) => sayNumber(value(panel, i, j)) + (panel.checked?.has(i + "," + j) ? " ✓" : "") }) });
  listen(panel);
  return node;
}

/** The ends of the panel's colours. */
function legend(panel) {
  const node = make("span", "mx-legend"), ramp = make("i", "ts-ramp"), most = Math.max(Math.abs(panel.low), Math.abs(panel.high));
  if (panel.scale === "diverging") ramp.style.background = "linear-gradient(90deg," + [-1, -0.5, 0, 0.5, 1].map((x) => "rgb(" + diverging(x).join() + ")").join() + ")";
  else ramp.style.background = at.ramp.style.background;
  const [low, high] = panel.scale === "diverging" ? [-most, most] : [panel.low, panel.high];
  node.append(make("span", "", number(low, panel.digits)), ramp, make("span", "", number(high, panel.digits)));
  return node;
}
