/* The sentence under the controls: what is seen, in words, from the numbers that are drawn. */

/** Index of the largest number; NaN never wins. */
const largest = (row) => row.reduce((best, x, c) => (x > row[best] || Number.isNaN(row[best]) ? c : best), 0);

/** Where the single strongest head of this row looks, for a reduction over heads: {layer, head, column, weight}. */
function strongestHead(t) {
  const [layers, heads] = run.shapes[view.map], { columns } = axes();
  let best = null;
  for (let l = 1; l <= layers; l++) {
    for (let h = 1; h <= heads; h++) {
      const row = merged(reduceRow(view.map, t, String(l), String(h)), columns), c = largest(row);
      if (!best || row[c] > best.weight) best = { layer: l, head: h, column: c, weight: row[c] };
    }
  }
  return best;
}

function sentence() {
  const { columns, rows } = axes(), { now } = picture(), place = { step: view.step, steps: run.rows.length };
  if (!columns.length) return phrase("sentence.allhidden");
  if (view.map === "encoder") return encoderSentence();
  if (!view.step) return phrase("sentence.before");
  if (now < 0) return phrase("sentence.hiddenrow", place);
  const row = merged(reduction().rows[view.step - 1], columns), most = largest(row);
  const words = phrase("sentence." + view.map, { ...place, row: isolated(rows[now].text), column: isolated(columns[most].text), weight: digits(row[most]), reduction: reductionName() });
  const one = run.shapes[view.map][0] * run.shapes[view.map][1] > 1 && view.layer !== "rollout" && (isNaN(view.layer) || isNaN(view.head)) ? strongestHead(view.step - 1) : null;
  if (one) words.push(...phrase("sentence.sharpest", { ...one, column: isolated(columns[one.column].text), weight: digits(one.weight) }));
  return [...words, ...(view.map === "cross" ? coverSentence(columns) : []), ...phrase("sentence.end")];
}

/** The source word with least mass: not covered yet while it is under the threshold. In blocks each label's share of it counts. */
function coverSentence(columns) {
  const sums = received().map((mass, c) => mass / columns[c].size);
  let least = -1;
  columns.forEach((group, c) => { if (!group.dim && (least < 0 || sums[c] < sums[least])) least = c; });
  if (least < 0) return [];
  const ended = view.step === run.rows.length && run.done, how = sums[least] >= view.under ? "least" : ended ? "undercovered" : "uncovered", mass = sums[least].toFixed(2);
  return phrase("sentence." + how, { column: isolated(columns[least].text), mass: columns[least].size > 1 ? word(view.words ? "mass.word" : "mass.token", { mass }) : mass });
}

function encoderSentence() {
  const sums = received(), most = largest(sums), { columns } = axes();
  return phrase("sentence.encoder", { column: isolated(columns[most].text), mass: sums[most].toFixed(2), rows: plural("rows", rowsKnown()), reduction: reductionName() });
}
