/* Wiring. */

const hooks = {
  /** Step in view (1-based; 0 before the first) and steps known so far. */
  done: () => !!(run && run.done), step: () => view.step, steps: () => (run ? run.rows.length : 0), playing: () => view.playing, run: () => run && run.id,
  /** What is looked at, as `restore` takes it back. */
  look: () => ({ map: view.map, layer: view.layer, head: view.head, step: view.step }),
  speed: (steps) => { if (steps) at.speed.value = steps; return at.speed.value; },
  /** Go to step k; gives the milliseconds from call to the heatmap's paint, once all that follows it is painted too. */
  goto: async (k) => { const began = performance.now(); show(k, true); const took = (await nextPaint()) - began; if (rest) await nextPaint(); return took; },
  /** The canvas, a pixel a cell, as [width, height, r, g, b, a, …]. */
  pixels: () => [at.canvas.width, at.canvas.height, ...at.canvas.getContext("2d").getImageData(0, 0, at.canvas.width, at.canvas.height).data],
  /** Paint everything anew, whatever is there. */
  redraw: async () => { painted.key = ""; paint("layout"); await nextPaint(); },
  /** Weight; layer and head count from 1 or are "mean" or "max"; row and column count from 0. */
  cell: (layer, head, row, column) => (run && run.rows[row] ? reduction(view.map, String(layer), String(head)).rows[row][column] : null),
  coverage: () => Array.from(received()),
  /** What is drawn: rows of numbers (null where nothing may be read), and the labels of both axes. */
  picture: () => ({ values: picture().values.map((row) => Array.from(row, (x) => (Number.isNaN(x) ? null : x))), columns: axes().columns.map((g) => g.text), rows: axes().rows.map((g) => g.text) }),
  alignment: () => alignment(),
  gradient: (t) => (run && run.gradient ? { row: Array.from(gradientRow(t)), correlation: correlation(t) } : null),
  geometry: () => ({ ...grid }),
  paints: [],   // last 200 times from a step to its heatmap's frame handed on, ms
  arrivals: [], // from a whole run in the page to its first picture
  frames: [],   // of these the frame's own work, without the wait for it
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
for (const kind of ["map", "layer", "head", "cover"]) {
  at[kind].onchange = () => {
    view[kind] = at[kind].value;
    if (kind === "layer" || kind === "head") view.chosen = true;
    if (kind === "map") { fillPickers(); if (view.map !== "cross") view.cover = at.cover.value = "weights"; }
    hideTip();
    paint("", performance.now());
    told();
  };
}

/** What was chosen by hand is kept with the run, once it stands for a moment. */
let telling = 0;
function told() {
  clearTimeout(telling);
  if (run && run.done) telling = setTimeout(() => trigger("look", { kind: "look", run: run.id, ...hooks.look() }), 700);
}
for (const kind of ["hard", "words", "specials", "multiples"]) {
  at[kind].onchange = () => { view[kind] = at[kind].checked; hideTip(); paint("", performance.now()); };
}
at.unfold.onclick = () => at.unfold.setAttribute("aria-expanded", String(at.root.classList.toggle("ts-open")));   // where it is narrow
at.page.onchange = () => { view.page = +at.page.value; hideTip(); paint("", performance.now()); };
for (const kind of ["under", "over"]) {
  at[kind].oninput = () => { if (at[kind].value !== "" && +at[kind].value >= 0) { view[kind] = +at[kind].value; paint(); } };
}

at.root.addEventListener("keydown", (event) => {
  const on = event.target, keys = { ArrowLeft: () => show(view.step - 1, true), ArrowRight: () => show(view.step + 1, true),
    Home: () => show(1, true), End: () => show(Infinity, true), " ": toggle };
  if (!keys[event.key] || on.tagName === "SELECT" || (on.tagName === "INPUT" && on.type !== "range") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && on.tagName === "BUTTON") return;   // the button's own key
  event.preventDefault();
  keys[event.key]();
});
at.root.addEventListener("pointerdown", (event) => {
  if (!event.target.closest("button, select, input, label")) at.root.focus({ preventScroll: true });
});
at.cells.addEventListener("pointermove", hover);
at.cells.addEventListener("pointerleave", hideTip);
at.bars.addEventListener("pointermove", (event) => {   // plotly's own hover knows nothing of zoom
  const column = run ? Math.floor((event.clientX - at.bars.getBoundingClientRect().left) / zoom() / grid.cw) : -1;
  if (column >= 0 && column < axes().columns.length) tipForBar(column, event);
});
at.bars.addEventListener("pointerleave", hideTip);
at.cells.addEventListener("click", (event) => {
  const cell = cellUnder(event);
  if (cell) { if (grows()) show(lastOf(axes().rows[cell.row]) + 1, true); hover(event); }
});
const lastOf = (group) => group.members[group.members.length - 1];
at.output.addEventListener("click", (event) => { if (event.target.dataset.row) show(+event.target.dataset.row + 1, true); });
at.rows.addEventListener("click", (event) => { if (event.target.dataset.group && grows() && axes().rows[event.target.dataset.group].members.length) show(lastOf(axes().rows[event.target.dataset.group]) + 1, true); });

/** The column that a label or a chip stands for, or -1. */
function columnOf(node) {
  if (node.dataset.group) return +node.dataset.group;
  const i = Array.prototype.indexOf.call(node.parentNode.children, node);
  return axisOf("columns") === "source" && node.parentNode === at.source ? axes().columnAt(i) : -1;
}
for (const list of [at.source, at.cols]) {
  list.addEventListener("pointerover", (event) => { if (run && event.target !== list) highlight(columnOf(event.target)); });
  list.addEventListener("pointerleave", () => { if (run) highlight(view.pinned); });
  list.addEventListener("click", (event) => {   // keeps the column outlined until it is clicked again
    if (!run || event.target === list) return;
    const column = columnOf(event.target);
    view.pinned = view.pinned === column ? -1 : column;
    highlight(view.pinned);
  });
}
let rootWidth = 0;
new ResizeObserver(() => {
  const width = at.root.clientWidth;
  if (run && width && width !== rootWidth) paint("layout");
  rootWidth = width;
}).observe(at.root);
window.addEventListener("resize", () => { if (run) paint("layout"); });
watchTheme(grid, () => paint());
buildSide();
receive();
watch("value", receive);
