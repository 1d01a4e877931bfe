/* Pictures: horizontal bars, lines, heatmaps. Blue is below 0 or "one", vermilion above 0 or "other"; lines differ in dash too. */

const COLOURS = PALETTE.categories, DASHES = ["", "6 3", "2 3", "8 3 2 3"];
const svg = (parent, tag, attributes = {}, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
};

/** Bars of signed values from -1 to 1 around a middle line, or of 0..1 from the left. rows: [text, value, note, marked] */
function bars(parent, rows, most, middle, pick, long) {
  const box = add(parent, "div", "tr-bars" + (middle ? " tr-middle" : "") + (long ? " tr-long" : ""));
  for (const [text, value, note, marked, key] of rows) {
    const row = add(box, pick ? "button" : "div", "tr-bar" + (marked ? " tr-marked" : ""));
    if (pick) { row.type = "button"; row.onclick = () => pick(key); }
    row.append(isolated(text));
    const track = add(row, "span", "tr-track"), fill = add(track, "i"), share = Math.min(1, Math.abs(value) / most) * (middle ? 50 : 100);
    fill.style.cssText = "width:" + share + "%;" + (middle ? (value < 0 ? "right:50%;" : "left:50%;") : "left:0;") + "background:" + (value < 0 ? COLOURS[0] : COLOURS[1]);
    add(row, "span", "tr-value", note);
  }
  return box;
}

/** Lines over whole steps. series: {name, points: [[x, y]]}; x labels from `ticks` where they are given. */
function lines(parent, series, { height = 220, ticks, title = "", unit = "", picked, pick, low = 0 } = {}) {
  const width = 760, left = 46, bottom = ticks ? 66 : 30, top = 12, right = 12;
  const all = series.flatMap((one) => one.points), xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
  const x0 = Math.min(...xs), x1 = Math.max(...xs, x0 + 1), y1 = Math.max(...ys, 0.1), y0 = Math.min(low, ...ys);
  const px = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right), py = (y) => height - bottom - ((y - y0) / (y1 - y0)) * (height - bottom - top);
  const figure = add(parent, "figure", "tr-chart"); figure.tabIndex = 0;   // it scrolls on a phone
  const picture = svg(figure, "svg", { viewBox: "0 0 " + width + " " + height, role: "img" });
  picture.setAttribute("aria-label", title);
  for (let k = 0; k <= 4; k++) {
    const y = y0 + ((y1 - y0) * k) / 4;
    svg(picture, "line", { x1: left, x2: width - right, y1: py(y), y2: py(y), class: "tr-grid" });
    svg(picture, "text", { x: left - 6, y: py(y) + 4, "text-anchor": "end" }, signed(y, y1 - y0 < 1 ? 2 : 1));
  }
  if (ticks) ticks.forEach((text, k) => {
    const node = svg(picture, "text", { x: px(k), y: height - bottom + 14, "text-anchor": "end", transform: "rotate(-40 " + px(k) + " " + (height - bottom + 14) + ")" }, shown(text).slice(0, 12));
    if (k === picked) node.setAttribute("class", "tr-here");
  });
  else for (const x of [x0, Math.round((x0 + x1) / 2), x1]) svg(picture, "text", { x: px(x), y: height - 10, "text-anchor": "middle" }, String(x));
  series.forEach((one, k) => {
    const at = k % 4, points = one.points.filter((p) => p[1] !== null);
    svg(picture, "polyline", { points: points.map(([x, y]) => px(x).toFixed(1) + "," + py(y).toFixed(1)).join(" "), fill: "none", stroke: COLOURS[at], "stroke-width": 2, "stroke-dasharray": DASHES[at] });
    if (points.length < 60) for (const [x, y] of points) {
      const dot = svg(picture, "circle", { cx: px(x), cy: py(y), r: 3.5, fill: COLOURS[at] });
      svg(dot, "title", {}, one.name + " · " + (ticks ? shown(ticks[x] ?? "") : x) + " · " + signed(y, 4));
      if (pick) { dot.style.cursor = "pointer"; dot.onclick = () => pick(x); }
    }
  });
  const key = add(figure, "figcaption", "tr-key");
  series.forEach((one, k) => { const item = add(key, "span", "", one.name); item.style.setProperty("--tr-colour", COLOURS[k % 4]); });
  if (unit) add(key, "em", "", unit);
  const places = [...new Set(xs)].sort((a, b) => a - b);
  ((window.twoStacks ||= {}).tables ||= []).push({ at: figure, table: () => ({ title, columns: places.map((x) => (ticks ? ticks[x] ?? "" : String(x))), rows: series.map((one) => one.name),
    cell: (i, j) => { const point = series[i].points.find(([x, y]) => x === places[j] && y !== null); return point ? signed(point[1], 4) : ""; } }) });
  return figure;
}

