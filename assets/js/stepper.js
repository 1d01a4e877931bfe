/* The stepper: draws one decoder run and steps, plays and scrubs it without asking the server.
 *
 * Gradio runs this text once as a function body with `element`, `props` and `watch`. A pack (see app/widgets/stepper.py) is kept
 * as `run`; what the person looks at is kept as `view`; `paint()` brings the page to (run, view) in the next frame. Axes: layers,
 * heads, source (columns), target (rows, one a step). Weights are float16 in base64 and decoded a row at a time, when first shown.
 * Tokens are untrusted text: they reach the page by textContent only. */
"use strict";

const part = (name) => element.querySelector('[data-ts="' + name + '"]');
const names = "root layer head reduction ramp scale about notes source output text first back play forward last scrub count speed " +
  "caption scroll sheet corner cols mid rows cells canvas column current hovered foot unit axis bars plain plot message body stage side tip";
const at = Object.fromEntries(names.split(" ").map((name) => [name, part(name)]));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const BAR_HEIGHT = 92;

let run = null;                                    // the run on the page, see load()
let orphans = { run: null, rows: new Map() };      // rows that came before the start of their run
const view = { step: 0, layer: "mean", head: "mean", playing: false, column: -1, timer: 0, seen: 0 };
const grid = { cw: 0, ch: 0, rows: 0, label: 0, painted: 0, dpr: 1, dark: false, width: 0 };

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

const STAND_INS = { "\n": "⏎", "\r": "⏎", "\t": "⇥" };

/** A token as it is shown: pieces that would be invisible get a stand-in. */
function shown(text) {
  const s = String(text ?? "");
  if (s === "") return "∅";
  if (/^[\s▁]+$/u.test(s)) return Array.from(s, (c) => STAND_INS[c] || "␣").join("");
  if (/^[\p{Cf}\p{Zl}\p{Zp}]+$/u.test(s)) return Array.from(s, (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")).join(" ");
  return s.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
}

/** Three digits; a weight that is there but rounds away says so. */
const digits = (x) => (x > 0 && x < 0.0005 ? "< 0.001" : x.toFixed(3));
const signed = (x, places) => x.toFixed(places).replace("-", "−");
const bytes = (b) => (b < 1000 ? b + " B" : b < 1e6 ? (b / 1e3).toFixed(1) + " kB" : (b / 1e6).toFixed(2) + " MB");

/** An element with text; the only way text reaches the page here. */
function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function isolated(text) {
  const node = make("bdi", "", shown(text));
  node.dir = "auto";
  return node;
}

/* ---- weights ------------------------------------------------------------------------------------------------------------- */

let halves = null;

/** All 65,536 float16 values (IEEE 754 binary16), made once. */
function table() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let h = 0; h < 65536; h++) {
    const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
    halves[h] = exponent === 0 ? sign * fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : sign * Infinity) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halves;
}

/** Row -> Float32Array(layers * heads * source), kept on the row. */
function weights(row) {
  if (!row.values) {
    const raw = atob(row.w), lookup = table(), count = raw.length >> 1, values = new Float32Array(count);
    for (let i = 0; i < count; i++) values[i] = lookup[raw.charCodeAt(2 * i) | (raw.charCodeAt(2 * i + 1) << 8)];
    row.values = values;
  }
  return row.values;
}

/** One row under a choice of layer and head -> Float64Array(source). Heads are reduced first, then layers. */
function reduceRow(row, layer, head) {
  const { layers, heads } = run, n = run.source.length, w = weights(row), out = new Float64Array(n);
  const some = (choice, count) => (choice === "mean" || choice === "max" ? [0, count] : [choice - 1, +choice]);
  const [l0, l1] = some(layer, layers), [h0, h1] = some(head, heads);
  for (let c = 0; c < n; c++) {
    let overLayers = layer === "max" ? -Infinity : 0;
    for (let l = l0; l < l1; l++) {
      let overHeads = head === "max" ? -Infinity : 0;
      for (let h = h0; h < h1; h++) {
        const value = w[(l * heads + h) * n + c];
        overHeads = head === "max" ? Math.max(overHeads, value) : overHeads + value;
      }
      if (head === "mean") overHeads /= heads;
      overLayers = layer === "max" ? Math.max(overLayers, overHeads) : overLayers + overHeads;
    }
    out[c] = layer === "mean" ? overLayers / layers : overLayers;
  }
  return out;
}

/** The matrix of a (layer, head) choice with its running column sums; grows with the run and is kept. */
function reduction(layer = view.layer, head = view.head) {
  const key = layer + "," + head, n = run.source.length;
  let r = run.reduced.get(key);
  if (!r) run.reduced.set(key, (r = { rows: [], covered: [], top: 0, scale: 0.05 }));
  for (let t = r.rows.length; t < run.rows.length; t++) {
    const row = reduceRow(run.rows[t], layer, head), sum = new Float64Array(n);
    for (let c = 0; c < n; c++) {
      sum[c] = (t ? r.covered[t - 1][c] : 0) + row[c];
      r.top = Math.max(r.top, row[c]);
    }
    r.rows.push(row);
    r.covered.push(sum);
  }
  r.scale = Math.min(Math.max(1, r.top), Math.max(0.05, Math.ceil(r.top * 20 - 1e-9) / 20)); // colour range: 0 to this, in twentieths
  return r;
}

