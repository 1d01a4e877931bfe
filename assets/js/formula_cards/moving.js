/* What moves on a card: √d_k, temperature, α, λ, p_gen, the length of a prefix. Computed here, as the formulas have it. */

const SLIDERS = {   // name -> least, most, step, digits
  T: [0.1, 5, 0.05, 2], alpha: [-2, 2, 0.05, 2], gate: [0, 1, 0.01, 2], lambda: [0, 1, 0.01, 2], n: [0, 1, 1, 0],
};

function controlsOf(card) {
  card.inputs = {};
  for (const name of card.moves) {
    const label = make("label", "fc-control"), input = make("input"), value = make("output");
    input.type = name === "root" ? "checkbox" : "range";
    input.dataset.move = name;
    label.append(make("span", "", word("move." + name)), " ", input, value, tag("CONFIG"));
    card.controls.append(label);
    card.inputs[name] = { input, value };
    input.oninput = () => move(card);
  }
  if (card.moves.length) card.controls.append(card.back = button("ts-text-button", word("back"), () => { startControls(card); move(card); }));
}

/** Where each control stands at first: as the model has it, or as the numbers were made. */
function startControls(card) {
  const { data, values } = card.given;
  for (const [name, { input }] of Object.entries(card.inputs)) {
    const [least, most, step] = SLIDERS[name] || [];
    if (name === "root") input.checked = data.scale !== undefined && data.scale !== 1;
    else Object.assign(input, { min: least, max: name === "n" ? data.length ?? card.size ?? 1 : most, step });
    const first = { T: values.T ?? 1, alpha: values.alpha, gate: values.gate, lambda: values.lambda, n: data.size ?? 0 }[name];
    if (name !== "root") input.value = Number(String(first).replace("−", "-"));
  }
  told(card);
}

function told(card) {
  for (const [name, { input, value }] of Object.entries(card.inputs)) if (name !== "root") value.textContent = number(+input.value, SLIDERS[name][3]);
}

const settings = (card) => Object.fromEntries(Object.entries(card.inputs).map(([name, { input }]) => [name, name === "root" ? input.checked : +input.value]));

/** New numbers for a picture of the card. */
function repaint(card, title, values) {
  const made = card.pictures.find((one) => one.panel.title === title);
  if (!made) return;
  const { rows, columns } = made.panel, wide = values.length / rows.length;
  rows.forEach((_, i) => { for (let j = 0; j < columns.length; j++) made.values[i * columns.length + j] = values[i * wide + j]; });
  paint(made);
}

function move(card) {
  told(card);
  const values = (MOVES[card.id] || MOVES[card.id.replace("cross_", "encoder_")])(card, settings(card), card.given.data);
  fill(card.places, values || {});
}

/** All rows of attention again: scores (row, column) divided by √d_k or not, then by T. */
function attention(card, { root, T = 1 }, data) {
  const scores = floats(data.scores), added = floats(data.added), v = floats(data.v), most = Math.sqrt(data.width);
  const columns = Math.round(v.length / data.width), rows = scores.length / columns, scale = root ? 1 / most : 1;
  const weights = new Float64Array(scores.length), out = new Float64Array(rows * data.width);
  for (let i = 0; i < rows; i++) {
    const own = softmax(Array.from({ length: columns }, (_, j) => (scores[i * columns + j] * scale + added[i * columns + j]) / T));
    weights.set(own, i * columns);
    own.forEach((share, j) => { for (let c = 0; c < data.width; c++) out[i * data.width + c] += share * v[j * data.width + c]; });
  }
  repaint(card, "A", weights);
  repaint(card, card.id === "encoder_attention" ? "SelfAttn" : "CrossAttn", out);
  return { root: number(1 / scale, 2) + (T === 1 ? "" : " · " + number(T, 2)), weights: listing(weights.subarray(data.row * columns, (data.row + 1) * columns)) };
}

