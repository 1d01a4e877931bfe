/* Weights: float16 rows, the three maps, reductions over layers and heads. */

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

/** base64 of little-endian float16 -> Float32Array. */
function decoded(text) {
  const raw = atob(text), lookup = table(), count = raw.length >> 1, values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = lookup[raw.charCodeAt(2 * i) | (raw.charCodeAt(2 * i + 1) << 8)];
  return values;
}

/* rows, columns: whose tokens label the axis. "output" rows are written a step at a time; "fed" is what the decoder reads: its start, then the output. */
const MAPS = {
  cross: { rows: "output", columns: "source" },
  decoder: { rows: "output", columns: "fed" },
  encoder: { rows: "source", columns: "source" },
};
const grows = (map = view.map) => MAPS[map].rows === "output";
/** A side of a map; "blocks" where a long source arrives in blocks of run.block neighbouring tokens instead of one by one. */
const axisOf = (side, map = view.map) => (MAPS[map][side] === "source" && run.blocked.includes(map) ? "blocks" : MAPS[map][side]);
const lengthOf = (axis) => (axis === "source" ? run.source.length : axis === "blocks" ? Math.ceil(run.source.length / run.block) : run.rows.length);
const rowsKnown = (map = view.map) => lengthOf(axisOf("rows", map));

/** Where row t of a map lies: the weight of (layer l, head h, column c) is values[base + (l * heads + h) * stride + c]. */
function rowOf(map, t) {
  const n = lengthOf(axisOf("columns", map));
  if (map === "encoder") return { values: (run.encoder ||= decoded(run.enc)), base: t * n, stride: n * n, width: n };
  const row = run.rows[t], key = map === "cross" ? "w" : "d", width = map === "cross" ? n : t + 1;
  row.values ||= {};
  return { values: (row.values[key] ||= decoded(row[key])), base: 0, stride: width, width };
}

/** One row under a choice of layer and head -> Float64Array(width). Heads are reduced first, then layers. */
function reduceRow(map, t, layer, head) {
  const [layers, heads] = run.shapes[map], { values, base, stride, width } = rowOf(map, t), out = new Float64Array(width);
  const some = (choice, count) => (choice === "mean" || choice === "max" ? [0, count] : [choice - 1, +choice]);
  const [l0, l1] = some(layer, layers), [h0, h1] = some(head, heads);
  for (let c = 0; c < width; c++) {
    let overLayers = layer === "max" ? -Infinity : 0;
    for (let l = l0; l < l1; l++) {
      let overHeads = head === "max" ? -Infinity : 0;
      for (let h = h0; h < h1; h++) {
        const value = values[base + (l * heads + h) * stride + c];
        overHeads = head === "max" ? Math.max(overHeads, value) : overHeads + value;
      }
      if (head === "mean") overHeads /= heads;
      overLayers = layer === "max" ? Math.max(overLayers, overHeads) : overLayers + overHeads;
    }
    out[c] = layer === "mean" ? overLayers / layers : overLayers;
  }
  return out;
}

/** Attention rollout (Abnar and Zuidema 2020): the product over layers of ½ mean over heads + ½ identity. Row -> Float64Array. */
function rolled(map) {
  const layers = run.shapes[map][0], size = rowsKnown(map), kept = (run.rolled[map] ||= []), from = kept.length;   // row -> a vector per layer
  for (let t = from; t < size; t++) {
    const unit = new Float64Array(rowOf(map, t).width);
    unit[t] = 1;
    kept.push([unit]);
  }
  for (let l = 0; l < layers; l++) {
    for (let t = from; t < size; t++) {
      const weights = reduceRow(map, t, String(l + 1), "mean"), out = kept[t][l].map((x) => x / 2);
      weights.forEach((weight, c) => kept[c][l].forEach((x, k) => (out[k] += 0.5 * weight * x)));
      kept[t].push(out);
    }
  }
  return kept.map((vectors) => vectors[layers]);
}

/** The row that is drawn, before tokens are merged; cross-attention is rolled out through the encoder. */
function chosenRow(map, t, layer, head) {
  if (layer !== "rollout") return reduceRow(map, t, layer, head);
  if (map !== "cross") return rolled(map)[t];
  const out = new Float64Array(run.source.length), through = rolled("encoder");
  reduceRow(map, t, "mean", "mean").forEach((weight, j) => through[j].forEach((x, k) => (out[k] += weight * x)));
  return out;
}

/** The matrix of a (map, layer, head) choice with its running column sums and coverage loss: Σ over the steps so far and source tokens of
 * min(A_tj, c_tj), c before step t (See et al. 2017; sheet 000, lesson 9). Grows with the run and is kept. */
function reduction(map = view.map, layer = view.layer, head = view.head) {
  const key = [map, layer, head].join();
  let r = run.reduced.get(key);
  if (!r) run.reduced.set(key, (r = { rows: [], covered: [], loss: [] }));
  for (let t = r.rows.length; t < rowsKnown(map); t++) {
    const row = chosenRow(map, t, layer, head), sum = new Float64Array(map === "decoder" ? t + 1 : row.length);
    let overlap = 0;
    for (let c = 0; c < row.length; c++) {
      const before = t && c < r.covered[t - 1].length ? r.covered[t - 1][c] : 0;
      sum[c] = before + row[c];
      overlap += Math.min(row[c], before);
    }
    r.rows.push(row);
    r.covered.push(sum);
    r.loss.push((t ? r.loss[t - 1] : 0) + overlap);
  }
  return r;
}

/** The reduction in words, in the order it is done. */
function reductionName() {
  const [layers, heads] = run.shapes[view.map], overHeads = view.head === "mean" || view.head === "max", overLayers = view.layer === "mean" || view.layer === "max";
  const said = (key, choice) => word("reduced." + key, { layers: plural("layers", layers), heads: plural("heads", heads), layer: view.layer, head: view.head,
    how: word("how." + (choice || view.layer)), then: word("how." + view.head) });
  if (view.layer === "rollout") return said(view.map === "cross" ? "rollout.cross" : "rollout", "mean");
  if (overHeads && overLayers) return said(view.head === view.layer ? "both" : "each");
  if (overHeads) return said("layer", view.head);
  return said(overLayers ? "head" : "one");
}
