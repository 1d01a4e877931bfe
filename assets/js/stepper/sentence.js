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
  const { columns, rows } = axes(), { values, now } = picture(), quoted = (group) => ["'", isolated(group.text), "'"];
  if (!columns.length) return ["Every label is hidden."];
  if (view.map === "encoder") return encoderSentence();
  if (!view.step) return ["The source is encoded; no token is written yet."];
  if (now < 0) return ["Step " + view.step + " of " + run.rows.length + " wrote a token that is hidden."];
  const row = merged(reduction().rows[view.step - 1], columns), most = largest(row), verb = view.map === "cross" ? " looks most at " : " reads back most from ";
  const words = ["Step " + view.step + " of " + run.rows.length + ": ", ...quoted(rows[now]), verb, ...quoted(columns[most]), " (" + digits(row[most]) + ", " + reductionName() + ")"];
  const one = run.shapes[view.map][0] * run.shapes[view.map][1] > 1 && view.layer !== "rollout" && (isNaN(view.layer) || isNaN(view.head)) ? strongestHead(view.step - 1) : null;
  if (one) words.push("; sharpest: layer " + one.layer + " head " + one.head + " at ", ...quoted(columns[one.column]), " (" + digits(one.weight) + ")");
  return [...words, ...(view.map === "cross" ? coverSentence(columns, quoted) : []), "."];
}

/** The source word with least mass: not covered yet while it is under the threshold. In blocks each label's share of it counts. */
function coverSentence(columns, quoted) {
  const sums = received().map((mass, c) => mass / columns[c].size);
  let least = -1;
  columns.forEach((group, c) => { if (!group.dim && (least < 0 || sums[c] < sums[least])) least = c; });
  if (least < 0) return [];
  const said = sums[least].toFixed(2) + (columns[least].size > 1 ? (view.words ? " a word)" : " a token)") : ")");
  return ["; ", ...quoted(columns[least]), sums[least] < view.under ? (view.step === run.rows.length && run.done ? " ends under-covered (" : " is not covered yet (") + said : " is least covered (" + said];
}

function encoderSentence() {
  const sums = received(), most = largest(sums), { columns } = axes();
  return ["All positions read each other at once, before the first output token. Most read: '", isolated(columns[most].text), "' (" + sums[most].toFixed(2) +
    " from " + rowsKnown() + " rows, " + reductionName() + ")."];
}
