/* Every text with its scores: sorted by a click on a head, filtered by a word, opened by a click. */

const columns = () => ["line", ...Object.keys(view.report.rows[0].values)];

function rows() {
  const wanted = view.filter.toLowerCase(), { sort, down } = view;
  const value = (row) => (sort === "line" ? row.line : row.values[sort] ?? -1);
  return view.report.rows
    .filter((row) => !wanted || [row.output, ...row.references].some((text) => (text || "").toLowerCase().includes(wanted)))
    .sort((a, b) => (value(a) - value(b)) * (down ? -1 : 1) || a.line - b.line);
}

function textRow(row) {
  const node = make("tr", row.line === view.line ? "sc-picked" : ""), first = make("td"), pick = make("button", "sc-pick", String(row.line)), said = make("td", "sc-said");
  pick.type = "button";
  pick.title = word("pick");
  pick.setAttribute("aria-pressed", row.line === view.line);
  node.onclick = () => choose(row.line);
  first.append(pick);
  const output = make("div"), references = make("div", "sc-quiet");
  output.append(isolated(row.output));
  references.append(...row.references.filter((text) => text !== null).flatMap((text, k) => (k ? [" · ", isolated(text)] : [isolated(text)])));
  said.append(output, references);
  const values = Object.entries(row.values).map(([name, value]) => make("td", "sc-value", figure(value, named(name) || { unit: name.startsWith("ROUGE") ? "0..1" : "" })));
  node.append(first, said, ...values);
  node.dataset.line = row.line;
  return node;
}

function choose(line) {
  view.line = line;
  for (const node of at.texts.children) {
    node.classList.toggle("sc-picked", +node.dataset.line === line);
    node.querySelector("button").setAttribute("aria-pressed", +node.dataset.line === line);
  }
  trigger("pick", { line });
}

function drawTexts() {
  const found = rows(), [line, ...scores] = columns().map((name) => head(name === "line" ? "#" : name, name, word("sort")));
  at.heads.replaceChildren(line, make("th", "", word("text")), ...scores);
  at.texts.replaceChildren(...found.slice(0, view.shown).map(textRow));
  at.more.hidden = found.length <= view.shown;
  write(at.count, word("count", { n: found.length, of: view.report.rows.length }));
}
