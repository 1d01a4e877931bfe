/* The learning bridge: the gradient of the loss at the encoder's output, whole, and by path and layer. */

let found = null, path = "whole", cut = false;
const top_ = add(host, "div", "tr-row"), box = targetBox(top_, () => go());
button(top_, "bridge.go", () => go(), true);
check(top_, "bridge.cut", false, (on) => { cut = on; go(); });
const sentence = add(host, "p", "tr-sentence"), norms = add(host, "div"), row = add(host, "div", "tr-row"), picture = add(host, "div"), note = add(host, "p", "tr-quiet");
const chosen = choice(row, "bridge.path", [["whole", word("bridge.whole")]], (value) => { path = value; drawPath(); });

let sent = {};
function go() { sent = targetOf(box); ask({ what: "bridge", ...sent, cut }); }

function drawPath() {
  picture.replaceChildren();
  const n = found.source.length, c = found.columns, size = n * c;
  const [kind, layer] = path.split(" "), start = kind === "whole" ? 0 : ((kind === "v" ? found.layers : 0) + Number(layer)) * size;
  const values = kind === "whole" ? found.whole : found.paths.subarray(start, start + size);
  heat(picture, Array.from(values), found.source, c, { most: found.most, title: word("bridge.heat", { what: chosen.node.selectedOptions[0].textContent, n, c, d: found.width }) });
}

function draw() {
  const names = [];
  for (const kind of ["k", "v"]) for (let layer = 0; layer < found.layers; layer++) names.push([kind + " " + layer, word("bridge." + kind, { n: layer + 1 })]);
  chosen.fill([["whole", word("bridge.whole")], ...names], names.some(([value]) => value === path) ? path : "whole");
  path = chosen.value();
  sentence.textContent = word(found.cut ? "bridge.cut.said" : "bridge.said", { loss: number(found.loss, 4), gap: found.gap.toExponential(1), zero: word(found.zero ? "bridge.zero" : "bridge.nonzero") });
  norms.replaceChildren();
  const n = found.source.length, values = [...Array.from(found.norms), ...Array.from(found.norm)];
  heat(norms, values, [...names.map(([, text]) => text), word("bridge.whole")], n, { diverging: false, title: word("bridge.norms"), columnNames: found.source });
  drawPath();
  note.textContent = word("bridge.note", { made: found.made });
}

receive({ bridge: (value) => {
  found = { ...value, whole: floats(value.whole), paths: floats(value.paths), norms: floats(value.norms), norm: floats(value.norm) };
  found.most = Math.max(1e-12, ...Array.from(found.whole, Math.abs));
  keepTarget(box, value, sent);
  draw();
} });
go();
