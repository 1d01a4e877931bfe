/* Weights. */

let halves = null;

/** All 65,536 float16 values (IEEE 754 binary16), made once. */
function table() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let h = 0; h < 65536; h++) {
    const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
    halves[h] = exponent === 0 ? sign * fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : sign * Infinity) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halves;
}

/** Row -> Float32Array(layers * heads * source), kept on the row. */
function weights(row) {
  if (!row.values) {
    const raw = atob(row.w), lookup = table(), count = raw.length >> 1, values = new Float32Array(count);
    for (let i = 0; i < count; i++) values[i] = lookup[raw.charCodeAt(2 * i) | (raw.charCodeAt(2 * i + 1) << 8)];
    row.values = values;
  }
  return row.values;
}

/** One row under a choice of layer and head -> Float64Array(source). Heads are reduced first, then layers. */
function reduceRow(row, layer, head) {
  const { layers, heads } = run, n = run.source.length, w = weights(row), out = new Float64Array(n);
  const some = (choice, count) => (choice === "mean" || choice === "max" ? [0, count] : [choice - 1, +choice]);
  const [l0, l1] = some(layer, layers), [h0, h1] = some(head, heads);
  for (let c = 0; c < n; c++) {
    let overLayers = layer === "max" ? -Infinity : 0;
    for (let l = l0; l < l1; l++) {
      let overHeads = head === "max" ? -Infinity : 0;
      for (let h = h0; h < h1; h++) {
        const value = w[(l * heads + h) * n + c];
        overHeads = head === "max" ? Math.max(overHeads, value) : overHeads + value;
      }
      if (head === "mean") overHeads /= heads;
      overLayers = layer === "max" ? Math.max(overLayers, overHeads) : overLayers + overHeads;
    }
    out[c] = layer === "mean" ? overLayers / layers : overLayers;
  }
  return out;
}

/** The matrix of a (layer, head) choice with its running column sums; grows with the run and is kept. */
function reduction(layer = view.layer, head = view.head) {
  const key = layer + "," + head, n = run.source.length;
  let r = run.reduced.get(key);
  if (!r) run.reduced.set(key, (r = { rows: [], covered: [], top: 0, scale: 0.05 }));
  for (let t = r.rows.length; t < run.rows.length; t++) {
    const row = reduceRow(run.rows[t], layer, head), sum = new Float64Array(n);
    for (let c = 0; c < n; c++) {
      sum[c] = (t ? r.covered[t - 1][c] : 0) + row[c];
      r.top = Math.max(r.top, row[c]);
    }
    r.rows.push(row);
    r.covered.push(sum);
  }
  r.scale = Math.min(Math.max(1, r.top), Math.max(0.05, Math.ceil(r.top * 20 - 1e-9) / 20)); // colour range: 0 to this, in twentieths
  return r;
}

const coverage = () => (run && view.step ? reduction().covered[view.step - 1] : new Float64Array(run ? run.source.length : 0));

/** The reduction in words, in the order it is done. */
function reductionName() {
  const overHeads = view.head === "mean" || view.head === "max", overLayers = view.layer === "mean" || view.layer === "max";
  const L = run.layers + (run.layers === 1 ? " layer" : " layers"), H = run.heads + (run.heads === 1 ? " head" : " heads");
  if (overHeads && overLayers) {
    return view.head === view.layer ? view.head + " over " + L + " × " + H : view.layer + " over " + L + " of the " + view.head + " over " + H;
  }
  if (overHeads) return "layer " + view.layer + ", " + view.head + " over " + H;
  if (overLayers) return view.layer + " over " + L + ", head " + view.head;
  return "layer " + view.layer + ", head " + view.head;
}
