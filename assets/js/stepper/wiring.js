/* Wiring. */

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
