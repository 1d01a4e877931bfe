/* Drawing one step. */

/** Chips and the text: cheap DOM changes, limited to what differs. `moves`: lists to scroll, from chipsInSight(). */
function drawMarks(moves) {
  const t = view.step - 1, row = run.rows[t], { scale } = picture(), chips = at.output.children;
  for (let i = 0; i < chips.length; i++) {
    const state = i === t ? "now" : i > t ? "later" : "";
    if (chips[i].dataset.state === state) continue;
    chips[i].dataset.state = state;
    chips[i].classList.toggle("ts-now", i === t);
    chips[i].classList.toggle("ts-later", i > t);
  }
  drawTint(row && view.map === "cross" ? reduction().rows[t] : null, scale || 1);
  const until = t === run.rows.length - 1 ? undefined : Math.max(0, ...run.rows.slice(0, view.step).map((r) => r.t[3]));
  write(at.text, row && run.output ? run.letters.slice(0, until).join("") : "");
  const apart = view.page >= 0 && axisOf("columns") === "source", mass = (view.specials && !apart) || axisOf("columns") === "blocks" ? null : hiddenMass();
  write(at.hidden, mass ? word(apart ? "hidden.pages" : "hidden", { row: digits(mass.row), all: mass.all.toFixed(2), rows: plural("rows", grows() ? view.step : rowsKnown()) }) : "");
  drawCover();
  highlight(view.pinned >= 0 ? view.pinned : view.column);
  for (const [list, top] of moves) list.scrollTop = top;
}

/** Source chips are tinted by the weights of the row in view, in fiftieths: a chip whose tint stays is not painted again. */
function drawTint(weight, top) {
  for (let c = 0; c < run.source.length; c++) {
    const node = at.source.children[c], tint = weight ? Math.round(50 * Math.min(1, weight[run.blocked.includes("cross") ? Math.floor(c / run.block) : c] / top)) : 0;
    if ((node.tint || 0) === tint) continue;
    node.tint = tint;
    node.style.backgroundColor = tint ? "color-mix(in srgb,var(--ts-bar) " + (0.9 * tint).toFixed(1) + "%,transparent)" : "";
  }
}

const MOST_NAMED = 12;   // more would push the map off a phone; the rest is marked on its column

/** Source labels whose mass at the end of the run is under or over the thresholds; only where that is known. */
function drawCover() {
  const key = [axesKey(), view.layer, view.head, view.under, view.over, run.done].join();
  if (at.cols.covered === key) return;
  at.cols.covered = key;
  const ended = view.map === "cross" && run.done && run.rows.length, end = ended ? received(run.rows.length) : [], found = { under: [], over: [] };
  axes().columns.forEach((group, c) => {
    const judged = ended && !group.dim, each = end[c] / group.size, under = judged && each < view.under, over = judged && each > view.over, node = at.cols.children[c];
    node.classList.toggle("ts-undercovered", !!under);
    node.classList.toggle("ts-overcovered", !!over);
    if (under) found.under.push(group.text);
    if (over) found.over.push(group.text);
  });
  const rest = (list) => (list.length > MOST_NAMED ? [" … (" + list.length + ")"] : []);
  const said = (list) => (list.length ? [...list.slice(0, MOST_NAMED).flatMap((text, i) => [i ? ", " : "", isolated(text)]), ...rest(list)] : [word(ended ? "cover.none" : "cover.later")]);
  at.under.nextElementSibling.replaceChildren(...said(found.under));
  at.over.nextElementSibling.replaceChildren(...said(found.over));
}

/** Outline a column and the source or output chips that it stands for. */
function highlight(column) {
  const axis = axisOf("columns"), chips = axis === "source" || axis === "blocks" ? at.source : at.output, shift = axis === "fed" ? 1 : 0;
  const mark = (c, on) => {
    if (at.cols.children[c]) at.cols.children[c].classList.toggle("ts-over", on);
    for (const k of (axes().columns[c] || { tokens: [] }).tokens) if (chips.children[k - shift]) chips.children[k - shift].classList.toggle("ts-over", on);
  };
  if (view.column !== column) mark(view.column, false);
  if (column >= 0) mark(column, true);
  view.column = column;
  if (column >= 0 && picture().values.length) box(at.column, column, 0, 1, picture().values.length);
  else at.column.style.display = "none";
}

/** One generated sentence from the numbers in view. */
function drawCaption() {
  const live = view.playing ? "off" : "polite";
  if (at.caption.getAttribute("aria-live") !== live) at.caption.setAttribute("aria-live", live);
  at.caption.replaceChildren(...sentence());
  reserve(at.caption, at.caption.textContent, 2, 8);
  reserve(at.unit, at.unit.textContent, 1, 4);
  reserve(at.text, run.done ? run.output : at.text.textContent, 1, 2);
}

/** Room for as many lines as the text needs, from `least` to `most`; it grows within a run and never shrinks, so that nothing below jumps. */
function reserve(node, text, least, most) {
  const key = [run.id, grid[node.dataset.ts].width].join(), kept = node.reserved && node.reserved.key === key ? node.reserved.lines : least;
  ruler.font = grid[node.dataset.ts].font;
  const lines = clamp(Math.ceil((ruler.measureText(text).width * 1.05) / Math.max(80, grid[node.dataset.ts].width - 40)), kept, most);   // bold is wider, a line ends before its edge
  if (node.reserved && node.reserved.key === key && lines === kept) return;
  node.reserved = { key, lines };
  node.style.height = (lines * 1.4).toFixed(1) + "em";
}

const ICONS = { play: "M7.5 4.5v15L20 12z", pause: "M6.500 5h4v14h-4zM13.500 5h4v14h-4z" };

function drawControls() {
  const m = run ? run.rows.length : 0, name = word(view.playing ? "pause" : "play"), done = (m > 1 ? (100 * (view.step - 1)) / (m - 1) : 0) + "%";
  for (const control of [at.first, at.back]) control.disabled = view.step <= 1;
  for (const control of [at.forward, at.last]) control.disabled = view.step >= m;
  for (const control of [at.play, at.scrub]) control.disabled = !m;
  for (const control of [at.map, at.layer, at.head, at.cover, at.hard, at.words, at.specials, at.multiples]) control.disabled = !run;
  at.head.disabled = !run || view.layer === "rollout";
  at.cover.disabled = !run || view.map !== "cross";
  for (const control of [at.words, at.specials]) {   // neither can be told from a block that has arrived as one
    control.disabled = !run || (view.map === "encoder" && axisOf("columns") === "blocks");
    control.parentNode.title = run && control.disabled ? word("blocked", { most: MOST, size: run.block }) : "";
  }
  if (at.play.title !== name) {
    at.play.title = name;
    at.play.setAttribute("aria-label", name);
    at.play.querySelector("path").setAttribute("d", view.playing ? ICONS.pause : ICONS.play);
  }
  if (+at.scrub.max !== Math.max(1, m)) at.scrub.max = Math.max(1, m);
  at.scrub.value = view.step || 1;
  if (at.scrub.style.getPropertyValue("--ts-done") !== done) at.scrub.style.setProperty("--ts-done", done);
  write(at.count, m ? word("count", { step: view.step, steps: m }) + (run.done ? "" : " …") : run ? word("count.none") : "");
}
