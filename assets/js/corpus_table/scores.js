/* A row for each system and score: value, unit, interval, whether it differs from A, how it was made. */

function cell(content, className) {
  const node = make("td", className || "");
  node.append(content);
  return node;
}

const testOf = (system, score) => view.pack.tests.find((one) => one.system === system.name && one.metric === score.name);

function verdict(test) {
  if (!test) return "–";
  if (test.p === null) return view.pack.systems.length > 1 ? word("baseline") : "–";
  return test.identical ? word("identical") : "p = " + test.p.toFixed(4) + (test.p < 0.05 ? " · " + word("different") : "");
}

function scoreRow(system, score, first) {
  const node = make("tr"), test = testOf(system, score), lower = view.pack.measures.find((one) => one.name === score.name);
  const title = make("th", "", first ? system.name : "");
  title.scope = "row";
  node.dataset.score = system.name + " " + score.name;
  node.append(title, cell(first ? system.how : "", "sc-quiet ct-how"), cell(score.name + (lower && lower.lower ? " ↓" : "")), cell(figure(score.value, score.unit === "0..1" ? 4 : 2), "sc-value"),
    cell(score.unit.replace("..", "–"), "sc-quiet"), cell(test && test.half !== null ? test.mean.toFixed(2) + " ± " + test.half.toFixed(2) : "–", "sc-quiet"),
    cell(verdict(test)), cell(make("code", "", (test || score).signature)));
  return node;
}

function drawScores() {
  const pack = view.pack;
  at.scores.replaceChildren(...pack.systems.flatMap((system) => system.scores.map((score, k) => scoreRow(system, score, !k))));
  const said = new Set([...pack.tests.map((one) => one.warning), ...pack.notes, ...pack.systems.flatMap((one) => one.scores.flatMap((score) => score.notes.map((note) => (systems() > 1 ? one.name + " " : "") + score.name + ": " + note)))]);
  at.notes.replaceChildren(...[...said].filter(Boolean).map((note) => make("li", "", note)));
  const same = pack.rows.filter(([, , , outputs]) => new Set(outputs).size === 1).length;
  write(at.sentence, word(systems() > 1 ? "sentence" : "sentence.single", { n: pack.rows.length, model: pack.model, systems: systems(), same, seconds: (pack.made.seconds || 0).toFixed(1), device: pack.made.device + " " + pack.made.dtype }));
}