const coverage = () => (run && view.step ? reduction().covered[view.step - 1] : new Float64Array(run ? run.source.length : 0));

/** The reduction in words, in the order it is done. */
function reductionName() {
  const overHeads = view.head === "mean" || view.head === "max", overLayers = view.layer === "mean" || view.layer === "max";
  const L = run.layers + (run.layers === 1 ? " layer" : " layers"), H = run.heads + (run.heads === 1 ? " head" : " heads");
  if (overHeads && overLayers) {
    return view.head === view.layer ? view.head + " over " + L + " × " + H : view.layer + " over " + L + " of the " + view.head + " over " + H;
  }
  if (overHeads) return "layer " + view.layer + ", " + view.head + " over " + H;
  if (overLayers) return view.layer + " over " + L + ", head " + view.head;
  return "layer " + view.layer + ", head " + view.head;
}

/* ---- colour -------------------------------------------------------------------------------------------------------------- */

const VIRIDIS = "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725".split(" ");
const RAMP = new Uint8Array(256 * 3);
for (let i = 0; i < 256; i++) {
  const x = (i / 255) * 9, k = Math.min(8, Math.floor(x)), f = x - k;
  for (let j = 0; j < 3; j++) {
    const a = parseInt(VIRIDIS[k].slice(2 * j, 2 * j + 2), 16), b = parseInt(VIRIDIS[k + 1].slice(2 * j, 2 * j + 2), 16);
    RAMP[3 * i + j] = Math.round(a + f * (b - a));
  }
}
at.ramp.style.background = "linear-gradient(90deg,#" + VIRIDIS.join(",#") + ")";
const colour = (name) => getComputedStyle(at.root).getPropertyValue(name).trim();

/* ---- layout: how big a cell is, where the labels go ------------------------------------------------------------------------ */

const ruler = document.createElement("canvas").getContext("2d");
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

/** Rows to leave room for: a run that is being written gets about as many as its source has. */
const expectedRows = () => Math.max(1, run.rows.length, run.done ? 0 : clamp(run.source.length + 2, 6, 24));

/** Choose cell and label sizes for the room there is, then place the labels. Sizes are whole device pixels, so cells stay crisp. */
function layout() {
  const beside = at.side.offsetTop < at.stage.offsetTop + at.stage.offsetHeight / 2;
  const room = at.body.clientWidth - (beside ? 310 : 0), n = run.source.length, m = expectedRows(), dpr = window.devicePixelRatio || 1;
  if (room <= 0 || !n) return false;
  const narrow = room < 480, least = narrow ? 13 : 15, font = narrow ? 11 : n > 40 ? 12 : n > 24 ? 13 : 14;
  ruler.font = font + "px " + getComputedStyle(at.root).fontFamily;
  const widths = run.source.map((token) => Math.min(narrow ? 84 : 124, ruler.measureText(shown(token[0])).width + 6));
  const widest = Math.max(...widths);
  const targets = run.rows.map((row) => ruler.measureText(shown(row.t[0])).width * 1.1);
  grid.label = Math.round(clamp(Math.max(...targets, run.done ? 0 : widest) + 14, narrow ? 50 : 64, narrow ? 90 : 150));
  const height = clamp(window.innerHeight - 300, 460, 800), scrolls = (top) => top + BAR_HEIGHT + 42 + m * 15 > height;
  const avail = room - grid.label - (scrolls(60) ? 14 : 2);   // the scroll bar, where there will be one
  const overhang = (cw) => Math.max(0, ...widths.map((w, i) => w * 0.71 + 12 - (n - i - 0.5) * cw));
  let turn = widest + 6 <= Math.min(110, avail / n) ? 0 : 45, over = turn ? overhang(avail / n) : 4;
  if (turn && (avail - over) / n < 19) { turn = 90; over = 4; }
  const top = Math.ceil(turn === 0 ? 36 : turn === 45 ? (widest + font * 1.25) * 0.71 + 8 : widest + 8);
  const ideal = clamp((height - top - BAR_HEIGHT - 42) / m, 15, 52);
  const whole = (x) => Math.max(1, Math.floor(x * dpr)) / dpr;
  let cw = clamp((avail - over) / n, least, 110);
  // A run keeps its row height while rows stream in; only a clear misfit is corrected at the end.
  const keep = grid.run === run.id && grid.width === room && Math.abs(grid.ch / Math.min(ideal, Math.max(cw, 22)) - 1) < 0.25;
  grid.ch = keep || (grid.run === run.id && !run.done && grid.width === room) ? grid.ch : whole(Math.min(ideal, Math.max(cw, 22)));
  cw = grid.cw = whole(Math.min(cw, Math.max(least, grid.ch * 2.2)));
  over = turn === 45 ? Math.ceil(overhang(cw)) : over;
  Object.assign(grid, { run: run.id, width: room, rows: m, dpr: Math.min(dpr, 16000 / (m * grid.ch)), painted: 0 });

  const px = (node, sizes) => Object.entries(sizes).forEach(([key, value]) => (node.style[key] = value + "px"));
  at.body.style.setProperty("--ts-fit", Math.min(room, grid.label + n * cw + over + (scrolls(top) ? 14 : 2)) + "px");
  px(at.sheet, { width: grid.label + n * cw + over });
  px(at.corner, { width: grid.label, height: top });
  px(at.cols, { width: n * cw + over, height: top });
  px(at.rows, { width: grid.label, height: m * grid.ch });
  px(at.cells, { width: n * cw, height: m * grid.ch });
  px(at.axis, { width: grid.label, height: BAR_HEIGHT });
  px(at.bars, { width: n * cw, height: BAR_HEIGHT });
  px(at.scroll, { maxHeight: Math.round(height) });
  at.sheet.style.fontSize = font + "px";
  at.canvas.width = Math.round(n * cw * grid.dpr);
  at.canvas.height = Math.round(m * grid.ch * grid.dpr);
  px(at.canvas, { width: n * cw, height: m * grid.ch });
  run.source.forEach((token, i) => placeColumn(at.cols.children[i], i, turn, font, widths[i]));
  placeRows();
  return true;
}

