/* The tree as far as it is in view, to take away: SVG and PNG on white, CSV of all its nodes. */

const INKS = { "bt-best": PALETTE.vermilion, "bt-ended": "#007a56", "bt-kept": PALETTE.blue, "bt-pruned": "#8a93a1" };

function treePicture() {
  const { places, folds, width, height } = layout(), last = view.upto >= search.steps.length ? search.best : bestOf(view.upto - 1), best = new Set(pathOf(last));
  const wide = Math.max(width, 560), out = sheetOf(wide, height + 30), card = (x, y, ink, text, share, gone) => {
    const group = shape("g", { transform: "translate(" + x + "," + y + ")" });
    group.append(shape("rect", { width: BOX, height: HIGH, rx: 5, fill: "#fff", stroke: ink, "stroke-width": gone ? 1 : 1.6, ...(gone ? { "stroke-dasharray": "3 3" } : {}) }),
      shape("text", { x: 6, y: 15, fill: gone ? "#6b7280" : "#111", ...(gone ? { "text-decoration": "line-through" } : {}) }, fitted(text, BOX - 50)),
      shape("text", { x: BOX - 5, y: 15, "text-anchor": "end", "font-size": 10.5, fill: "#555" }, share));
    return group;
  };
  const edges = [], boxes = [card(LEFT, TOP, INKS["bt-kept"], shown(search.start[0]), "")];
  for (const place of places.values()) {
    const node = search.nodes[place.n], kind = kindOf(place.n, best), from = node.parent < 0 ? { x: LEFT, y: TOP } : places.get(node.parent), order = search.ranking.findIndex((one) => one.node === place.n);
    if (from) edges.push(shape("path", { d: edge(from, place, kind).getAttribute("d"), fill: "none", stroke: INKS[kind], "stroke-width": kind === "bt-best" ? 2.4 : 1.2, "stroke-opacity": kind === "bt-pruned" ? 0.5 : 0.9 }));
    boxes.push(card(place.x, place.y, INKS[kind], shown(node.text), order >= 0 ? "#" + (order + 1) : percent(node.lp).replace(" ", ""), kind === "bt-pruned"));
  }
  const more = folds.map((fold) => card(fold.x, fold.y, INKS["bt-pruned"], "+" + fold.nodes.length, "", false));
  const heads = Array.from({ length: view.upto }, (_, k) => shape("text", { x: LEFT + COLUMN * (k + 1) + BOX / 2, y: 15, "text-anchor": "middle", "font-size": 11, fill: "#555" }, String(k + 1)));
  out.append(...heads, ...edges, ...boxes, ...more, shape("text", { x: 8, y: height + 18, fill: "#555" }, search.about));
  return { text: new XMLSerializer().serializeToString(out), width: wide, height: height + 30 };
}

function treeCsv() {
  const names = ["node", "parent", "step", "row", "token", "id", "logprob", "total", "score", "fate", "rank", "text"];
  const lines = search.nodes.map((node, n) => [n, node.parent < 0 ? "" : node.parent, node.step + 1, node.row, csvField(node.text), node.id, node.lp, node.total, node.score,
    FATES[search.fates[n]], search.ranking.findIndex((one) => one.node === n) + 1 || "", csvField(textOf(n))].join(","));
  return ["# " + search.about + "; run " + search.run, names.join(","), ...lines].join("\r\n") + "\r\n";
}

takenAway(() => (search && search.nodes.length ? "tree-" + search.run.slice(0, 8) : ""), treePicture, treeCsv);
