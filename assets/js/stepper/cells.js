/* The cells. The canvas has one pixel a cell and CSS stretches it; the lines between cells are a layer of their own, so that a step
 * hands on a few hundred bytes instead of a picture of megapixels. */

const painted = { key: "", rows: [] };   // what is on the canvas; rows are compared by identity, because picture() keeps those that stay

/** All cells of the picture; rows that are not written, and positions that may not be read, stay empty. Only rows that changed are drawn. */
function drawCells() {
  const { values, scale, signed: both } = picture(), n = axes().columns.length, context = at.canvas.getContext("2d"), key = [n, grid.rows, scale, both].join();
  if (painted.key !== key) {
    at.canvas.width = Math.max(1, n); at.canvas.height = Math.max(1, grid.rows);   // which empties it
    Object.assign(painted, { key, rows: [] });
    write(at.scale, scale.toFixed(2));
    at.ramp.previousSibling.textContent = both ? "−" + scale.toFixed(2) + " " : "0 ";
    at.ramp.style.background = "linear-gradient(90deg," + (both ? [PALETTE.blue, "#fff", PALETTE.vermilion] : VIRIDIS) + ")";
  }
  const before = painted.rows;
  let from = 0, until = Math.max(values.length, before.length);
  while (from < until && values[from] === before[from]) from++;
  while (until > from && values[until - 1] === before[until - 1]) until--;
  const some = values.slice(from, until);
  if (some.length && n) context.putImageData(coloured(some, n, scale, both), 0, from);
  if (from + some.length < until) context.clearRect(0, from + some.length, at.canvas.width, until - from - some.length);
  painted.rows = values;
}

/** Rows of numbers from 0 (signed: -scale) to scale -> pixels. */
function coloured(values, n, scale, signedOnes = false) {
  const pixels = new ImageData(n, values.length), data = pixels.data;
  values.forEach((row, t) => {
    for (let c = 0, k = 4 * t * n; c < n; c++, k += 4) {
      if (Number.isNaN(row[c])) continue;
      const [r, g, b] = colourOf(row[c], scale, signedOnes);
      data[k] = r; data[k + 1] = g; data[k + 2] = b; data[k + 3] = 255;
    }
  });
  return pixels;
}

/** An outline over whole cells. It is moved by a transform: nothing is laid out or painted again. */
function box(node, column, row, columns, rows) {
  const style = { display: "block", width: columns * grid.cw - 1 + "px", height: rows * grid.ch - 1 + "px", transform: "translate(" + column * grid.cw + "px," + row * grid.ch + "px)" };
  for (const [key, value] of Object.entries(style)) if (node.style[key] !== value) node.style[key] = value;
}

/** The row in view: its outline and its label; labels of rows that are not written are hidden. */
function drawRow() {
  const { values, now } = picture(), { columns, rows } = axes(), labels = at.rows.children;
  if (now >= 0) box(at.current, 0, now, columns.length, 1);
  else at.current.style.display = "none";
  const before = at.rows.querySelector(".ts-now");
  if (before && before !== labels[now]) before.classList.remove("ts-now");
  if (labels[now]) labels[now].classList.add("ts-now");
  for (let i = 0; i < labels.length; i++) {
    const empty = i >= values.length || (values[i].gap && !rows[i].rule);
    if (labels[i].unseen !== empty) labels[i].classList.toggle("ts-later", (labels[i].unseen = empty));
  }
}