function placeColumn(node, i, turn, font, width) {
  const middle = (i + 0.5) * grid.cw, line = font * 1.25;
  node.style.maxWidth = (turn ? width + 2 : grid.cw - 4) + "px";
  node.style.bottom = "4px";
  node.style.left = (turn === 0 ? middle : turn === 45 ? middle + line * 0.3 : middle + line / 2) + "px";
  node.style.transform = turn === 0 ? "translateX(-50%)" : "rotate(-" + turn + "deg)";
}

function placeRows() {
  Array.from(at.rows.children).forEach((node, t) => {
    node.style.top = t * grid.ch + "px";
    node.style.height = node.style.lineHeight = grid.ch + "px";
  });
}

/* ---- the parts that change with the run, not with the step ------------------------------------------------------------------ */

/** Task prefix and end-of-sequence are drawn dimmed and are never "least covered"; specials have an empty span in the text. */
const special = (i) => i < run.prefix || run.source[i][2] >= run.source[i][3] || (i === run.source.length - 1 && run.source[i][0] === "</s>");

function fillSource() {
  at.source.replaceChildren(); at.cols.replaceChildren(); at.output.replaceChildren(); at.rows.replaceChildren();
  at.output.classList.add("ts-output");
  run.source.forEach((token, i) => {
    for (const [list, name] of [[at.source, "ts-chip"], [at.cols, "ts-col"]]) {
      const node = make("span", name + (special(i) ? " ts-dim" : ""), shown(token[0]));
      node.dir = "auto";
      node.dataset.column = i;
      node.title = shown(token[0]) + " · source " + (i + 1) + (i < run.prefix ? " (task prefix)" : "") + " · id " + token[1];
      list.append(node);
    }
  });
  at.about.textContent = run.about || "";
  at.corner.replaceChildren(make("span", "", "source →"), make("span", "", "output ↓"));
}

/** Chips and row labels for rows that have none yet. */
function fillRows() {
  for (let t = at.rows.children.length; t < run.rows.length; t++) {
    for (const [list, name] of [[at.output, "ts-chip"], [at.rows, "ts-rowlabel"]]) {
      const token = run.rows[t].t, node = make("span", name + (token[2] >= token[3] ? " ts-dim" : ""), shown(token[0]));
      node.dir = "auto";
      node.dataset.row = t;
      node.title = shown(token[0]) + " · step " + (t + 1) + " · id " + token[1];
      list.append(node);
    }
  }
}

function fillPickers() {
  for (const [select, count, kind] of [[at.layer, run.layers, "layer"], [at.head, run.heads, "head"]]) {
    select.replaceChildren();
    for (const [value, text] of [["mean", "mean of all"], ["max", "max of all"], ...Array.from({ length: count }, (_, i) => [String(i + 1), String(i + 1)])]) {
      const option = make("option", "", text);
      option.value = value;
      select.append(option);
    }
    if (!Array.from(select.options).some((option) => option.value === view[kind])) view[kind] = "mean";
    select.value = view[kind];
  }
}

const best = [];    // the ten candidate lines and one for a chosen token outside the ten
const facts = {};   // label -> dd

function buildSide() {
  at.side.append(make("h4", "", "Ten best next tokens"));
  for (let i = 0; i < 11; i++) {
    const line = make("div", "ts-best"), tick = make("span"), text = make("bdi"), track = make("span", "ts-track"), bar = make("i"), p = make("b");
    text.dir = "auto";
    track.append(bar);
    line.append(tick, text, track, p);
    at.side.append(line);
    best.push({ line, tick, text, bar, p });
  }
  const list = make("dl", "ts-facts");
  for (const name of ["log-probability", "log P so far", "entropy", "KV cache, self", "KV cache, cross"]) {
    facts[name] = make("dd");
    list.append(make("dt", "", name), facts[name]);
  }
  facts.notes = make("div", "ts-rownotes");
  at.side.append(list, facts.notes);
}

/* ---- drawing one step ------------------------------------------------------------------------------------------------------ */

const sheet = document.createElement("canvas");   // one pixel a cell; stretched over the visible canvas

