/* What arrives. */

/** A message in the picture's place; the layout keeps its size. */
function say(text) {
  at.message.textContent = text;
  at.message.style.display = "flex";
  at.scroll.style.visibility = "hidden";
}

function clear(text) {
  pause();
  grid.axes = painted.key = steady = "";
  run = null;
  view.step = 0;
  for (const node of [at.source, at.output, at.text, at.caption, at.notes, at.reduction, at.about, at.rows, at.cols]) node.replaceChildren();
  best.forEach(({ line }) => (line.style.visibility = "hidden"));
  for (const [name, node] of Object.entries(facts)) if (name === "product") node.firstChild.textContent = ""; else node.replaceChildren();
  lines.key = "";
  hideTip();
  say(text);
  paint();
}

/** Take the frame of a run (start or trace). Rows are added by addRows. */
function load(pack) {
  run = { id: pack.run, shapes: pack.shapes, source: pack.source, block: pack.block || 1, blocked: pack.block > 1 ? pack.blocked : [], prefix: pack.prefix || 0, first: pack.first, enc: pack.enc, rows: [], held: new Map(),
    reduced: new Map(), rolled: {}, done: pack.kind === "trace", output: pack.output || "", letters: Array.from(pack.output || ""), notes: pack.notes || [], about: pack.about, gloss: pack.gloss || [], best: pack.best || null };
  if (orphans.run === run.id) run.held = orphans.rows;
  orphans = { run: null, rows: new Map() };
  view.step = 0;
  view.page = -1;
  at.page.filled = "";
  at.message.style.display = "none";
  at.scroll.style.visibility = "";
  at.scroll.scrollTop = 0;
  hideTip();
  if (!run.shapes[view.map][0]) view.map = at.map.value = "cross";
  if (pack.enc.length !== base64Length(run.shapes.encoder, lengthOf(axisOf("columns", "encoder")) ** 2)) throw new Error("the encoder's weights do not fit the source");
  fillSource(); fillPickers(); fillNotes();
}

const fillNotes = () => at.notes.replaceChildren(...run.notes.map((note) => make("div", "", note)));

/** Characters of base64 that hold float16 for layers × heads × cells. */
const base64Length = ([layers, heads], cells) => 4 * Math.ceil((2 * layers * heads * cells) / 3);

/** Append what is contiguous, hold what is early, drop what is there already. */
function addRows(from, rows) {
  rows.forEach((row, i) => {
    const fits = row.w.length === base64Length(run.shapes.cross, lengthOf(axisOf("columns", "cross"))) && row.d.length === base64Length(run.shapes.decoder, from + i + 1);
    if (!fits) throw new Error("row " + (from + i) + " does not fit the run's axes");
    if (from + i >= run.rows.length) run.held.set(from + i, row);
  });
  while (run.held.has(run.rows.length)) {
    const next = run.rows.length;
    run.rows.push(run.held.get(next));
    run.held.delete(next);
  }
  fillRows();
}

/** Another hypothesis of the search leads now: its rows come in the place of those from `from` on. */
function dropRows(from) {
  run.rows.length = from;
  Object.assign(run, { held: new Map(), reduced: new Map(), rolled: {}, axes: null, picture: null, scale: null, grouped: null, kept: null });
  steady = "";
  at.output.replaceChildren();
}

/** The whole run. Of a run already on the page it replaces the rows silently; any other is played once. */
function takeTrace(pack) {
  if (!run || run.id !== pack.run || run.source.length !== pack.source.length) {
    pause();
    load(pack);
    addRows(0, pack.rows);
    paint("layout");
    if (pack.view) return restore(pack.view);
    if (calm.matches) show(run.rows.length, false); else play(true);
    return;
  }
  const before = run.rows, follow = !run.done && view.step === before.length, same = before.every((row, t) => pack.rows[t] && row.w === pack.rows[t].w);
  Object.assign(run, { rows: [], held: new Map(), done: true, output: pack.output || "", letters: Array.from(pack.output || ""), notes: pack.notes || [], about: pack.about });
  if (!same) Object.assign(run, { reduced: new Map(), rolled: {} });
  Object.assign(run, { axes: null, picture: null, scale: null, grouped: null, kept: null, shapes: pack.shapes, enc: pack.enc, encoder: null });
  steady = "";
  at.output.replaceChildren();
  addRows(0, pack.rows.map((row, t) => (same && before[t] ? { ...row, values: before[t].values } : row)));
  at.about.textContent = run.about || "";
  fillNotes();
  view.step = follow ? run.rows.length : Math.min(Math.max(view.step, run.rows.length ? 1 : 0), run.rows.length);
  paint("layout");
  if (pack.view) restore(pack.view);
}

/** Look at what a link says: a map, a layer, a head and a step; what this run does not have stays as it is. */
function restore(wanted) {
  if (wanted.map && run.shapes[wanted.map][0]) view.map = at.map.value = wanted.map;
  view.chosen = !!(wanted.layer || wanted.head);
  for (const kind of ["layer", "head"]) if (wanted[kind]) view[kind] = wanted[kind];
  fillPickers();
  show(wanted.step || run.rows.length, true);   // whatever was being played stops
}

function takeRows(pack) {
  if (!run || run.id !== pack.run) {
    if (orphans.run !== pack.run) orphans = { run: pack.run, rows: new Map() };
    pack.rows.forEach((row, i) => orphans.rows.set(pack.from + i, row));
    return;
  }
  const follow = !run.done && !view.playing && view.step === run.rows.length, before = run.rows.length;
  if (pack.changed && pack.from < before) dropRows(pack.from);
  addRows(pack.from, pack.rows);
  if (run.rows.length === before && !pack.changed) return;
  view.step = Math.min(view.step, run.rows.length);
  if (follow) view.step = run.rows.length;
  paint(run.rows.length > grid.rows ? "layout" : "");
}

function receive() {
  const pack = valueSent();
  arrived = pack && pack.kind === "trace" ? performance.now() : 0;
  try {
    if (!pack) clear(word("empty"));
    else if (pack.kind === "message") clear(String(pack.text));
    else if (pack.kind === "start") { pause(); load(pack); addRows(0, []); view.step = run.rows.length; paint("layout"); }
    else if (pack.kind === "rows") takeRows(pack);
    else if (pack.kind === "trace") takeTrace(pack);
    else if (pack.kind === "attribution") takeAttribution(pack);
  } catch (error) { refuse(error); }
}

function refuse(error) {
  console.warn("stepper:", error);
  clear(word("refused", { why: error.message }));
}
