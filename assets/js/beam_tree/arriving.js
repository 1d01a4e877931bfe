/* What the server sends: a whole search, or what has come since; a refusal or progress leaves the picture. */

function added(pack) {
  for (const [parent, step, row, id, lp, total, score, text] of pack.nodes) {
    const n = search.nodes.length;
    search.nodes.push({ parent, step, row, id, lp, total, score, text, own: (parent < 0 ? 0 : search.nodes[parent].own) + lp });
    search.children.push([]);
    if (parent >= 0) search.children[parent].push(n);
  }
  search.steps.push(...pack.steps);
  search.fates = pack.fates;
  search.best = pack.best;
}

function begun(pack) {
  stop();
  search = { nodes: [], children: [], steps: [], fates: [], best: -1, ranking: [], caches: null, stopped: "", notes: [], ...Object.fromEntries(
    ["run", "about", "source", "start", "forced", "beams", "alpha", "head", "shape"].map((name) => [name, pack[name]])) };
  Object.assign(view, { node: -1, open: new Set(), alpha: pack.alpha, beta: 0 });
}

function drawn(pack) {
  if (pack.from === 0) begun(pack);
  else if (!search || pack.run !== search.run || pack.from !== search.nodes.length) return;   // the whole comes at the end
  added(pack);
  if (pack.kind === "tree") Object.assign(search, { ranking: pack.ranking, stopped: pack.stopped, notes: pack.notes, caches: pack.caches });
  if (!search.forced && search.ranking.length)
    freely = { ranking: search.ranking, own: search.nodes[search.ranking[0].node].own, input: search.source.map(([text]) => text).join(" ") };
  write(at.about, search.about);
  write(at.state, [...search.notes, search.stopped].filter(Boolean).join(" "));
  if (pack.kind === "tree") view.node = search.best;
  const seen = pack.view || {};   // of a replay
  Object.assign(view, { alpha: seen.alpha ?? view.alpha, beta: seen.beta ?? view.beta });
  show(seen.upto || search.steps.length);
  drawRanking();
  drawCaches();
  drawBeside();
  if (pack.kind === "tree") at.stage.scrollLeft = 0;
}

function receive() {
  const pack = valueSent();
  at.root.hidden = !pack;
  if (!pack) return;
  at.root.dataset.kind = pack.kind;
  write(at.refusal, pack.kind === "refused" ? pack.text : "");
  if (pack.kind === "progress") write(at.state, pack.text);
  else if (pack.kind !== "refused") drawn(pack);
}