/** Bring the canvas from `painted` rows to `view.step` rows; forward costs one row, back is a wipe. */
function drawCells() {
  const n = run.source.length, r = reduction(), context = at.canvas.getContext("2d");
  const w = Math.round(grid.cw * grid.dpr), h = Math.round(grid.ch * grid.dpr), from = grid.painted, to = view.step;
  if (grid.scale !== r.scale || from === 0) { grid.scale = r.scale; grid.painted = 0; context.clearRect(0, 0, at.canvas.width, at.canvas.height); }
  else if (to < from) context.clearRect(0, to * h, at.canvas.width, at.canvas.height);
  const first = Math.min(grid.painted, to), count = to - first;
  if (count > 0) {
    const pixels = new ImageData(n, count);
    for (let t = 0; t < count; t++) {
      for (let c = 0; c < n; c++) {
        const k = 3 * clamp(Math.round((r.rows[first + t][c] / r.scale) * 255), 0, 255), p = 4 * (t * n + c);
        pixels.data[p] = RAMP[k]; pixels.data[p + 1] = RAMP[k + 1]; pixels.data[p + 2] = RAMP[k + 2]; pixels.data[p + 3] = 255;
      }
    }
    sheet.width = n; sheet.height = count;
    sheet.getContext("2d").putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(sheet, 0, 0, n, count, 0, first * h, n * w, count * h);
    const gap = Math.max(1, Math.round(grid.dpr));
    for (let c = 1; c <= n; c++) context.clearRect(c * w - gap, first * h, gap, count * h);
    for (let t = first + 1; t <= to; t++) context.clearRect(0, t * h - gap, n * w, gap);
  }
  grid.painted = to;
  at.scale.textContent = r.scale.toFixed(2);
}

function box(node, column, row, columns, rows) {
  node.style.display = "block";
  Object.assign(node.style, { left: column * grid.cw + "px", top: row * grid.ch + "px", width: columns * grid.cw - 1 + "px", height: rows * grid.ch - 1 + "px" });
}

/** Outlines, labels, chips and the text: cheap DOM changes, limited to what differs. */
function drawMarks() {
  const t = view.step - 1, row = run.rows[t];
  for (const list of [at.output, at.rows]) {
    for (let i = 0; i < list.children.length; i++) {
      list.children[i].classList.toggle("ts-now", i === t);
      list.children[i].classList.toggle("ts-later", i > t);
      if (list === at.rows) list.children[i].hidden = i > t;
    }
  }
  at.current.style.display = "none";
  if (row) box(at.current, 0, t, run.source.length, 1);
  const weight = row ? reduction().rows[t] : null, scale = row ? reduction().scale : 1;
  for (let c = 0; c < run.source.length; c++) {
    at.source.children[c].style.backgroundColor = weight ? "rgba(var(--ts-tint)," + (0.45 * Math.min(1, weight[c] / scale)).toFixed(3) + ")" : "";
  }
  at.text.textContent = row && run.output ? run.output.slice(0, t === run.rows.length - 1 ? undefined : Math.max(0, ...run.rows.slice(0, view.step).map((r) => r.t[3]))) : "";
  highlight(view.column);
}

function highlight(column) {
  for (const list of [at.source, at.cols]) {
    if (list.children[view.column]) list.children[view.column].classList.remove("ts-over");
    if (list.children[column]) list.children[column].classList.add("ts-over");
  }
  view.column = column;
  at.column.style.display = "none";
  if (column >= 0 && view.step) box(at.column, column, 0, 1, view.step);
}

function drawSide() {
  const row = run.rows[view.step - 1];
  const lines = row ? row.top.slice(0, 10) : [];
  if (row && !lines.some((c) => c[1] === row.t[1])) lines.push([row.t[0], row.t[1], row.lp]);
  best.forEach(({ line, tick, text, bar, p }, i) => {
    const c = lines[i], chosen = c && c[1] === row.t[1];
    line.style.visibility = c ? "visible" : "hidden";
    line.hidden = i === 10 && !c;
    line.classList.toggle("ts-chosen", !!chosen);
    if (!c) return;
    const probability = Math.exp(c[2]);
    tick.textContent = chosen ? "✓" : "";
    tick.title = chosen ? "chosen" : "";
    text.textContent = shown(c[0]);
    line.title = shown(c[0]) + " · id " + c[1] + " · log-probability " + signed(c[2], 3) + (chosen ? " · chosen" : "");
    bar.style.width = 100 * Math.min(1, probability) + "%";
    p.textContent = digits(probability);
  });
  const total = run.rows.slice(0, view.step).reduce((sum, r) => sum + r.lp, 0);
  facts["log-probability"].textContent = row ? signed(row.lp, 3) : "–";
  facts["log P so far"].textContent = row ? signed(total, 3) : "–";
  facts.entropy.textContent = row ? row.H.toFixed(3) + " nats" : "–";
  ["KV cache, self", "KV cache, cross"].forEach((name, i) => {
    facts[name].textContent = row ? bytes(row.kv[i]) : "–";
    facts[name].title = row ? row.kv[i] + " bytes" : "";
  });
  facts.notes.replaceChildren(...((row && row.notes) || []).map((note) => make("div", "", note)));
}

