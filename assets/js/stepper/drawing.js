/* Drawing one step. */

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
