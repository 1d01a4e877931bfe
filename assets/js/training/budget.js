/* Parameters and caches: of the loaded model as they are, beside the estimate; of any sizes that the sliders make. */

let found = null, start = null;
const top_ = add(host, "div", "tr-row"), numbers = add(host, "p", "tr-sentence"), why = add(host, "div"), parts = add(host, "details");
button(top_, "budget.go", () => ask({ what: "budget" }), true);
add(host, "h4", "", word("budget.what"));
const sliders = add(host, "div", "tr-row"), made = add(host, "p", "tr-sentence"), madeWhy = add(host, "div"), cacheRow = add(host, "div", "tr-row"), memory = add(host, "div"), zoo = add(host, "div");
const SIZES = { d: [8, 4096, 8], encoder: [0, 48, 1], decoder: [1, 48, 1], heads: [1, 64, 1], d_kv: [1, 256, 1], d_ff: [8, 16384, 8], vocab: [1, 300000, 1] };
const moved = Object.fromEntries(Object.entries(SIZES).map(([name, [low, high, step]]) => [name, slider(sliders, "budget." + name, low, high, step, low, () => draw(), whole)]));
const tied = check(sliders, "budget.tied", true, () => draw()), gated = check(sliders, "budget.gated", false, () => draw());
const lengths = { source: slider(cacheRow, "budget.source", 1, 1024, 1, 512, () => draw(), whole), target: slider(cacheRow, "budget.target", 1, 1024, 1, 32, () => draw(), whole),
  beams: slider(cacheRow, "budget.beams", 1, 16, 1, 4, () => draw()), batch: slider(cacheRow, "budget.batch", 1, 64, 1, 1, () => draw()), width: choice(cacheRow, "budget.bytes", [["4", "float32"], ["2", "bfloat16"], ["1", "int8"]], () => draw()) };

/* The same counts as core/parameters.py. */
function counts(a) {
  const inner = a.heads * a.d_kv, innerKv = (a.kv_heads || a.heads) * a.d_kv, attention = 2 * a.d * (inner + innerKv), forward = (a.gated ? 3 : 2) * a.d * a.d_ff;
  const biased = a.biased, norm = biased ? 2 * a.d : a.d, each = a.family === "t5gemma" ? 2 : 1, ends = ["bart", "marian"].includes(a.family) ? 0 : 2, starts = ["bart", "mbart"].includes(a.family) ? 2 : 0;
  const bias = biased ? inner + 2 * innerKv + a.d : 0, forwardBias = biased ? a.d_ff + a.d : 0;
  return {
    embedding: a.vocab * a.d, tables: ((a.tied ? 0 : 1) + (a.family === "t5gemma" ? 1 : 0)) * a.vocab * a.d, "encoder.attention": a.encoder * attention,
    "encoder.feed_forward": a.encoder * forward, "decoder.attention": a.decoder * attention, "decoder.cross": a.decoder * attention, "decoder.feed_forward": a.decoder * forward,
    biases: a.encoder * (bias + forwardBias) + a.decoder * (2 * bias + forwardBias), norms: norm * (each * (2 * a.encoder + 3 * a.decoder) + ends + starts), positions: placeTables(a),
  };
}

function placeTables(a) {
  if (a.family === "t5gemma") return 0;
  if (["t5", "mt5", "umt5"].includes(a.family)) return (a.family === "umt5" ? a.encoder + a.decoder : 2) * a.positions * a.heads;
  return 2 * (a.positions + (["bart", "mbart"].includes(a.family) ? 2 : 0)) * a.d;
}

const sum = (object) => Object.values(object).reduce((a, b) => a + b, 0);
const estimate = (a) => 12 * a.encoder * a.d ** 2 + 16 * a.decoder * a.d ** 2 + a.vocab * a.d;

function refined(a) {
  const inner = a.heads * a.d_kv, forward = (a.gated ? 3 : 2) * a.d * a.d_ff;
  return a.encoder * (4 * a.d * inner + forward) + a.decoder * (8 * a.d * inner + forward) + a.vocab * a.d;
}

/** What makes the difference; these add up to exact − estimate. */
function reasons(a) {
  const c = counts(a), square = a.d ** 2;
  return {
    attention: c["encoder.attention"] + c["decoder.attention"] + c["decoder.cross"] - 4 * square * (a.encoder + 2 * a.decoder),
    feed_forward: c["encoder.feed_forward"] + c["decoder.feed_forward"] - 8 * square * (a.encoder + a.decoder),
    tables: c.tables, biases: c.biases, norms: c.norms, positions: c.positions,
  };
}