let kept = {};
/** Logits of the step t: the model's, and the weaker student's. */
const logitsOf = () => (kept.of === state.cards ? kept : (kept = { of: state.cards, teacher: Array.from(floats(state.cards.logits)), student: Array.from(floats(state.cards.weak)) }));
const soft = (logits, T) => softmax(logits.map((x) => x / T));

const MOVES = {
  encoder_attention: attention,
  output_head(card, { T }) {
    const p = soft(logitsOf().teacher, T);
    repaint(card, "p̂", p.slice(0, 8));
    return { T: number(T, 2), p: number(p[0]) };
  },
  beam_score(card, { alpha }, data) {
    const lp = ((5 + data.m) / 6) ** alpha;
    return { alpha: number(alpha, 2), lp: number(lp), score: number(data.sum / lp) };
  },
  pointer(card, { gate }, data) {
    const mixed = data.own.map((p, k) => gate * p + (1 - gate) * data.copies[k]);
    repaint(card, "P(w)", mixed);
    return { gate: number(gate, 2), rest: number(1 - gate, 2), P: number(mixed[data.at]) };
  },
  distillation(card, { lambda, T }, data) {
    const { teacher, student } = logitsOf(), hard = -Math.log(soft(student, 1)[data.at]), p = soft(teacher, T), q = soft(student, T);
    const kl = p.reduce((sum, x, k) => sum + (x > 0 ? x * (Math.log(x) - Math.log(q[k])) : 0), 0);
    repaint(card, "p̂ᵗ", p.slice(0, 8));
    repaint(card, "p̂ˢ", q.slice(0, 8));
    return { lambda: number(lambda, 2), rest: number(1 - lambda, 2), ce: number(hard), T: number(T, 1), kl: number(kl, 4), loss: number((1 - lambda) * hard + lambda * T * T * kl) };
  },
  prefix_mask(card, { n }, data) {
    const length = data.length, open = (i, j) => (j <= i || j < n ? 0 : -Infinity), i = clamp(n, 0, length - 1), j = Math.max(0, i - 1);
    repaint(card, "M", Float64Array.from({ length: length * length }, (_, k) => open(Math.floor(k / length), k % length)));
    return { n: String(n), i: String(i + 1), j: String(j + 1), value: number(open(i, j), 0) };
  },
  "item.6"(card, { T }, data) {
    const columns = Math.sqrt(floats(data.scores).length), scores = floats(data.scores), weights = new Float64Array(scores.length);
    for (let i = 0; i < columns; i++) weights.set(softmax(Array.from(scores.subarray(i * columns, (i + 1) * columns), (x) => x / T)), i * columns);
    repaint(card, "α", weights);
    const row = Array.from(scores.subarray(data.row * columns, (data.row + 1) * columns), (x) => x / T);
    return { s: number(row[data.column], 2), powers: row.slice(0, 5).map((x) => number(Math.exp(x), 2)).join(" + ") + (columns > 5 ? " + …" : ""),
      alpha: number(weights[data.row * columns + data.column]) };
  },
  "item.8"(card, { root }, data) {
    const scores = floats(data.scores), by = root ? Math.sqrt(data.width) : 1, columns = Math.sqrt(scores.length);
    repaint(card, "s", scores.map((x) => x / by));
    return { s: number(scores[data.row * columns + data.column] / by, 2), dk: root ? String(data.width) : "1" };
  },
  "item.9"(card, { n }, data) {
    const scores = floats(data.scores), columns = Math.sqrt(scores.length), open = (i, j) => j <= i || j < n, weights = new Float64Array(scores.length);
    for (let i = 0; i < columns; i++) weights.set(softmax(Array.from({ length: columns }, (_, j) => (open(i, j) ? scores[i * columns + j] : -Infinity))), i * columns);
    repaint(card, "M", Float64Array.from({ length: scores.length }, (_, k) => (open(Math.floor(k / columns), k % columns) ? 0 : -Infinity)));
    repaint(card, "α", weights);
    return { weights: listing(weights.subarray(data.row * columns, (data.row + 1) * columns), 2, columns) };
  },
};
