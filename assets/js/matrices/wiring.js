/* Wiring: export, observers, and the hooks that tests use. */

/** All panels, one under the other, an empty line between; −∞ as -inf, an unknown number as nothing. */
function csvText() {
  const plain = (x) => (Number.isNaN(x) ? "" : Number.isFinite(x) ? String(+x.toPrecision(7)) : x < 0 ? "-inf" : "inf");
  const blocks = panels.map((panel) => [
    csvField(panel.title), [csvField([panel.row_title, panel.column_title].filter(Boolean).join(" \\ ")), ...panel.columns.map(csvField)].join(","),
    ...panel.rows.map((text, i) => [csvField(text), ...panel.columns.map((_, j) => plain(value(panel, i, j)))].join(",")),
  ].join("\r\n"));
  return blocks.join("\r\n\r\n") + "\r\n";
}

at.csv.onclick = () => downloadCsv("matrices", csvText());

const hooks = {
  panels: () => panels.map(({ title, rows, columns, low, high, grid }) => ({ title, rows, columns, low, high, ...grid })),
  value: (panel, row, column) => number(value(panels[panel], row, column)),
  spot: () => spot && { row: spot.row, column: spot.column, panels: linked(spot).map((panel) => panel.index) },
  checked: (panel) => checkedOf(panels[panel]), csv: csvText,
};
at.root.twoStacks = hooks;
(window.twoStacks ||= {}).matrices = hooks;

new ResizeObserver(() => paint()).observe(at.root);
watchTheme(view, () => paint());
receive();
watch("value", receive);
