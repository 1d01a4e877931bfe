/* Drawing: everything that changes with the masks, in the next frame. */

let frame = 0, sized = "", cached = { key: null };

function paint() { if (!frame) frame = requestAnimationFrame(flush); }

/** The mask of the stack and layer in view; worked out once for the same masks. */
function picture() {
  const [rows, columns] = sizes(view.stack), now = [mask(), given, view.stack, view.layer];
  if (!cached.key || now.some((x, k) => x !== cached.key[k])) cached = { key: now, ...effective(mask(), view.stack, view.layer, rows, columns), own: ownLayers(columns) };
  return cached;
}

/** Index of a cell -> the layers that have it differently from all the others. */
function ownLayers(columns) {
  const out = new Map();
  for (const [layer, i, j] of cellsOf(mask())) if (layer !== ALL && j < columns) out.set(i * columns + j, [...(out.get(i * columns + j) || []), layer]);
  return out;
}

function flush() {
  frame = 0;
  at.empty.hidden = !!given;
  at.body.hidden = at.tools.hidden = !given;
  if (!given) return at.root.classList.add("mg-drawn");
  drawControls();
  const key = [view.stack, given.stamp, at.body.clientWidth, window.devicePixelRatio].join();
  if (key !== sized) { if (!layout()) return; sized = key; view.row = clamp(view.row, 0, Math.max(0, grid.rows - 1)); view.column = clamp(view.column, 0, Math.max(0, grid.columns - 1)); }
  drawCells(); drawColumns(); drawDead(); drawFormula(); drawFocus();
  at.beyond.textContent = view.stack === "encoder" ? "" : word("beyond", { row: grid.rows, preset: wording({ ...mask(), hidden: [], cells: new Map() }, view.stack) });
  at.json.textContent = JSON.stringify(canonical(), null, 1);
  at.canvas.setAttribute("aria-label", word("canvas", { stack: word("stack." + view.stack), rows: grid.rows, columns: grid.columns, mask: wording(mask(), view.stack) }));
  at.root.classList.add("mg-drawn");
  element.dataset.ready = "1";
}

function drawControls() {
  for (const stack of STACKS) {
    const button = at[stack], [rows, columns] = sizes(stack), one = masks[stack];
    button.disabled = !reached(stack);
    button.setAttribute("aria-pressed", String(stack === view.stack));
    button.classList.toggle("mg-changed", !!(one.preset || one.hidden.length || one.cells.size));
    button.querySelector("small").textContent = rows + " × " + columns;
  }
  at.reasons.replaceChildren(...STACKS.filter((stack) => !reached(stack)).map((stack) => make("div", "", word("unreached", { stack: word("stack." + stack), why: (given.reasons || {})[stack] || word("unreached.none") }))));
  const { preset, size } = mask(), [, columns] = sizes(view.stack);
  at.preset.value = preset;
  at.sizing.hidden = !SIZED.includes(preset);
  at.size.max = Math.max(columns, size);
  at.size.value = size;
  at.sizename.textContent = word(preset === "window" ? "size.window" : "size.prefix");
  at.sizevalue.textContent = size;
  fillLayers();
  at.undo.disabled = !past.length;
  at.redo.disabled = !future.length;
  at.reset.disabled = !(preset || mask().hidden.length || mask().cells.size);
}

function fillLayers() {
  const layers = layersOf(view.stack);
  if (at.layer.options.length !== layers + 1) {
    at.layer.replaceChildren(...Array.from({ length: layers + 1 }, (_, k) => { const option = make("option", "", k ? String(k) : word("layer.all")); option.value = k - 1; return option; }));
  }
  if (view.layer >= layers) view.layer = ALL;
  at.layer.value = view.layer;
}

/** The cells: filled where the row may look, hatched where it may not; a dot for one that was drawn, a corner for one layer only. */
function drawCells() {
  const { cell, rows, columns, dpr, tail } = grid, context = at.canvas.getContext("2d"), { open, from, own } = picture();
  const ink = { open: colour("--mg-open"), closed: colour("--mg-closed"), hatch: colour("--mg-hatch"), dot: colour("--mg-dot"), layer: colour("--mg-layer") };
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.clearRect(0, 0, columns * cell, rows * cell + tail);
  const stamps = [painted(hatch(context, ink)), painted(ink.open)];
  for (let i = 0, k = 0; i < rows; i++) for (let j = 0; j < columns; j++, k++) {
    context.drawImage(stamps[open[k]], j * cell, i * cell, cell, cell);
    if (from[k] === FROM.all || from[k] === FROM.layer) dot(context, (j + 0.5) * cell, (i + 0.5) * cell, cell, open[k], ink);
    if (from[k] === FROM.layer || (view.layer === ALL && own.has(k))) corner(context, (j + 1) * cell, i * cell, cell, ink);
  }
  if (tail) drawTail(context, stamps);
}

