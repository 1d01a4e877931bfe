/* Layout: side by side where the numbers still fit, else one under the other; cells shrink before a panel scrolls. */

const ruler = document.createElement("canvas").getContext("2d");
const OPERATOR = 104, GAP = 24;   // px of a sign before a panel, at most, and between two panels

/** Width of the row labels, and height of the column labels when they stand upright. */
function labelSizes(panel, narrow) {
  ruler.font = "12px " + getComputedStyle(at.root).fontFamily;
  const widest = (texts) => Math.max(8, ...texts.map((text) => ruler.measureText(shown(text)).width));
  const titles = Math.max(...[panel.row_title, panel.column_title].map((text) => ruler.measureText((text || "") + " ↓").width));
  return { label: Math.round(clamp(Math.max(widest(panel.rows), titles) + 14, 34, narrow ? 86 : 130)), across: Math.min(widest(panel.columns), narrow ? 72 : 104) };
}

function layout() {
  const room = at.panels.clientWidth;
  if (room <= 0) return false;
  const narrow = room < 480, all = panels.map((panel) => ({ panel, ...labelSizes(panel, narrow) }));
  const cellIn = (space, label, n) => (space - label - 6) / Math.max(1, n);
  const signs = at.panels.querySelector(".mx-operator"), n = panels.length;
  const between = (k) => (!signs ? (k - 1) * GAP : OPERATOR * (n >= 2 * k ? k : Math.max(k - 1, n - k)));   // a line that is not the first begins with a sign
  const share = (k) => (k === 1 ? room : (room - between(k)) / k);
  const least = (k) => Math.min(...all.map(({ panel, label }) => cellIn(share(k), label, panel.columns.length)));
  const counts = panels.map((_, k) => panels.length - k);   // most in a line first
  const inLine = counts.find((k) => least(k) >= (view.beside ? TIGHT : PRINTED)) || (least(1) < PRINTED && counts.find((k) => least(k) >= LEAST)) || 1;
  at.panels.classList.toggle("mx-stacked", inLine === 1 && panels.length > 1);
  for (const { panel, label, across } of all) size(panel, cellIn(share(inLine), label, panel.columns.length), label, across, share(inLine));
  return true;
}

function size(panel, wanted, label, across, room) {
  const dpr = window.devicePixelRatio || 1, cw = Math.floor(clamp(wanted, view.beside ? TIGHT : LEAST, MOST) * dpr) / dpr, n = panel.columns.length, m = panel.rows.length;
  const ch = panel.drag ? BAR : cw >= PRINTED ? 26 : Math.min(22, cw), turn = across + 4 <= cw ? 0 : cw >= 26 && n * cw + across * 0.71 + label < room ? 45 : 90;
  const over = turn === 45 ? Math.ceil(across * 0.71) : 0, top = Math.ceil(turn === 0 ? 36 : turn === 45 ? (across + 15) * 0.71 + 8 : across + 8);
  const px = (node, sizes) => Object.entries(sizes).forEach(([key, x]) => (node.style[key] = x + "px")), to = panel.at;
  panel.grid = { cw, ch, label, top, dpr: Math.min(dpr, 8000 / Math.max(1, n * cw, m * ch)) };
  px(to.sheet, { width: label + n * cw + over + 2 });
  px(to.scroll, { maxWidth: room, maxHeight: clamp(window.innerHeight * 0.7, 300, 640) });
  px(to.corner, { width: label, height: Math.max(top, 36) });
  px(to.cols, { width: n * cw + over, height: Math.max(top, 36) });
  px(to.rows, { width: label, height: m * ch });
  px(to.cells, { width: n * cw, height: m * ch });
  px(to.canvas, { width: n * cw, height: m * ch });
  to.canvas.width = Math.round(n * cw * panel.grid.dpr);
  to.canvas.height = Math.round(m * ch * panel.grid.dpr);
  Array.from(to.cols.children).forEach((node, j) => {
    const middle = (j + 0.5) * cw;
    px(node, { left: turn === 0 ? middle : turn === 45 ? middle + 5 : middle + 7.5, maxWidth: turn ? across + 4 : cw });
    node.style.transform = turn ? "rotate(-" + turn + "deg)" : "translateX(-50%)";
  });
  Array.from(to.rows.children).forEach((node, i) => px(node, { top: i * ch, height: ch, lineHeight: ch }));
  if (to.hold) px(to.hold, { top: lastRow(panel) * ch, height: ch });
  fillDead(panel);
}

/** Rows that see nothing say so. */
function fillDead(panel) {
  const { ch } = panel.grid;
  panel.at.dead.replaceChildren(...Array.from(panel.dead).filter((row) => row < panel.rows.length && isZero(panel, row)).map((row) => {
    const line = make("div", "mx-deadline");
    line.append(make("span", "mx-dead", word("dead")));
    Object.assign(line.style, { top: row * ch + "px", height: ch + "px", fontSize: Math.min(12, ch - 5) + "px" });
    return line;
  }));
}
const isZero = (panel, row) => panel.columns.every((_, column) => value(panel, row, column) === 0);
