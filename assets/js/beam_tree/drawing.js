/* The picture: SVG, a group a node; edges first, so that they lie below. */

const draw = shape;
let placed = null;

const ruler = document.createElement("canvas").getContext("2d");

/** A text cut to so many px. */
function fitted(text, most) {
  const marks = Array.from(text);
  ruler.font = "600 12px " + getComputedStyle(at.root).fontFamily;
  if (ruler.measureText(text).width <= most) return text;
  while (marks.length > 1 && ruler.measureText(marks.join("") + "…").width > most) marks.pop();
  return marks.join("") + "…";
}

function edge(from, to, kind) {
  const x1 = from.x + BOX, y1 = from.y + HIGH / 2, y2 = to.y + HIGH / 2, middle = (x1 + to.x) / 2;
  return draw("path", { d: "M" + [x1, y1] + "C" + [middle, y1, middle, y2, to.x, y2], class: "bt-edge " + kind });
}

/** What a node looks like: on the best path, going on, ended, or pruned. */
function kindOf(n, best) {
  if (best.has(n)) return "bt-best";
  const fate = search.fates[n];
  return fate === FINISHED ? "bt-ended" : fate === KEPT ? "bt-kept" : "bt-pruned";
}

function box(place, best) {
  const node = search.nodes[place.n], order = search.ranking.findIndex((one) => one.node === place.n);
  const group = draw("g", {
    class: "bt-box " + kindOf(place.n, best) + (view.node === place.n ? " bt-picked" : "") + (node.step < search.forced ? " bt-forced" : ""),
    transform: "translate(" + place.x + "," + place.y + ")", role: "treeitem", "data-node": place.n, "aria-level": node.step + 1,
    "aria-selected": view.node === place.n, "aria-label": word("said", { text: shown(node.text), share: percent(node.lp), fate: reason(place.n) }),
  });
  group.append(draw("rect", { width: BOX, height: HIGH, rx: 5 }));
  const label = draw("text", { x: 6, y: 15, class: "bt-token" }, fitted(shown(node.text), BOX - 50));
  const share = draw("text", { x: BOX - 5, y: 15, class: "bt-share" }, order >= 0 ? "#" + (order + 1) : percent(node.lp).replace(" ", ""));
  group.append(label, share);
  return group;
}

function folded(fold) {
  const group = draw("g", { class: "bt-fold", transform: "translate(" + fold.x + "," + fold.y + ")", "data-fold": fold.step, role: "treeitem",
    "aria-label": word("fold", { n: fold.nodes.length, step: fold.step + 1 }) });
  group.append(draw("rect", { width: BOX, height: HIGH, rx: 5 }), draw("text", { x: BOX / 2, y: 15, class: "bt-more" }, "+" + fold.nodes.length));
  return group;
}

function drawTree() {
  const { places, folds, width, height } = (placed = layout());
  const last = view.upto >= search.steps.length ? search.best : bestOf(view.upto - 1), best = new Set(pathOf(last)), picked = new Set(pathOf(view.node));
  const root = { x: LEFT, y: TOP }, edges = [], boxes = [];
  for (const place of places.values()) {
    const parent = search.nodes[place.n].parent, from = parent < 0 ? root : places.get(parent);
    if (from) edges.push([best.has(place.n) ? 2 : picked.has(place.n) ? 1 : 0, edge(from, place, kindOf(place.n, best) + (picked.has(place.n) ? " bt-traced" : ""))]);
    boxes.push(box(place, best));
  }
  edges.sort((a, b) => a[0] - b[0]);
  const start = draw("g", { class: "bt-box bt-kept", transform: "translate(" + [root.x, root.y] + ")" });
  start.append(draw("rect", { width: BOX, height: HIGH, rx: 5 }), draw("text", { x: 6, y: 15, class: "bt-token" }, fitted(shown(search.start[0]), BOX - 12)));
  const heads = Array.from({ length: view.upto }, (_, k) => draw("text", { x: LEFT + COLUMN * (k + 1) + BOX / 2, y: 15, class: "bt-step" }, String(k + 1)));
  heads.unshift(draw("text", { x: LEFT + BOX / 2, y: 15, class: "bt-step" }, word("step")));
  at.tree.setAttribute("width", width);
  at.tree.setAttribute("height", height);
  at.tree.setAttribute("viewBox", "0 0 " + width + " " + height);
  at.tree.replaceChildren(...heads, ...edges.map(([, path]) => path), start, ...boxes, ...folds.map(folded));
}

/** The best hypothesis that goes on after a step. */
const bestOf = (step) => search.nodes.findIndex((node) => node.step === step && node.row === 0);