/** A heatmap of values (rows x columns); diverging around 0 or from 0 up. A cell's number is in its tip. */
function heat(parent, values, rows, columns, { diverging = true, most, title = "", columnNames, room: wide = 620 } = {}) {
  const figure = add(parent, "figure", "tr-heat");
  if (title) add(figure, "figcaption", "", title);
  const grid = add(figure, "div", "tr-grid-rows"), names = add(grid, "div", "tr-names"), room = add(grid, "div", "tr-canvas"), canvas = add(room, "canvas");
  const tip = add(figure, "p", "tr-tip", "\u00a0"), cell = Math.max(2, Math.min(26, Math.floor(wide / columns))), tall = rows.length > 40 ? 8 : 18;
  for (const text of rows) { const node = add(names, "span"); node.append(isolated(text)); node.style.height = tall + "px"; }
  Object.assign(canvas, { width: columns * cell, height: rows.length * tall });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", title);
  const paint = canvas.getContext("2d"), scale = most || Math.max(1e-12, ...values.map(Math.abs));
  for (let r = 0; r < rows.length; r++) for (let c = 0; c < columns; c++) {
    const x = Math.max(-1, Math.min(1, values[r * columns + c] / scale)), [R, G, B] = x < 0 ? PALETTE.below : PALETTE.above, f = Math.sqrt(Math.abs(x));
    paint.fillStyle = diverging || x ? "rgb(" + [R, G, B].map((v) => Math.round(255 + f * (v - 255))).join(",") + ")" : "#fff";
    paint.fillRect(c * cell, r * tall, cell, tall);
  }
  let at_ = [0, 0];
  const point = (r, c) => {
    if (r < 0 || c < 0 || r >= rows.length || c >= columns) return;
    at_ = [r, c];
    tip.textContent = shown(rows[r]) + " × " + (columnNames ? shown(columnNames[c]) : c + 1) + ": " + signed(values[r * columns + c], 5);
  };
  canvas.onpointermove = (event) => {
    const box = canvas.getBoundingClientRect();
    point(Math.floor(((event.clientY - box.top) / box.height) * rows.length), Math.floor(((event.clientX - box.left) / box.width) * columns));
  };
  canvas.tabIndex = 0;   // arrows walk from cell to cell, the number is read out
  tip.setAttribute("aria-live", "polite");
  canvas.onfocus = () => point(...at_);
  canvas.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    point(at_[0] + step[0], at_[1] + step[1]);
  };
  ((window.twoStacks ||= {}).tables ||= []).push({ at: figure, table: () => ({ title, rows, columns: columnNames || Array.from({ length: columns }, (_, c) => String(c + 1)), cell: (r, c) => signed(values[r * columns + c], 4) }) });
  if (columnNames) {
    const under = add(room, "div", "tr-under");
    for (const text of columnNames) { const node = add(under, "span"); node.append(isolated(text)); node.style.width = cell + "px"; }
  }
  return figure;
}
