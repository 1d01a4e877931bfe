/* Drawing one step. */

const sheet = document.createElement("canvas");   // one pixel a cell; stretched over the visible canvas

/** All cells of the picture; rows that are not written, and positions that may not be read, stay empty. */
function drawCells() {
  const { values, scale, signed: both } = picture(), n = axes().columns.length, count = values.length, context = at.canvas.getContext("2d");
  const w = Math.round(grid.cw * grid.dpr), h = Math.round(grid.ch * grid.dpr);
  context.clearRect(0, 0, at.canvas.width, at.canvas.height);
  at.scale.textContent = scale.toFixed(2);
  at.ramp.previousSibling.textContent = both ? "−" + scale.toFixed(2) + " " : "0 ";
  at.ramp.style.background = both ? "linear-gradient(90deg,#0072b2,#fff,#d55e00)" : "linear-gradient(90deg,#" + VIRIDIS.join(",#") + ")";
  if (!count || !n) return;
  sheet.width = n; sheet.height = count;
  sheet.getContext("2d").putImageData(coloured(values, n, scale, both), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, 0, 0, n, count, 0, 0, n * w, count * h);
  const gap = Math.max(1, Math.round(grid.dpr));
  for (let c = 1; c <= n; c++) context.clearRect(c * w - gap, 0, gap, count * h);
  for (let t = 1; t <= count; t++) context.clearRect(0, t * h - gap, n * w, gap);
}

/** Rows of numbers from 0 (signed: -scale) to scale -> pixels. */
function coloured(values, n, scale, signedOnes = false) {
  const pixels = new ImageData(n, values.length);
  values.forEach((row, t) => {
    for (let c = 0; c < n; c++) {
      if (Number.isNaN(row[c])) continue;
      pixels.data.set([...colourOf(row[c], scale, signedOnes), 255], 4 * (t * n + c));
    }
  });
  return pixels;
}

function box(node, column, row, columns, rows) {
  node.style.display = "block";
  Object.assign(node.style, { left: column * grid.cw + "px", top: row * grid.ch + "px", width: columns * grid.cw - 1 + "px", height: rows * grid.ch - 1 + "px" });
}

/** Outlines, labels, chips and the text: cheap DOM changes, limited to what differs. */
function drawMarks() {
  const t = view.step - 1, row = run.rows[t], { values, scale, now } = picture(), { columns } = axes();
  Array.from(at.output.children).forEach((node, i) => {
    node.classList.toggle("ts-now", i === t);
    node.classList.toggle("ts-later", i > t);
  });
  Array.from(at.rows.children).forEach((node, i) => {
    node.classList.toggle("ts-now", i === now);
    node.hidden = i >= values.length || (values[i].every(Number.isNaN) && !axes().rows[i].rule);
  });
  at.current.style.display = "none";
  if (now >= 0) box(at.current, 0, now, columns.length, 1);
  const weight = row && view.map === "cross" ? reduction().rows[t] : null, top = scale || 1;
  for (let c = 0; c < run.source.length; c++) {
    at.source.children[c].style.backgroundColor = weight ? "rgba(var(--ts-tint)," + (0.45 * Math.min(1, weight[c] / top)).toFixed(3) + ")" : "";
  }
  const until = t === run.rows.length - 1 ? undefined : Math.max(0, ...run.rows.slice(0, view.step).map((r) => r.t[3]));
  at.text.textContent = row && run.output ? Array.from(run.output).slice(0, until).join("") : "";
  const mass = view.specials ? null : hiddenMass();
  at.hidden.textContent = mass ? word("hidden", { row: digits(mass.row), all: mass.all.toFixed(2), rows: plural("rows", grows() ? view.step : rowsKnown()) }) : "";
  drawCover();
  highlight(view.pinned >= 0 ? view.pinned : view.column);
}

/** Source labels whose mass at the end of the run is under or over the thresholds; only where that is known. */
function drawCover() {
  const ended = view.map === "cross" && run.done && run.rows.length, end = ended ? received(run.rows.length) : [], found = { under: [], over: [] };
  axes().columns.forEach((group, c) => {
    const judged = ended && !group.dim, under = judged && end[c] < view.under, over = judged && end[c] > view.over, node = at.cols.children[c];
    node.classList.toggle("ts-undercovered", !!under);
    node.classList.toggle("ts-overcovered", !!over);
    if (under) found.under.push(group.text);
    if (over) found.over.push(group.text);
  });
  const said = (list) => (list.length ? list.flatMap((text, i) => [i ? ", " : "", isolated(text)]) : [word(ended ? "cover.none" : "cover.later")]);
  at.under.nextElementSibling.replaceChildren(...said(found.under));
  at.over.nextElementSibling.replaceChildren(...said(found.over));
}

