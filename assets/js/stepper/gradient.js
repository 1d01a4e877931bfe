/* Input × gradient beside attention: which source tokens moved log P of the written token, for the step in view. */

/** Signed values of step t on the column groups, in nats; pieces of a word add up. */
function gradientRow(t) {
  const n = run.source.length;
  return merged(run.gradient.subarray(t * n, (t + 1) * n), axes().columns.map(({ tokens }) => ({ members: tokens })));
}

/** Ranks from 1, ties share their mean. */
function ranks(values) {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b]), out = new Float64Array(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let k = from; k < to; k++) out[order[k]] = (from + to + 1) / 2;
    from = to;
  }
  return out;
}

/** Spearman's rank correlation; NaN where one side is constant. */
function spearman(a, b) {
  const [x, y] = [ranks(a), ranks(b)], middle = (a.length + 1) / 2;
  let xy = 0, xx = 0, yy = 0;
  x.forEach((value, k) => { xy += (value - middle) * (y[k] - middle); xx += (value - middle) ** 2; yy += (y[k] - middle) ** 2; });
  return xy / Math.sqrt(xx * yy);
}

const correlation = (t) => spearman(merged(reduction().rows[t], axes().columns), gradientRow(t).map(Math.abs));

function drawGradient() {
  const t = view.step - 1, there = run.gradient && view.map === "cross" && run.rows[t];
  at.contrast.hidden = !there;
  at.explain.disabled = !run.done || view.map !== "cross" || !!run.gradient;
  if (!there) return;
  const row = gradientRow(t), size = row.map(Math.abs), total = size.reduce((a, b) => a + b, 0) || 1, { columns } = axes(), most = largest(size);
  at.shares.width = Math.max(1, columns.length); at.shares.height = 1;
  Object.assign(at.shares.style, { width: columns.length * grid.cw + "px" });
  at.shares.getContext("2d").putImageData(coloured([size.map((x) => x / total)], columns.length, Math.max(0.05, size[most] / total)), 0, 0);
  const one = correlation(t), all = run.rows.map((_, k) => correlation(k)).filter((x) => !Number.isNaN(x)), average = all.reduce((a, b) => a + b, 0) / all.length;
  at.contrast.replaceChildren(...phrase("gradient", { column: isolated(columns[most].text), value: signed(row[most], 3), share: (100 * size[most] / total).toFixed(0),
    labels: columns.length, one: signed(one, 2), steps: plural("steps", all.length), mean: signed(average, 2) }), ...ablation());
}

/** A way to the heads of the masks tab, on a page that has one. */
function ablation() {
  const tab = document.getElementById("ts-tab-masks-button");
  if (!tab) return [];
  const link = make("button", "ts-link", word("gradient.heads"));
  link.type = "button";
  link.onclick = () => { tab.click(); setTimeout(() => document.getElementById("ts-masks-heads")?.scrollIntoView({ block: "center" }), 100); };
  return [" ", link];
}

at.shares.addEventListener("pointermove", (event) => {
  const column = Math.floor((event.clientX - at.shares.getBoundingClientRect().left) / zoom() / grid.cw), group = run && run.gradient && axes().columns[column];
  if (!group) return;
  highlight(column);
  const row = gradientRow(view.step - 1);
  tip(event.clientX, event.clientY, [make("strong", "", word("gradient.value", { value: signed(row[column], 4) })), pair(...phrase("gradient.tip", { column: isolated(group.text) })), make("div", "ts-where", word("gradient.where", { k: view.step }))]);
});
at.shares.addEventListener("pointerleave", () => hideTip());
at.explain.onclick = () => { if (run && run.done) { at.explain.disabled = true; trigger("explain", { run: run.id }); } };

function takeAttribution(pack) {
  const raw = atob(pack.g), data = Uint8Array.from(raw, (c) => c.charCodeAt(0));
  if (!run || run.id !== pack.run) return;
  if (data.length !== 4 * run.rows.length * run.source.length) throw new Error("input × gradient does not fit the run");
  run.gradient = new Float32Array(data.buffer);
  paint("layout");
}
