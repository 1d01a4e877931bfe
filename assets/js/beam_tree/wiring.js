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

const hooks = { search: () => search, view: () => view, both, choose, show };
at.root.twoStacks = hooks;
(window.twoStacks ||= {}).beamTree = hooks;
watchTheme(view, () => { if (search) drawNode(); });
receive();
watch("value", receive);
