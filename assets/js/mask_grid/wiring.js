/* Wiring: buttons, lists, observers, and the hooks that tests use. */

for (const stack of STACKS) at[stack].onclick = () => { view.stack = stack; view.over = null; stroke = null; paint(); };
at.preset.onchange = () => choose(at.preset.value);
let sliding = false;   // one step of undo for one pull of the slider
at.size.oninput = () => { choose(mask().preset, +at.size.value, sliding); sliding = true; };
at.size.onchange = () => { sliding = false; };
at.layer.onchange = () => { view.layer = +at.layer.value; paint(); };
at.undo.onclick = undo;
at.redo.onclick = redo;
at.reset.onclick = reset;
at.cols.addEventListener("click", (event) => { if (event.target.dataset.at) hideColumn(+event.target.dataset.at); });
at.cols.addEventListener("pointerover", (event) => { if (event.target.dataset.at) { view.over = null; event.target.classList.add("mg-over"); } });
at.cols.addEventListener("pointerout", (event) => event.target.classList.remove("mg-over"));

at.root.addEventListener("keydown", (event) => {
  if (!given || event.altKey || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) undo();
  else if (key === "y" || key === "z") redo();
  else return;
  event.preventDefault();
});

const hooks = {
  /** Rows of 0 and 1: what core.masks.effective gives; layer -1 is "all". */
  effective: (stack, layer) => {
    const [rows, columns] = sizes(stack), { open } = effective(masks[stack], stack, layer, rows, columns);
    return Array.from({ length: rows }, (_, i) => Array.from(open.subarray(i * columns, (i + 1) * columns)));
  },
  dead: (stack) => Object.fromEntries(deadRows(stack)),
  masks: () => canonical(),
  /** Take masks as the server's would be taken. */
  put: (object) => { masks = parsed(object); paint(); }, flush,
  wording: (stack) => wording(masks[stack], stack),
  cases: (stack) => cases(masks[stack], stack, !!given.pads && stack !== "decoder"),
  given: () => given, view: () => ({ ...view }), geometry: () => ({ ...grid }), steps: () => [past.length, future.length],
};
at.root.twoStacks = hooks;
(window.twoStacks ||= {}).maskGrid = hooks;

new ResizeObserver(() => paint()).observe(at.root);
watchTheme(grid, () => paint());
receive();
watch("value", receive);