function verdict(node, below, a, exact) {
  const about = estimate(a), error = (about / exact - 1) * 100, better = (refined(a) / exact - 1) * 100;
  node.textContent = word("budget.said", { exact: whole(exact), estimate: whole(about), error: signed(error, 2), better: signed(better, 2), bytes: bytes(4 * exact), training: bytes(16 * exact) });
  const rows = Object.entries(reasons(a)).filter(([, n]) => n).sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]));
  below.replaceChildren();
  add(below, "h4", "", word("budget.why"));
  bars(below, rows.map(([name, n]) => [word("budget.reason." + name), n / exact, whole(n) + " · " + signed((100 * n) / exact, 2) + " %"]), Math.max(1e-9, ...rows.map(([, n]) => Math.abs(n / exact))), true, null, true);
}

function sizesNow() {
  return { ...start, ...Object.fromEntries(Object.entries(moved).map(([name, one]) => [name, one.value()])), tied: tied.checked, gated: gated.checked, kv_heads: moved.heads.value() === start.heads ? start.kv_heads : 0 };   // other heads: each has keys of its own
}

function draw() {
  if (!found || !start) return;
  const a = sizesNow(), exact = sum(counts(a));
  verdict(made, madeWhy, a, exact);
  const per = Number(lengths.width.value()), rows = lengths.batch.value() * lengths.beams.value();
  const keys = a.kv_heads || a.heads, cache = (length) => 2 * a.decoder * keys * a.d_kv * length * rows * per, own = cache(lengths.target.value()), cross = cache(lengths.source.value());
  memory.replaceChildren(table([word("budget.memory"), word("budget.formula"), ""], [
    [word("budget.weights"), "P · " + per, bytes(exact * per)],
    [word("budget.self"), [2, a.decoder, keys, a.d_kv, lengths.target.value(), rows, per].join(" · "), bytes(own)],
    [word("budget.cross"), [2, a.decoder, keys, a.d_kv, lengths.source.value(), rows, per].join(" · "), bytes(cross)],
  ]));
  add(memory, "p", "tr-quiet", word("budget.caches", { self: bytes(own), cross: bytes(cross), more: own > cross ? word("budget.self") : word("budget.cross") }));
  root.twoStacksBudget = { exact, own, cross, estimate: estimate(a) };
}

function take(a) {
  start = a;
  for (const name of Object.keys(moved)) moved[name].set(a[name]);
  tied.checked = a.tied; gated.checked = a.gated;
  draw();
}

function drawParts() {
  const kinds = ["embedding", "head", "attention", "cross", "feed_forward", "norms", "positions"].filter((part) => found.rows.some((row) => row[2] === part));
  const places = [...new Map(found.rows.map(([stack, layer]) => [stack + " " + layer, [stack, layer]])).values()];
  const cell = (stack, layer, part) => found.rows.find((row) => row[0] === stack && row[1] === layer && row[2] === part)?.[3];
  parts.replaceChildren(make("summary", "", word("budget.parts", { model: found.model })));
  parts.append(table([word("budget.block"), ...kinds.map((part) => word("budget.part." + part)), word("budget.sum")], places.map(([stack, layer]) => {
    const line = kinds.map((part) => cell(stack, layer, part));
    return [stack ? word("budget." + stack + ".stack") + (layer ? " " + layer : "") : word("budget.shared"), ...line.map((n) => (n === undefined ? "" : whole(n))), whole(line.reduce((a, b) => a + (b || 0), 0))];
  })));
}

function drawZoo() {
  const heads = ["model", "size", "d", "heads", "d_ff", "vocab", "exact", "estimate", "error", "reason", "cache"].map((name) => word("budget.zoo." + name));
  zoo.replaceChildren(make("h4", "", word("budget.zoo")), table(heads, found.zoo.map((one) => {
    const a = one.sizes, most = Object.entries(one.reasons).sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]))[0][0], node = make("button", "tr-link", one.name);
    node.type = "button";
    node.onclick = () => take(a);
    return [node, a.encoder + " + " + a.decoder, String(a.d), a.heads + " × " + a.d_kv, whole(a.d_ff) + (a.gated ? " · 3" : " · 2"), whole(a.vocab) + (a.tied ? "" : " × 2"), whole(one.exact), whole(one.estimate), signed((one.estimate / one.exact - 1) * 100, 2) + " %", word("budget.reason." + most), bytes(one.cache)];
  })));
  add(zoo, "p", "tr-quiet", word("budget.zoo.note"));
}

receive({ budget: (value) => {
  found = value;
  if (value.sizes) { verdict(numbers, why, value.sizes, value.exact); take(value.sizes); }
  else { numbers.textContent = word("budget.only", { model: value.model, exact: whole(value.exact) }); why.replaceChildren(); take(value.zoo[0].sizes); }
  drawParts(); drawZoo();
} });
ask({ what: "budget" });
