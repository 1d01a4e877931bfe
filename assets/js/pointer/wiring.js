/* What arrives, the sliders, and the hooks that tests use. */

function headsOffered() {
  at.heads.replaceChildren(...run.heads.map(([kind, layer, head], k) =>
    Object.assign(make("option", "", word("heads." + kind, { layer, head })), { value: String(k) })));
  view.heads = Math.min(view.heads, run.heads.length - 1);
  at.heads.value = String(view.heads);
}

function receive() {
  const pack = valueSent();
  at.root.hidden = !pack;
  if (!pack) return;
  at.root.dataset.kind = pack.kind;
  write(at.refusal, pack.kind === "refused" ? pack.text : "");
  write(at.state, pack.kind === "progress" ? pack.text : "");
  if (pack.kind === "refused") at.body.hidden = true;
  if (pack.kind !== "pointer") return;
  run = pack;
  weights = numbers(pack.weights);
  at.body.hidden = false;
  at.step.max = run.target.length;
  view.step = Math.min(view.step, run.target.length);
  headsOffered();
  write(at.about, word("about", { how: run.about, vocab: run.vocab.toLocaleString("en") }));
  draw();
}

for (const name of ["step", "dial"]) at[name].oninput = () => { view[name] = +at[name].value; draw(); };
at.heads.onchange = () => { view.heads = +at.heads.value; draw(); };
at.root.twoStacks = { run: () => run, view: () => view, mixed, turning };
receive();
watch("value", receive);