/** Outline a column and the source or output chips that it stands for. */
function highlight(column) {
  const axis = MAPS[view.map].columns, chips = axis === "source" ? at.source : at.output, shift = axis === "fed" ? 1 : 0;
  const mark = (c, on) => {
    if (at.cols.children[c]) at.cols.children[c].classList.toggle("ts-over", on);
    for (const k of (axes().columns[c] || { members: [] }).members) if (chips.children[k - shift]) chips.children[k - shift].classList.toggle("ts-over", on);
  };
  mark(view.column, false);
  mark(column, true);
  view.column = column;
  at.column.style.display = "none";
  if (column >= 0 && picture().values.length) box(at.column, column, 0, 1, picture().values.length);
}

/** One generated sentence from the numbers in view. */
function drawCaption() {
  at.caption.setAttribute("aria-live", view.playing ? "off" : "polite");
  at.caption.replaceChildren(...sentence());
}

const ICONS = { play: "M7.5 4.5v15L20 12z", pause: "M6.500 5h4v14h-4zM13.500 5h4v14h-4z" };

function drawControls() {
  const m = run ? run.rows.length : 0, name = word(view.playing ? "pause" : "play");
  for (const control of [at.first, at.back]) control.disabled = view.step <= 1;
  for (const control of [at.forward, at.last]) control.disabled = view.step >= m;
  for (const control of [at.play, at.scrub]) control.disabled = !m;
  for (const control of [at.map, at.layer, at.head, at.cover, at.hard, at.words, at.specials, at.multiples]) control.disabled = !run;
  at.head.disabled = !run || view.layer === "rollout";
  at.cover.disabled = !run || view.map !== "cross";
  at.play.setAttribute("aria-label", name);
  at.play.title = name;
  at.play.querySelector("path").setAttribute("d", view.playing ? ICONS.pause : ICONS.play);
  at.scrub.max = Math.max(1, m);
  at.scrub.value = view.step || 1;
  at.scrub.style.setProperty("--ts-done", (m > 1 ? (100 * (view.step - 1)) / (m - 1) : 0) + "%");
  at.count.textContent = m ? word("count", { step: view.step, steps: m }) + (run.done ? "" : " …") : run ? word("count.none") : "";
}

/** Keep the current row between the sticky labels and the sticky bars, its strongest column and the current chips in view. */
function follow() {
  const { values, now } = picture(), s = at.scroll, above = at.cols.offsetHeight, y = now * grid.ch;
  if (now < 0 || !values[now]) return;
  if (s.scrollHeight > s.clientHeight) {
    const seen = s.clientHeight - above - at.foot.offsetHeight, hidden = Math.max(s.scrollTop - y, y + grid.ch - s.scrollTop - seen);
    if (hidden > 0 && Math.abs(view.step - view.seen) > 1) s.scrollTop = y - seen / 2;   // a jump: to the middle
    else if (hidden > 0) s.scrollTop = y < s.scrollTop ? y - grid.ch : y + 2 * grid.ch - seen;
  }
  const most = largest(values[now]), x = most * grid.cw, wide = s.clientWidth - grid.label;
  if (view.seen !== view.step && (x < s.scrollLeft || x + grid.cw > s.scrollLeft + wide)) s.scrollLeft = x - wide / 2;
  view.seen = view.step;
  const strips = [[at.output, at.output.children[view.step - 1]]];
  if (view.map === "cross") strips.push([at.source, at.source.children[axes().columns[most].members[0]]]);
  for (const [list, node] of strips) {
    const top = node.offsetTop - list.offsetTop;
    if (list.scrollHeight > list.clientHeight && (top < list.scrollTop || top + node.offsetHeight > list.scrollTop + list.clientHeight)) list.scrollTop = top - 31;
  }
  at.text.scrollTop = at.text.scrollHeight;
}
