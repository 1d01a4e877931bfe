/* Layout: how big a cell is for the room there is, and the labels of both axes. */

const ruler = document.createElement("canvas").getContext("2d");
const fingers = navigator.maxTouchPoints > 0;
const LEAST = 16, MOST = 34;   // px of a cell; a finger needs a little more
const SIDE = 320;              // px beside the grid for words and formula

/** Sizes of cells and labels; false while the component has no width yet. */
function layout() {
  const [rows, columns] = sizes(view.stack), room = at.body.clientWidth, beside = room >= 760;
  if (room <= 0) return false;
  at.body.classList.toggle("mg-beside", beside);
  at.body.classList.toggle("mg-fingers", fingers);
  const narrow = room < 480, font = narrow ? 11 : 13, line = font * 1.25;
  ruler.font = font + "px " + getComputedStyle(at.root).fontFamily;
  const widest = (axis, most) => Math.min(most, Math.max(12, ...labels(view.stack, axis).map(([text]) => ruler.measureText(shown(text)).width)) + 8);
  const titles = Math.max(...cornerTitles().map((text) => ruler.measureText(text).width)) * (narrow ? 1 : 0.85) + 12;
  const label = Math.round(clamp(Math.max(titles, widest("row", narrow ? 84 : 132) + 12), 46, 150)), across = widest("column", narrow ? 76 : 112);
  const height = clamp(window.innerHeight - 260, 320, 720), wide = room - (beside ? SIDE + 24 : 0) - label - 16;
  const least = fingers && narrow ? 24 : LEAST, dpr = window.devicePixelRatio || 1;
  let cell = clamp(Math.min(wide / Math.max(1, columns), Math.max((height - across) / Math.max(1, rows), 22)), least, MOST);
  cell = Math.floor(cell * dpr) / dpr;
  const turn = across - 8 <= cell ? 0 : cell * 1.414 >= line + 4 && columns * cell + across * 0.75 <= wide + 40 ? 45 : 90;
  const over = turn === 45 ? Math.ceil(across * 0.71) : 0;
  const top = Math.ceil(turn === 0 ? Math.max(line + 10, 34) : turn === 45 ? (across + line) * 0.71 + 8 : across + 8);
  const tail = view.stack !== "encoder" && rows ? Math.round(cell * 0.7) : 0;   // the beginning of the rows beyond
  Object.assign(grid, { cell, rows, columns, label, tail, width: room, dpr: Math.min(dpr, 8000 / Math.max(1, Math.max(rows, columns) * cell)) });
  place(top, over, turn, font, line, height);
  return true;
}

/** What the columns and the rows are. */
const cornerTitles = () => [word("axis." + (view.stack === "decoder" ? "fed" : "source")) + " →", word("axis." + (view.stack === "encoder" ? "source" : "rows")) + " ↓"];

function place(top, over, turn, font, line, height) {
  const { cell, rows, columns, label, tail } = grid;
  const px = (node, wanted) => Object.entries(wanted).forEach(([key, value]) => (node.style[key] = value + "px"));
  px(at.sheet, { width: label + columns * cell + over + 2, fontSize: font });
  px(at.scroll, { maxHeight: Math.round(height) });
  px(at.corner, { width: label, height: top });
  px(at.cols, { width: columns * cell + over, height: top });
  px(at.rows, { width: label, height: rows * cell + tail });
  px(at.cells, { width: columns * cell, height: rows * cell + tail });
  px(at.canvas, { width: columns * cell, height: rows * cell + tail });
  at.canvas.width = Math.round(columns * cell * grid.dpr);
  at.canvas.height = Math.round((rows * cell + tail) * grid.dpr);
  at.corner.replaceChildren(...cornerTitles().map((text) => make("span", "", text)));
  at.cols.replaceChildren(...labels(view.stack, "column").map(([text, dim], j) => {
    const node = make("button", "mg-col mg-turn" + turn + (dim ? " mg-dim" : "") + (isPad(j) ? " mg-pad" : ""), shown(text)), middle = (j + 0.5) * cell;
    node.type = "button"; node.tabIndex = -1; node.dir = "auto"; node.dataset.at = j;   // by keyboard: H in the cell's column
    px(node, { height: line, lineHeight: line, left: turn === 0 ? middle : turn === 45 ? middle + line * 0.3 : middle + line / 2, maxWidth: turn ? top * (turn === 45 ? 1.4 : 1) - 8 : cell });
    return node;
  }));
  at.rows.replaceChildren(...labels(view.stack, "row").map(([text, dim], i) => {
    const node = make("span", "mg-row" + (dim ? " mg-dim" : ""), shown(text));
    node.dir = "auto"; node.title = rowTitle(i);
    px(node, { top: i * cell, height: cell, lineHeight: cell });
    return node;
  }));
}

/** What a row is: for the decoder, what it is fed and what it writes. */
function rowTitle(i) {
  const { target, writes } = given.labels, row = i + 1;
  if (view.stack === "encoder" || !writes || writes[i] === undefined) return word("row", { row, text: shown(labels(view.stack, "row")[i][0]) });
  return word("row.writes", { row, fed: shown(target[i][0]), text: shown(writes[i]) });
}