/** One generated sentence: what the current step looks at, and what has been looked at least. */
function drawCaption() {
  const t = view.step - 1, row = run.rows[t];
  at.caption.setAttribute("aria-live", view.playing ? "off" : "polite");
  if (!row) return at.caption.replaceChildren("The source is encoded; no token is written yet.");
  const w = reduction().rows[t], sums = coverage();
  let most = 0, least = -1;
  for (let c = 0; c < w.length; c++) {
    if (w[c] > w[most]) most = c;
    if (!special(c) && (least < 0 || sums[c] < sums[least])) least = c;
  }
  const words = ["Step " + view.step + " of " + run.rows.length + ": '", isolated(row.t[0]), "' looks most at '", isolated(run.source[most][0]),
    "' (" + digits(w[most]) + ", " + reductionName() + ")"];
  if (least >= 0) words.push("; least covered so far: '", isolated(run.source[least][0]), "' (" + sums[least].toFixed(2) + ")");
  at.caption.replaceChildren(...words, ".");
}

const ICONS = { play: "M7.5 4.5v15L20 12z", pause: "M6.500 5h4v14h-4zM13.500 5h4v14h-4z" };

function drawControls() {
  const m = run ? run.rows.length : 0, name = view.playing ? "Pause" : "Play";
  for (const control of [at.first, at.back]) control.disabled = view.step <= 1;
  for (const control of [at.forward, at.last]) control.disabled = view.step >= m;
  for (const control of [at.play, at.scrub]) control.disabled = !m;
  for (const control of [at.layer, at.head]) control.disabled = !run;
  at.play.setAttribute("aria-label", name);
  at.play.title = name;
  at.play.querySelector("path").setAttribute("d", view.playing ? ICONS.pause : ICONS.play);
  at.scrub.max = Math.max(1, m);
  at.scrub.value = view.step || 1;
  at.scrub.style.setProperty("--ts-done", (m > 1 ? (100 * (view.step - 1)) / (m - 1) : 0) + "%");
  at.count.textContent = m ? "Step " + view.step + " of " + m + (run.done ? "" : " …") : run ? "Step 0" : "";
}

/** Keep the current row between the sticky labels and the sticky bars, its strongest column and the current chips in view. */
function follow() {
  const t = view.step - 1, s = at.scroll, above = at.cols.offsetHeight, y = t * grid.ch;
  if (t < 0) return;
  if (s.scrollHeight > s.clientHeight) {
    const seen = s.clientHeight - above - at.foot.offsetHeight, hidden = Math.max(s.scrollTop - y, y + grid.ch - s.scrollTop - seen);
    if (hidden > 0 && Math.abs(view.step - view.seen) > 1) s.scrollTop = y - seen / 2;   // a jump: to the middle
    else if (hidden > 0) s.scrollTop = y < s.scrollTop ? y - grid.ch : y + 2 * grid.ch - seen;
  }
  const w = reduction().rows[t], most = w.indexOf(Math.max(...w)), x = most * grid.cw, wide = s.clientWidth - grid.label;
  if (view.seen !== view.step && (x < s.scrollLeft || x + grid.cw > s.scrollLeft + wide)) s.scrollLeft = x - wide / 2;
  view.seen = view.step;
  for (const [list, chip] of [[at.output, at.output.children[t]], [at.source, at.source.children[most]]]) {
    const top = chip.offsetTop - list.offsetTop;
    if (list.scrollHeight > list.clientHeight && (top < list.scrollTop || top + chip.offsetHeight > list.scrollTop + list.clientHeight)) list.scrollTop = top - 31;
  }
  at.text.scrollTop = at.text.scrollHeight;
}

/* ---- coverage bars --------------------------------------------------------------------------------------------------------- */

const bars = { P: null, wanted: false, key: "", asked: false, rest: 0 };

/** The bars' fixed scale: final sums of the shown reduction, so that bars grow from step to step. */
function barScale() {
  const r = reduction(), last = r.covered[r.covered.length - 1];
  const top = Math.max(0.1, ...(last || [0])) * (grid.cw >= 30 ? 1.28 : 1.1);
  const by = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((d) => top / d <= 3.2) || 100;
  return { top, ticks: Array.from({ length: Math.floor(top / by + 1e-9) + 1 }, (_, i) => +(i * by).toFixed(2)) };
}

function drawBars() {
  bars.wanted = false;
  if (!run || !grid.cw) return;
  const y = Array.from(coverage()), { top, ticks } = barScale(), labels = y.map((v) => (grid.cw >= 30 ? v.toFixed(2) : ""));
  const fills = y.map((_, c) => colour(special(c) ? "--ts-quiet" : "--ts-bar"));
  const max = view.head === "max" || view.layer === "max";
  at.unit.textContent = "Coverage: attention received so far; Σ over steps" + (max ? " of the maxima (columns of a maximum do not add up to the steps)" : "");
  at.axis.replaceChildren(...ticks.map((tick) => {
    const node = make("span", "", String(tick));
    node.style.bottom = (tick / top) * BAR_HEIGHT + "px";
    return node;
  }));
  if (!bars.P) return drawPlainBars(y, top, fills);
  const key = [run.id, y.length, grid.cw, top, grid.dark].join();
  const began = performance.now();
  if (key === bars.key) bars.P.restyle(at.plot, { y: [y], text: [labels] }, [0]);
  else bars.P.react(at.plot, ...figure(y, labels, fills, top, ticks), { displayModeBar: false, doubleClick: false, showTips: false, responsive: false });
  if (!bars.key) {   // plotly's events exist only once it has drawn
    at.plain.hidden = true;
    at.plot.on("plotly_hover", (event) => tipForBar(event.points[0].pointIndex, event.event));
    at.plot.on("plotly_unhover", hideTip);
  }
  bars.key = key;
  const took = performance.now() - began;
  keep(hooks.bars, took);
  bars.rest = performance.now() + Math.min(200, 2 * took);
}

