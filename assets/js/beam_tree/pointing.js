/* Mouse and keys on the tree: hover says why, a click picks, arrows walk along parents, children and ranks. */

function showTip(event, lines) {
  const box = at.root.getBoundingClientRect(), zoom = at.root.currentCSSZoom || 1;   // of projector mode
  at.tip.replaceChildren(make("strong", "", lines[lines.length - 1]), ...lines.slice(0, -1).map((line) => make("div", "", line)));
  at.tip.style.display = "block";
  const x = Math.min((event.clientX - box.left) / zoom + 14, box.width / zoom - at.tip.offsetWidth - 8), y = (event.clientY - box.top) / zoom + 16;
  at.tip.style.transform = "translate(" + Math.max(4, x) + "px," + y + "px)";
}

const hideTip = () => { at.tip.style.display = "none"; };

function hover(event) {
  const group = event.target.closest("[data-node], [data-fold]");
  if (!group) { hideTip(); return; }
  if (group.dataset.fold !== undefined) { showTip(event, [word("fold.open"), group.getAttribute("aria-label")]); return; }
  const n = +group.dataset.node, node = search.nodes[n];
  showTip(event, [textOf(n), reason(n), word("tip", { share: percent(node.lp), total: fixed(node.total), m: node.step + 1, score: fixed(node.score) }), shown(node.text)]);
}

/** Picks a node; `follow` scrolls it into view and shows its step. */
function choose(n, follow) {
  view.node = n;
  if (n >= 0 && search.nodes[n].step >= view.upto) show(search.nodes[n].step + 1); else { drawTree(); drawNode(); }
  drawRanking();
  const place = placed.places.get(n);
  if (!follow || !place) return;
  if (place.x < at.stage.scrollLeft || place.x + BOX > at.stage.scrollLeft + at.stage.clientWidth) at.stage.scrollLeft = place.x - at.stage.clientWidth / 2;
}

function pickAt(event) {
  const group = event.target.closest("[data-node], [data-fold]");
  if (!group) return;
  if (group.dataset.fold !== undefined) { view.open.add(+group.dataset.fold); drawTree(); return; }
  choose(+group.dataset.node === view.node ? -1 : +group.dataset.node);
}

/** The node beside the picked one. */
function beside(key) {
  const n = view.node, node = search.nodes[n], column = [...placed.places.keys()].filter((k) => search.nodes[k].step === node.step), here = column.indexOf(n);
  if (key === "ArrowUp") return column[here - 1] ?? n;
  if (key === "ArrowDown") return column[here + 1] ?? n;
  if (key === "ArrowLeft") return node.parent >= 0 ? node.parent : n;
  return search.children[n][0] ?? n;
}

function press(event) {
  if (!search || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  if (key === "Escape") choose(-1);
  else if (key === "[" || key === "PageUp") show(view.upto - 1);
  else if (key === "]" || key === "PageDown") show(view.upto + 1);
  else if (key === " ") play();
  else if (key === "Home") choose(pathOf(search.best)[0], true);
  else if (key === "End") choose(search.best, true);
  else if (key.startsWith("Arrow")) choose(view.node < 0 ? pathOf(search.best).find((n) => search.nodes[n].step < view.upto) ?? -1 : beside(key), true);
  else return;
  event.preventDefault();
}
