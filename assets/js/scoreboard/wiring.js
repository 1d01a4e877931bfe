/* What arrives, and the buttons. */

/** A refusal and progress stand above what was found before, which is then of other texts: it fades. */
function receive() {
  const value = valueSent();
  at.root.hidden = !value;
  if (!value) return;
  at.root.dataset.kind = value.kind;
  at.refusal.textContent = value.kind === "refused" ? value.text : "";
  at.body.classList.toggle("sc-stale", value.kind !== "scored");
  const said = { progress: () => word("progress", { share: Math.round(100 * value.share) }), waiting: () => word("waiting", { n: value.texts }) }[value.kind];
  write(at.state, said ? said() : "");
  if (value.kind !== "scored") return;
  Object.assign(view, { report: JSON.parse(value.json), csv: value.csv, json: value.json, tests: value.tests, shown: PAGE });
  view.line = Math.min(view.line, view.report.rows.length);
  if (!columns().includes(view.sort)) view.sort = "line";
  drawScores();
  drawBleu();
  drawTexts();
}

at.filter.oninput = () => { view.filter = at.filter.value; if (view.report) drawTexts(); };
at.more.onclick = () => { view.shown += 5 * PAGE; drawTexts(); };
at.csv.onclick = () => download("scores.csv", new Blob([view.csv], { type: "text/csv;charset=utf-8" }));
at.json.onclick = () => downloadJson("scores", view.json);
at.root.twoStacks = { view: () => view };
receive();
watch("value", receive);
