/* What arrives, and the buttons. */

function receive() {
  const pack = valueSent();
  if (!pack) return;
  at.root.dataset.kind = pack.kind;
  write(at.refusal, pack.kind === "refused" ? pack.text : "");
  write(at.state, pack.kind === "progress" ? pack.text : "");
  if (pack.kind === "first") {
    trials = pack.rows.map(completed);
    drawSettings();
    if (!pack.found) return;
    found = pack.found;   // two recorded rows; nothing is asked of the server before somebody chooses
    drawFound();
  }
  if (pack.kind !== "compared") return;
  found = pack;
  drawFound();
  askTwo();
}

at.add.onclick = () => { trials.push({ ...(trials[trials.length - 1] || completed({})) }); drawSettings(); };
at.compare.onclick = () => { write(at.state, word("running")); trigger("compare", { rows: trials.map(asked) }); };
at.csv.onclick = () => downloadCsv("settings", csvText());
at.root.twoStacks = { trials: () => trials, found: () => found };
receive();
watch("value", receive);
