/* Steps forward and back, plays. */

function show(upto) {
  view.upto = Math.max(1, Math.min(search.steps.length, upto));
  at.scrub.max = search.steps.length;
  at.scrub.value = view.upto;
  at.scrub.style.setProperty("--ts-done", (search.steps.length > 1 ? (100 * (view.upto - 1)) / (search.steps.length - 1) : 100) + "%");
  at.back.disabled = view.upto <= 1;
  at.forward.disabled = view.upto >= search.steps.length;
  write(at.count, word("count", { step: view.upto, of: search.steps.length, nodes: search.nodes.length }));
  if (view.node >= 0 && search.nodes[view.node].step >= view.upto) view.node = -1;
  drawTree();
  drawNode();
  drawCaches();
  at.stage.scrollLeft = Math.max(0, placed.width - at.stage.clientWidth);
}

function stop() {
  clearInterval(view.playing);
  view.playing = 0;
}

function play() {
  if (view.playing) { stop(); return; }
  if (view.upto >= search.steps.length) show(1);
  view.playing = setInterval(() => {
    if (view.upto >= search.steps.length) stop(); else show(view.upto + 1);
  }, 700);
}