/** A cell, painted once and then copied: a path and a pattern for each of 16,384 would take most of a second. */
function painted(fill) {
  const { cell, dpr } = grid, tile = document.createElement("canvas"), pen = tile.getContext("2d");
  tile.width = tile.height = Math.max(1, Math.round(cell * dpr));
  pen.scale(dpr, dpr);
  pen.fillStyle = fill;
  pen.beginPath();
  pen.roundRect(1, 1, cell - 2, cell - 2, Math.min(4, cell / 7));
  pen.fill();
  return tile;
}

function dot(context, x, y, cell, open, ink) {
  context.beginPath();
  context.arc(x, y, Math.max(2.5, cell * 0.16), 0, 7);
  context.fillStyle = open ? "#fff" : ink.dot;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = open ? "rgba(0, 0, 0, 0.35)" : "rgba(255, 255, 255, 0.6)";
  context.stroke();
}

/** Holds for one layer only. */
function corner(context, x, y, cell, ink) {
  const side = Math.max(6, cell * 0.38);
  context.beginPath();
  context.moveTo(x - 1 - side, y + 1); context.lineTo(x - 1, y + 1); context.lineTo(x - 1, y + 1 + side);
  context.fillStyle = ink.layer;
  context.fill();
}

/** Diagonal lines, so that a closed cell is told from an open one without colour. */
function hatch(context, ink) {
  const tile = document.createElement("canvas"), scale = grid.dpr, size = Math.round(7 * scale);
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  pen.fillStyle = ink.closed;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = ink.hatch;
  pen.lineWidth = scale;
  for (const shift of [-size, 0, size]) { pen.beginPath(); pen.moveTo(shift, size); pen.lineTo(shift + size, 0); pen.stroke(); }
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}

/** The row beyond what is drawn fades: there the preset holds. */
function drawTail(context, stamps) {
  const { cell, rows, columns, tail } = grid, top = rows * cell;
  const opens = (j) => !mask().hidden.includes(j) && presetAllows(mask(), view.stack, rows, j) && !isPad(j);
  for (let j = 0; j < columns; j++) context.drawImage(stamps[+opens(j)], j * cell, top + 1, cell, cell);
  const fade = context.createLinearGradient(0, top, 0, top + tail);
  fade.addColorStop(0, "rgba(0, 0, 0, 0.55)");
  fade.addColorStop(1, "rgba(0, 0, 0, 1)");
  context.globalCompositeOperation = "destination-out";
  context.fillStyle = fade;
  context.fillRect(0, top, columns * cell, tail);
  context.globalCompositeOperation = "source-over";
}

function drawColumns() {
  const hidden = new Set(mask().hidden), { column } = view.over || {};
  for (const node of at.cols.children) {
    const j = +node.dataset.at, off = hidden.has(j);
    node.classList.toggle("mg-off", off);
    node.classList.toggle("mg-over", j === column);
    node.disabled = isPad(j);
    node.setAttribute("aria-pressed", String(off));
    node.title = word(isPad(j) ? "column.pad" : off ? "column.show" : "column.hide", { column: j + 1, text: node.textContent });
  }
  Array.from(at.rows.children).forEach((node, i) => node.classList.toggle("mg-over", i === (view.over || {}).row));
}

/** Rows that see nothing, said on the row itself. */
function drawDead() {
  const layers = layersOf(view.stack), { cell } = grid;
  at.dead.replaceChildren(...Array.from(deadRows(view.stack), ([row, dead]) => {
    if (row >= grid.rows || (view.layer !== ALL && !dead.includes(view.layer))) return null;
    const everywhere = dead.length === layers || view.layer !== ALL;
    const line = make("div", "mg-deadline"), said = word(everywhere ? "dead" : "dead.layers", { layers: listed(dead.map((layer) => layer + 1), ", ", 4) });
    line.append(make("span", "mg-dead", said));
    Object.assign(line.style, { top: row * cell + "px", height: cell + "px", fontSize: Math.min(12, cell - 5) + "px" });
    return line;
  }).filter(Boolean));
}

function drawFocus() {
  const on = document.activeElement === at.cells, { cell } = grid;
  for (const [node, spot] of [[at.focus, on ? view : null], [at.hover, view.over]]) {
    node.hidden = !spot;
    if (spot) Object.assign(node.style, { left: spot.column * cell + "px", top: spot.row * cell + "px", width: cell + "px", height: cell + "px" });
  }
}