/** Plotly's figure. No margins and a range of whole columns: bar c sits exactly under column c. Only numbers go in, no token. */
function figure(y, labels, fills, top, ticks) {
  const data = [{ type: "bar", x: y.map((_, c) => c), y, text: labels, textposition: "outside", cliponaxis: false, width: 0.8, hoverinfo: "none",
    marker: { color: fills, line: { width: 0 } }, textfont: { size: 11, color: colour("--body-text-color") || (grid.dark ? "#eee" : "#222") } }];
  return [data, { width: y.length * grid.cw, height: BAR_HEIGHT, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0, autoexpand: false }, showlegend: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false, hovermode: "closest", font: { family: getComputedStyle(at.root).fontFamily },
    xaxis: { range: [-0.5, y.length - 0.5], fixedrange: true, visible: false },
    yaxis: { range: [0, top], fixedrange: true, tickvals: ticks, showticklabels: false, gridcolor: colour("--ts-line"), zeroline: false } }];
}

/** Until plotly is there (or if it cannot be loaded) the same bars, plain. */
function drawPlainBars(y, top, fills) {
  const dpr = window.devicePixelRatio || 1, context = at.plain.getContext("2d");
  at.plain.width = Math.round(y.length * grid.cw * dpr);
  at.plain.height = BAR_HEIGHT * dpr;
  Object.assign(at.plain.style, { width: y.length * grid.cw + "px", height: BAR_HEIGHT + "px" });
  context.scale(dpr, dpr);
  y.forEach((v, c) => {
    context.fillStyle = fills[c];
    context.fillRect((c + 0.1) * grid.cw, BAR_HEIGHT * (1 - v / top), 0.8 * grid.cw, (BAR_HEIGHT * v) / top);
  });
}

/** Plotly is 4.8 MB: fetched once, after the first picture. gr.Plot overwrites the global with its own, so ours is captured at load. */
function loadPlotly() {
  if (bars.asked || !props.plotly_url) return;
  bars.asked = true;
  const shared = (window.twoStacks ||= {});
  shared.plotly ||= new Promise((resolve, reject) => {
    const root = String((window.gradio_config && window.gradio_config.root) || location.origin).replace(/\/+$/, "");
    const script = document.createElement("script"), before = window.Plotly;
    script.src = /^https?:/.test(props.plotly_url) ? props.plotly_url : root + "/" + props.plotly_url.replace(/^\/+/, "");
    script.onload = () => { const P = window.Plotly; if (before) window.Plotly = before; resolve(P); };
    script.onerror = reject;
    document.head.append(script);
  });
  shared.plotly.then((P) => {
    bars.P = P;
    drawBars();
    element.dataset.plotly = "ready";
  }, () => { element.dataset.plotly = "failed"; });
}

/* ---- painting and its clock ------------------------------------------------------------------------------------------------- */

let frame = 0, dirty = {}, clock = 0, waiting = [];
const keep = (list, value) => { list.push(value); if (list.length > 200) list.shift(); };

/** Ask for a frame. `what`: layout, cells (all of them) or nothing more than the step. `began` starts the clock of step to paint. */
function paint(what, began) {
  if (what) dirty[what] = true;
  if (began !== undefined && !clock) clock = began;
  if (!frame) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  const todo = dirty, began = clock;
  dirty = {}; clock = 0;
  drawControls();
  if (!run) return settle(began, false);
  if (todo.layout && !layout()) { dirty = todo; return; }   // not visible yet; the observer comes back
  if (todo.cells) grid.painted = 0;
  at.reduction.textContent = "cross-attention, " + reductionName();
  drawCells(); drawMarks(); drawSide(); drawCaption(); follow();
  at.canvas.setAttribute("aria-label", "Heatmap of cross-attention, rows written: " + view.step);
  settle(began, true);
}

const channel = new MessageChannel();   // its message comes after the frame has been handed on

function settle(began, pictured) { waiting.push([began, pictured]); channel.port2.postMessage(0); }

channel.port1.onmessage = () => {
  const now = performance.now();
  for (const [began, pictured] of waiting.splice(0)) {
    if (began) keep(hooks.paints, now - began);
    if (pictured && !element.dataset.ready) {
      element.dataset.ready = "1";
      (window.requestIdleCallback || ((f) => setTimeout(f, 200)))(loadPlotly, { timeout: 1500 });
    }
    if (pictured && !bars.wanted) { bars.wanted = true; setTimeout(drawBars, Math.max(0, bars.rest - now)); }   // plotly is slow: it may take a third of the time
  }
  settled.splice(0).forEach((resolve) => resolve());
};
const settled = [];
const nextPaint = () => new Promise((resolve) => settled.push(resolve));

/* ---- moving ---------------------------------------------------------------------------------------------------------------- */

function show(step, byHand) {
  if (!run || !run.rows.length) return;
  if (byHand) pause();
  view.step = clamp(Math.round(step), 1, run.rows.length);
  hideTip();
  paint("", performance.now());
}

function pause() {
  clearTimeout(view.timer);
  view.playing = false;
  paint();
}

