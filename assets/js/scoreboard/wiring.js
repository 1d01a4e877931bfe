/* What arrives, and the buttons. */

function download(text, type, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = "two-stacks-scores." + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

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
at.csv.onclick = () => download(view.csv, "text/csv;charset=utf-8", "csv");
at.json.onclick = () => download(view.json, "application/json", "json");
at.root.twoStacks = { view: () => view };
receive();
watch("value", receive);
