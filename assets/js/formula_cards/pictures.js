/* Small heatmaps: a pixel a cell on a canvas, labels beside it, the number of a cell when it is pointed at. */

const TOKENS = ["source", "target", "vocab", "query", "key", ""];   // axes whose labels are worth reading

function picture(panel, card) {
  if (panel.rows.length === 1 && TOKENS.includes(panel.axes[1])) return bars(panel, card);
  const values = halves(panel.values), rows = panel.rows.length, columns = panel.columns.length;
  const wide = TOKENS.includes(panel.axes[1]) && !panel.columns.every((text, k) => text === String(k + 1)), cell = wide ? 15 : 9;
  const node = make("figure", "fc-picture"), head = make("figcaption", "fc-caption"), grid = make("div", "fc-grid"), canvas = make("canvas");
  const made = { panel, values, node, canvas, cell, wide, card };
  head.append(...captionOf(panel, card));
  canvas.width = columns; canvas.height = rows;
  canvas.style.width = cell * columns + "px"; canvas.style.height = 15 * rows + "px";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", word("picture", { title: panel.title, rows, columns }));
  made.tops = make("div", "fc-tops"); made.sides = make("div", "fc-sides");
  if (wide) made.tops.append(...panel.columns.map((text) => { const top = make("span"); top.append(isolated(text)); return top; }));
  if (panel.rows.some((text) => text !== "")) made.sides.append(...panel.rows.map((text) => { const side = make("span"); side.append(isolated(text)); return side; }));
  [...made.sides.children].forEach((side, k) => side.classList.toggle("fc-here", k === panel.row));
  [...made.tops.children].forEach((top, k) => top.classList.toggle("fc-here", k === panel.column));
  grid.append(make("span"), made.tops, made.sides, canvas);
  const scroll = make("div", "fc-scroll");
  scroll.append(grid);
  node.append(head, scroll);
  ((window.twoStacks ||= {}).tables ||= []).push({ at: scroll, table: () => ({ title: panel.title, rows: panel.rows, columns: panel.columns, cell: (i, j) => number(made.values[i * columns + j], 3) }) });
  pointing(made);
  paint(made);
  return made;
}

/** Title, label, size. */
function captionOf(panel, card) {
  const [name, below] = panel.title.split("_"), title = make("b", "", name);
  if (below) title.append(make("sub", "", below));
  return [title, ...(panel.label ? [tag(panel.label)] : []), make("span", "fc-size", sizeOf(panel, card.sizes))];
}

/** A single row as bars with their numbers. */
function bars(panel, card) {
  const values = halves(panel.values), node = make("figure", "fc-picture fc-bars"), head = make("figcaption", "fc-caption"), list = make("div", "fc-list");
  const made = { panel, values, node, card, sides: make("div"), tops: list, fills: [], numbers: [] };
  head.append(...captionOf(panel, card));
  panel.columns.forEach((text, k) => {
    const name = make("span", k === panel.column ? "fc-here" : ""), track = make("i", "fc-track"), filled = make("i"), value = make("output");
    name.append(isolated(text));
    track.append(filled);
    list.append(name, track, value);
    made.fills.push(filled);
    made.numbers.push(value);
  });
  node.append(head, list);
  node.onpointerenter = () => light(card, null, made);
  node.onpointerleave = () => dark(card);
  made.draw = () => {
    const most = panel.kind === "weights" ? 1 : Math.max(1e-9, ...values.map(Math.abs));
    values.forEach((x, k) => {
      made.fills[k].style.width = 100 * clamp(Math.abs(x) / most, 0, 1) + "%";
      made.fills[k].classList.toggle("fc-below", x < 0);
      made.numbers[k].textContent = number(x, 3);
    });
  };
  made.draw();
  return made;
}

function sizeOf(panel, sizes) {
  const name = (axis, count) => (axis ? axis + " " + (sizes[axis] || count) : "");
  return [name(panel.axes[0], panel.rows.length), name(panel.axes[1], panel.columns.length)].filter(Boolean).join(" × ");
}

function paint(made) {
  if (made.draw) { made.draw(); return; }
  const { panel, values, canvas } = made, context = canvas.getContext("2d"), columns = panel.columns.length;
  const finite = values.filter(Number.isFinite), most = Math.max(1e-9, ...finite.map(Math.abs));
  const image = context.createImageData(columns, panel.rows.length);
  const closed = state.dark ? [20, 24, 30] : [84, 92, 105], open = state.dark ? [50, 104, 138] : [196, 222, 239];
  values.forEach((x, k) => {
    const rgb = x === -Infinity ? closed : panel.kind === "mask" ? open : panel.kind === "weights" ? colourOf(clamp(x, 0, 1), 1, false) : colourOf(x, most, true);
    image.data.set([...rgb, Number.isNaN(x) ? 0 : 255], 4 * k);
  });
  context.putImageData(image, 0, 0);
}

function pointing(made) {
  const { canvas, panel, values, cell, card } = made, rows = panel.rows.length, columns = panel.columns.length;
  let spot = [Math.max(0, panel.row), Math.max(0, panel.column)];
  const say = () => {
    const [row, column] = spot, x = values[row * columns + column];
    const where = [panel.rows[row], panel.columns[column]].filter((text) => text !== "").map(shown).join(" → ");
    define(card, panel.title, word("cell", { where, value: number(x, 3) }), panel.label);
    light(card, null, made);
  };
  canvas.onpointermove = (event) => {
    spot = [clamp(Math.floor(event.offsetY / 15), 0, rows - 1), clamp(Math.floor(event.offsetX / cell), 0, columns - 1)];
    say();
  };
  canvas.onpointerleave = canvas.onblur = () => dark(card);
  canvas.onfocus = say;
  canvas.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    spot = [clamp(spot[0] + step[0], 0, rows - 1), clamp(spot[1] + step[1], 0, columns - 1)];
    say();
  };
}
