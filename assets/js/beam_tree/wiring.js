/* Buttons, sliders, observers, and the hooks that tests use. */

at.back.onclick = () => show(view.upto - 1);
at.forward.onclick = () => show(view.upto + 1);
at.play.onclick = play;
at.scrub.oninput = () => { stop(); show(+at.scrub.value); };
let telling = 0;   // what was moved by hand is kept with the search, once it stands for a moment
for (const name of ["alpha", "beta"]) at[name].oninput = () => {
  view[name] = +at[name].value;
  drawRanking();
  clearTimeout(telling);
  telling = setTimeout(() => trigger("look", { kind: "rank", run: search.run, alpha: view.alpha, beta: view.beta, upto: view.upto }), 700);
};
at.own.onclick = () => { Object.assign(view, { alpha: search.alpha, beta: 0 }); drawRanking(); };
at.tree.addEventListener("pointermove", hover);
at.tree.addEventListener("pointerleave", hideTip);
at.tree.addEventListener("click", pickAt);
at.tree.addEventListener("keydown", press);

/** Every node that is drawn, one a row. */
((window.twoStacks ||= {}).tables ||= []).push({ at: at.stage, table: () => {
  const nodes = search.nodes.map((_, n) => n).filter((n) => search.nodes[n].step < view.upto);
  const facts = [["step", (n) => String(search.nodes[n].step + 1)], ["words", textOf], ["fact.p", (n) => percent(search.nodes[n].lp)], ["fact.total", (n) => fixed(search.nodes[n].total)], ["fact.score", (n) => fixed(search.nodes[n].score)], ["fate", reason]];
  return { title: word("tree.table"), columns: facts.map(([name]) => word(name)), rows: nodes.map((n) => search.nodes[n].text), cell: (i, j) => facts[j][1](nodes[i]) };
} });
const hooks = { search: () => search, view: () => view, both, choose, show };
at.root.twoStacks = hooks;
(window.twoStacks ||= {}).beamTree = hooks;
watchTheme(view, () => { if (search) drawNode(); });
receive();
watch("value", receive);
