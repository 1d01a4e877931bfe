/* Two runs of one source: the kept one under the one in view, or their signed difference. Both step together and share the columns. */

/** How the kept run is shown now: "off" unless it reads the same source as the run in view. */
function comparing() {
  const fits = other && run && other.id !== run.id && run.rows.length && sameTokens(other.source, run.source) && String(other.shapes[view.map]) === String(run.shapes[view.map]);
  return fits ? view.compare : "off";
}

const sameTokens = (a, b) => a.length === b.length && a.every((token, i) => token[1] === b[i][1]);

/** What a function gives when the kept run is the one in view. */
function ofOther(give) {
  const mine = run, compare = view.compare;
  run = other;
  view.compare = "off";
  try { return give(); } finally { run = mine; view.compare = compare; }
}

/** Row labels: under them those of the kept run, or both labels where a difference is drawn and they differ. */
function withOther(rows) {
  const how = comparing();
  if (how === "off") return rows;
  const theirs = ofOther(() => groups(axisOf("rows")));
  if (how === "under") return [...rows, { text: word("kept.rule"), members: [], tokens: [], size: 1, dim: true, rule: true }, ...theirs.map((group) => ({ ...group, kept: true }))];
  if (how === "beside") return rows;
  return rows.map((group, t) => (!theirs[t] || group.text === theirs[t].text ? group : { ...group, text: group.text + " | " + theirs[t].text }));
}

/** The rows to draw after `steps` steps of both runs. */
function compared(steps) {
  const mine = valuesAt(steps), how = comparing();
  if (how === "off" || how === "beside") return mine;
  const theirs = ofOther(() => valuesAt(steps));
  if (how === "difference") return mine.map((row, t) => row.map((x, c) => (theirs[t] ? x - theirs[t][c] : NaN)));
  const empty = () => new Float64Array(axes().columns.length).fill(NaN), own = axes().rows.findIndex((group) => group.rule);
  return [...mine, ...Array.from({ length: own - mine.length + 1 }, empty), ...theirs];
}

/** The kept run in words, and what can be done with it. */
function drawCompare() {
  const same = other && run && sameTokens(other.source, run.source);
  at.keep.disabled = !run || !run.done;
  at.compare.disabled = !same || other.id === run.id;
  if (other || at.kept.firstChild) at.kept.replaceChildren(...(other ? phrase(same ? (other.id === run.id ? "kept.this" : "kept") : "kept.other", { text: isolated(other.output) }) : []));
}

at.keep.onclick = () => { if (run && run.done) { other = run; paint("layout"); } };
at.compare.onchange = () => { view.compare = at.compare.value; hideTip(); paint("layout"); };