function play(fromStart) {
  if (!run || !run.rows.length) return;
  clearTimeout(view.timer);
  view.playing = true;
  if (fromStart || view.step >= run.rows.length) show(1, false);
  const tick = () => {
    if (view.step >= run.rows.length) return pause();
    show(view.step + 1, false);
    view.timer = setTimeout(tick, 1000 / at.speed.value);
  };
  view.timer = setTimeout(tick, 1000 / at.speed.value);
  paint();
}

const toggle = () => (view.playing ? pause() : play(false));

/* ---- pointing -------------------------------------------------------------------------------------------------------------- */

function tip(x, y, lines) {
  const frame = at.root.getBoundingClientRect();
  at.tip.replaceChildren(...lines);
  at.tip.style.display = "block";
  const w = at.tip.offsetWidth, h = at.tip.offsetHeight, left = x - frame.left + 16, above = y - frame.top - h - 14;
  at.tip.style.left = clamp(left + w > frame.width - 4 ? x - frame.left - w - 16 : left, 4, Math.max(4, frame.width - w - 4)) + "px";
  at.tip.style.top = (above < 4 ? y - frame.top + 18 : above) + "px";
}

function hideTip() {
  at.tip.style.display = "none";
  at.hovered.style.display = "none";
  if (view.column >= 0) highlight(-1);
}

function pair(...pieces) {
  const line = make("div");
  line.append(...pieces);
  return line;
}

/** Which cell lies under the pointer, or null; rows that are not written yet have none. */
function cellUnder(event) {
  const frame = at.cells.getBoundingClientRect();
  const column = Math.floor((event.clientX - frame.left) / grid.cw), row = Math.floor((event.clientY - frame.top) / grid.ch);
  return run && column >= 0 && column < run.source.length && row >= 0 && row < run.rows.length ? { row, column } : null;
}

function hover(event) {
  const cell = cellUnder(event);
  if (!cell || cell.row >= view.step) return hideTip();
  box(at.hovered, cell.column, cell.row, 1, 1);
  highlight(cell.column);
  tip(event.clientX, event.clientY, [
    make("strong", "ts-weight", digits(reduction().rows[cell.row][cell.column])),
    pair("'", isolated(run.rows[cell.row].t[0]), "' reads '", isolated(run.source[cell.column][0]), "'"),
    make("div", "ts-where", reductionName()),
    make("div", "ts-where", "step " + (cell.row + 1) + ", source token " + (cell.column + 1) + (cell.column < run.prefix ? " (task prefix)" : "")),
  ]);
}

function tipForBar(column, event) {
  highlight(column);
  if (event) tip(event.clientX, event.clientY, [make("strong", "", digits(coverage()[column])),
    pair("'", isolated(run.source[column][0]), "' received so far"), make("div", "ts-where", "Σ over " + view.step + (view.step === 1 ? " step, " : " steps, ") + reductionName())]);
}

/* ---- what arrives ---------------------------------------------------------------------------------------------------------- */

/** A message in the picture's place; the layout keeps its size. */
function say(text) {
  at.message.textContent = text;
  at.message.style.display = "flex";
  at.scroll.style.visibility = "hidden";
}

function clear(text) {
  pause();
  run = null;
  view.step = 0;
  for (const node of [at.source, at.output, at.text, at.caption, at.notes, at.reduction, at.about, at.rows, at.cols]) node.replaceChildren();
  best.forEach(({ line }) => (line.style.visibility = "hidden"));
  Object.values(facts).forEach((node) => node.replaceChildren());
  hideTip();
  say(text);
  paint();
}

/** Take the frame of a run (start or trace). Rows are added by addRows. */
function load(pack) {
  run = { id: pack.run, layers: pack.layers, heads: pack.heads, source: pack.source, prefix: pack.prefix || 0, rows: [], held: new Map(),
    reduced: new Map(), done: pack.kind === "trace", output: pack.output || "", notes: pack.notes || [], about: pack.about };
  if (orphans.run === run.id) run.held = orphans.rows;
  orphans = { run: null, rows: new Map() };
  view.step = 0;
  at.message.style.display = "none";
  at.scroll.style.visibility = "";
  at.scroll.scrollTop = 0;
  hideTip();
  fillSource(); fillPickers(); fillNotes();
}

const fillNotes = () => at.notes.replaceChildren(...run.notes.map((note) => make("div", "", note)));

/** Append what is contiguous, hold what is early, drop what is there already. */
function addRows(from, rows) {
  const size = 4 * Math.ceil((2 * run.layers * run.heads * run.source.length) / 3);
  rows.forEach((row, i) => {
    if (typeof row.w !== "string" || row.w.length !== size) throw new Error("row " + (from + i) + " does not fit the run's axes");
    if (from + i >= run.rows.length) run.held.set(from + i, row);
  });
  while (run.held.has(run.rows.length)) {
    const next = run.rows.length;
    run.rows.push(run.held.get(next));
    run.held.delete(next);
  }
  fillRows();
}

