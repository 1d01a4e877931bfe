/* What arrives, and the controls. */

const clock = (s) => (s < 90 ? word("seconds", { n: Math.max(1, Math.round(s)) }) : word("minutes", { n: Math.round(s / 60) }));

function progress(pack) {
  const scoring = pack.scored !== undefined;
  at.progress.hidden = pack.done === undefined && !scoring;
  if (scoring) { at.progress.value = pack.scored; write(at.state, word(pack.scored < 1 ? "scoring" : "testing", { share: Math.round(100 * pack.scored) })); return; }
  if (pack.done === undefined) { write(at.state, pack.text); return; }
  at.progress.value = pack.done / pack.of;
  write(at.state, pack.left === null ? word("begun", { of: pack.of }) : word("written", { n: pack.done, of: pack.of, left: clock(pack.left) }));
  if (!pack.done) Object.assign(view, { pack: null, rows: [], sort: "line", down: false, shown: PAGE });
  view.rows = [...view.rows, ...pack.rows];
  at.body.hidden = !view.rows.length;
  at.body.classList.add("ct-growing");
  drawTexts();
}

function measuresOffered() {
  at.measure.replaceChildren(...view.pack.measures.map((one) => Object.assign(make("option", "", one.name + (one.unit ? " (" + one.unit.replace("..", "–") + ")" : "") + (one.lower ? " ↓" : "")), { value: one.name })));
  if (!measure()) view.measure = view.pack.measures[0].name;
  at.measure.value = view.measure;
}

function receive() {
  const pack = valueSent();
  at.root.hidden = !pack;
  if (!pack) return;
  at.root.dataset.kind = pack.kind;
  write(at.refusal, pack.kind === "refused" ? pack.text : "");
  if (pack.kind === "progress") { progress(pack); return; }
  write(at.state, "");
  at.progress.hidden = true;
  if (pack.kind !== "corpus") return;
  Object.assign(view, { pack, rows: pack.rows });
  at.body.hidden = false;
  at.body.classList.remove("ct-growing");
  measuresOffered();
  drawScores();
  drawTexts();
}

at.measure.onchange = () => { view.measure = at.measure.value; drawTexts(); };
at.filter.oninput = () => { view.filter = at.filter.value; drawTexts(); };
at.differs.onchange = () => { view.differs = at.differs.checked; drawTexts(); };
at.more.onclick = () => { view.shown += 5 * PAGE; drawTexts(); };
at.root.twoStacks = { view: () => view, rows };
receive();
watch("value", receive);
