/* A row for each score, with its interval; what a reader must know below; tests against another system. */

function cell(text, className) {
  const node = make("td", className || "");
  node.append(text);
  return node;
}

function scoreRow(score) {
  const node = make("tr"), title = make("th", "", score.name), value = cell(figure(score.value, score), "sc-value");
  const interval = view.report.intervals.find((one) => one.metric === score.name);
  title.scope = "row";
  node.dataset.score = score.name;
  const unit = cell(score.unit.replace("..", "–"), "sc-quiet");
  if (score.lower_is_better) unit.append(" ", make("abbr", "", "↓"));
  for (const abbr of unit.querySelectorAll("abbr")) abbr.title = word("lower");
  const range = interval ? interval.mean.toFixed(2) + " ± " + interval.half.toFixed(2) : "–";
  const signature = cell(make("code", "", score.signature));
  node.append(title, value, unit, cell(range, "sc-quiet"), cell(score.tokenizer, "sc-quiet"), signature);
  return node;
}

/** Notes of several scores that say the same stand once, with the names of these scores. */
function notes() {
  const said = new Map();
  for (const score of view.report.scores) for (const note of score.notes) said.set(note, [...(said.get(note) || []), score.name]);
  const rows = [...said].map(([note, names]) => make("li", "", names.join(", ") + ": " + note));
  const warnings = new Set([...view.report.intervals, ...view.tests].map((one) => one.warning).filter(Boolean));
  return [...rows, ...[...view.report.left_out, ...warnings].map((note) => make("li", "", note))];
}

function tests() {
  if (!view.tests.length) return [];
  const table = make("table", "sc-tests"), head = make("tr"), body = make("tbody");
  head.append(...["metric", "system", "value", "interval", "verdict", "signature"].map((name) => make("th", "", word("test." + name))));
  for (const one of view.tests) {
    const row = make("tr"), verdict = cell(one.p === null ? word("baseline") : one.identical ? word("identical") : "p = " + one.p.toFixed(4));
    if (one.p !== null && one.p < 0.05) verdict.append(" · ", make("strong", "", word("different")));
    row.append(make("th", "", one.metric), cell(one.system), cell(one.score.toFixed(2), "sc-value"),
      cell(one.mean.toFixed(2) + " ± " + one.half.toFixed(2), "sc-quiet"), verdict, cell(make("code", "", one.signature)));
    body.append(row);
  }
  const top = make("thead"), scroll = make("div", "sc-scroll");
  top.append(head);
  table.append(top, body);
  scroll.append(table);
  scroll.tabIndex = 0;
  return [make("h4", "", word("tests")), scroll];
}

function drawScores() {
  at.scores.replaceChildren(...view.report.scores.map(scoreRow));
  at.notes.replaceChildren(...notes());
  at.tests.replaceChildren(...tests());
}