/** The whole run. Of a run already on the page it replaces the rows silently; any other is played once. */
function takeTrace(pack) {
  if (!run || run.id !== pack.run || run.source.length !== pack.source.length) {
    pause();
    load(pack);
    addRows(0, pack.rows);
    paint("layout");
    if (calm.matches) show(run.rows.length, false); else play(true);
    return;
  }
  const before = run.rows, follow = !run.done && view.step === before.length, same = before.every((row, t) => pack.rows[t] && row.w === pack.rows[t].w);
  Object.assign(run, { rows: [], held: new Map(), done: true, output: pack.output || "", notes: pack.notes || [], about: pack.about });
  if (!same) run.reduced = new Map();
  at.output.replaceChildren(); at.rows.replaceChildren();
  addRows(0, pack.rows.map((row, t) => (same && before[t] ? { ...row, values: before[t].values } : row)));
  at.about.textContent = run.about || "";
  fillNotes();
  view.step = follow ? run.rows.length : Math.min(Math.max(view.step, run.rows.length ? 1 : 0), run.rows.length);
  paint("layout");
}

function takeRows(pack) {
  if (!run || run.id !== pack.run) {
    if (orphans.run !== pack.run) orphans = { run: pack.run, rows: new Map() };
    pack.rows.forEach((row, i) => orphans.rows.set(pack.from + i, row));
    return;
  }
  const follow = !run.done && !view.playing && view.step === run.rows.length, before = run.rows.length;
  addRows(pack.from, pack.rows);
  if (run.rows.length === before) return;
  if (follow) view.step = run.rows.length;
  placeRows();
  paint(run.rows.length > grid.rows ? "layout" : "");
}

function receive() {
  const pack = props.value;
  try {
    if (!pack) clear("Nothing to show yet.");
    else if (pack.kind === "message") clear(String(pack.text));
    else if (pack.kind === "start") { pause(); load(pack); addRows(0, []); view.step = run.rows.length; paint("layout"); }
    else if (pack.kind === "rows") takeRows(pack);
    else if (pack.kind === "trace") takeTrace(pack);
  } catch (error) {
    console.warn("stepper:", error);
    clear("This run cannot be drawn: " + error.message + ".");
  }
}

/* ---- wiring ---------------------------------------------------------------------------------------------------------------- */

const hooks = {
  /** Step in view (1-based; 0 before the first) and steps known so far. */
  done: () => !!(run && run.done), step: () => view.step, steps: () => (run ? run.rows.length : 0), playing: () => view.playing, run: () => run && run.id,
  /** Go to step k; resolves with the milliseconds from call to paint. */
  goto: async (k) => { const began = performance.now(); show(k, true); await nextPaint(); return performance.now() - began; },
  /** Weight; layer and head count from 1 or are "mean" or "max"; row and column count from 0. */
  cell: (layer, head, row, column) => (run && run.rows[row] ? reduction(String(layer), String(head)).rows[row][column] : null),
  coverage: () => Array.from(coverage()),
  geometry: () => ({ ...grid }),
  paints: [],   // last 200 step-to-paint times, ms
  bars: [],     // last 200 times plotly took for the bars, ms
  percentile: (q) => { const s = [...hooks.paints].sort((a, b) => a - b); return s.length ? s[Math.min(s.length - 1, Math.floor(q * s.length))] : NaN; },
};
(window.twoStacks ||= {}).stepper = hooks;

at.first.onclick = () => show(1, true);
at.back.onclick = () => show(view.step - 1, true);
at.play.onclick = toggle;
at.forward.onclick = () => show(view.step + 1, true);
at.last.onclick = () => show(Infinity, true);
at.scrub.oninput = () => show(+at.scrub.value, true);
for (const kind of ["layer", "head"]) {
  at[kind].onchange = () => { view[kind] = at[kind].value; hideTip(); paint("cells", performance.now()); };
}

at.root.addEventListener("keydown", (event) => {
  const on = event.target, keys = { ArrowLeft: () => show(view.step - 1, true), ArrowRight: () => show(view.step + 1, true),
    Home: () => show(1, true), End: () => show(Infinity, true), " ": toggle };
  if (!keys[event.key] || on.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && on.tagName === "BUTTON") return;   // the button's own key
  event.preventDefault();
  keys[event.key]();
});
at.root.addEventListener("pointerdown", (event) => {
  if (!event.target.closest("button, select, input, label")) at.root.focus({ preventScroll: true });
});
at.cells.addEventListener("pointermove", hover);
at.cells.addEventListener("pointerleave", hideTip);
at.cells.addEventListener("click", (event) => {
  const cell = cellUnder(event);
  if (cell) { show(cell.row + 1, true); hover(event); }
});
for (const list of [at.output, at.rows]) {
  list.addEventListener("click", (event) => { if (event.target.dataset.row) show(+event.target.dataset.row + 1, true); });
}
for (const list of [at.source, at.cols]) {
  list.addEventListener("pointerover", (event) => { if (event.target.dataset.column) highlight(+event.target.dataset.column); });
  list.addEventListener("pointerleave", () => highlight(-1));
}
let rootWidth = 0;
new ResizeObserver(() => {
  const width = at.root.clientWidth;
  if (run && width && width !== rootWidth) paint("layout");
  rootWidth = width;
}).observe(at.root);
window.addEventListener("resize", () => { if (run) paint("layout"); });
new MutationObserver(() => {
  const dark = document.body.classList.contains("dark");
  if (dark !== grid.dark) { grid.dark = dark; paint("cells"); }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

grid.dark = document.body.classList.contains("dark");
buildSide();
receive();
watch("value", receive);
