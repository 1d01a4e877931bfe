/* Appendix B: four kinds of transformer on one table, each run live; then what T5 and BART wear, read off the loaded weights. */

const KINDS = ["encoder-only", "decoder-only", "encoder-decoder", "prefix-lm"], AXES = ["masking", "conditioning", "objective", "use", "models"];
let sent = {};
const top_ = add(host, "div", "tr-row"), box = targetBox(top_, () => {});
const grid = table([word("kinds.kind"), ...AXES.map((axis) => word("kinds." + axis)), ""], KINDS.map((kind) => {
  const node = make("button", "tr-button", word("kinds.open"));
  node.type = "button";
  node.dataset.kind = kind;
  node.onclick = () => { sent = targetOf(box); ask({ what: "kind", name: kind, ...sent }); };
  return [word("kinds." + kind), ...AXES.map((axis) => word("kinds." + kind + "." + axis)), node];
}));
host.append(grid);
const live = add(host, "div", "tr-live"), head = add(host, "h4", "", word("kinds.dressings")), row = add(host, "div", "tr-row"), dressed = add(host, "div"), zoo = add(host, "div");
button(row, "kinds.measure", () => ask({ what: "dressed" }), true);

function drawKind(value) {
  keepTarget(box, value, sent);
  live.replaceChildren();
  add(live, "h4", "", word("kinds.live", { kind: word("kinds." + value.name) }));
  const source = value.source_moved, target = value.target_moved, count = (list) => list.filter(Boolean).length, last = value.maps[value.maps.length - 1];
  add(live, "p", "tr-sentence", word("kinds.moved", { n: value.changed + 1, source: count(source), of: source.length, target: count(target), m: target.length }));
  const maps = add(live, "div", "tr-columns");
  for (const map of value.maps) heat(add(maps, "div"), Array.from(floats(map.values)), map.rows, map.columns.length, { diverging: false, most: 1, title: word("kinds.map." + map.name), columnNames: map.columns, room: 270 });
  add(live, "p", "tr-quiet", value.model ? word("kinds.trained", { model: value.model }) : word("kinds.random"));
}

/** Appendix B's zoo: released models by what they wear. */
function drawZoo(released) {
  zoo.replaceChildren(make("h4", "", word("kinds.zoo")), table(["model", "family", "positions", "norm", "activation", "trained", "parameters"].map((name) => word("kinds.zoo." + name)),
    released.map((one) => [one.name, one.family, word("kinds.positions." + one.positions), one.norm + ", " + word("kinds.place." + one.place), one.activation, word("kinds.trained." + one.objective), whole(one.exact)])));
}

function drawDressed({ models, zoo: released }) {
  drawZoo(released);
  const rows = [
    ["positions", (m) => word("kinds.positions." + m.positions) + (m.shape.length ? " (" + m.shape.join(" × ") + ")" : "")],
    ["norm", (m) => m.norm + (m.biased ? ", " + word("kinds.biased") : "")],
    ["mean", (m) => m.mean.toExponential(1)], ["rms", (m) => m.rms.toFixed(3)],
    ["stream", (m) => m.stream.map((x) => x.toFixed(2)).join(" → ")],
    ["activation", (m) => m.activation], ["zeros", (m) => (100 * m.zeros).toFixed(1) + " %"], ["below", (m) => (100 * m.below).toFixed(1) + " %"],
    ["scale", (m) => m.scale.toFixed(4)], ["biases", (m) => String(m.biases)], ["start", (m) => m.start], ["tasks", (m) => m.tasks.join(", ")],
  ];
  dressed.replaceChildren(table([word("kinds.what"), ...models.map((m) => m.name + " · " + m.family)], rows.map(([name, read]) => {
    const node = make("span", "", word("kinds.wears." + name));
    node.title = word("kinds.wears." + name + ".title");
    return [node, ...models.map((m) => { const cell = make("span"); cell.append(isolated(read(m))); return cell; })];
  })));
  add(dressed, "p", "tr-quiet", word("kinds.dressed.note"));
  const maps = add(dressed, "div", "tr-columns");
  for (const m of models.filter((one) => one.places)) heat(add(maps, "div"), Array.from(floats(m.places.values)), m.places.rows, m.places.columns.length, {
    most: m.positions === "bias" ? undefined : 1, title: m.name + ": " + word(m.positions === "bias" ? "kinds.places.bias" : "kinds.places.vectors"), columnNames: m.places.columns, room: 400 });
}

live.after(relatives.part);
receive({ kind: drawKind, dressed: drawDressed, ...relatives.kinds });
ask({ what: "dressed" });
