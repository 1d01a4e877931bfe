/* What one node's forward gave: why it is there, the candidates of its row, what it read of the source, and the whole path as a heatmap. */

const CELL = 17;

function fact(label, value, title) {
  const node = make("span", "bt-fact");
  node.append(make("span", "bt-quiet", label + " "), make("b", "", value));
  if (title) node.title = title;
  return node;
}

function candidates(n) {
  const node = search.nodes[n], step = search.steps[node.step], rows = (step.top[fedOf(n)] || []).slice(0, 8), table = make("div", "bt-candidates");
  if (!rows.some(([, id]) => id === node.id)) rows.push([node.text, node.id, node.lp]);
  for (const [text, id, lp] of rows) {
    const row = make("div", "bt-candidate" + (id === node.id ? " bt-here" : "")), track = make("span", "bt-track"), fill = make("i");
    fill.style.width = 100 * Math.exp(lp) + "%";
    track.append(fill);
    const name = make("span", "bt-name");
    name.append(isolated(text));
    row.append(name, track, make("span", "bt-number", percent(lp)));
    table.append(row);
  }
  return table;
}

function sourceChips(n) {
  const chips = make("div", "bt-chips"), weights = attention(n), most = Math.max(...weights, 1e-6);
  search.source.forEach(([text], k) => {
    const chip = isolated(text);
    chip.className = "bt-chip";
    chip.style.background = "color-mix(in srgb,var(--ts-bar) " + (45 * weights[k] / most).toFixed(1) + "%,transparent)";
    chip.title = digits(weights[k]);
    chips.append(chip);
  });
  return chips;
}

/** Rows of a path over the source: one pixel a cell, drawn large by the page. */
function heatmap(path) {
  const columns = search.source.length, canvas = document.createElement("canvas"), grid = make("div", "bt-heat"), paint = canvas.getContext("2d");
  canvas.width = columns; canvas.height = path.length;
  canvas.style.width = CELL * columns + "px"; canvas.style.height = CELL * path.length + "px";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", word("heatmap"));
  paint.fillStyle = view.dark ? PALETTE.sky : PALETTE.blue;
  path.forEach((n, row) => attention(n).forEach((weight, column) => {
    paint.globalAlpha = Math.min(1, weight);
    paint.fillRect(column, row, 1, 1);
  }));
  const tops = make("div", "bt-tops"), sides = make("div", "bt-sides");
  tops.append(...search.source.map(([text]) => { const top = make("span"); top.append(isolated(fitted(shown(text), 78))); return top; }));
  sides.append(...path.map((n) => { const side = make("span"); side.append(isolated(fitted(shown(search.nodes[n].text), 110))); return side; }));
  canvas.onpointermove = (event) => {
    const column = Math.floor(event.offsetX / CELL), row = Math.floor(event.offsetY / CELL);
    if (row < path.length && column < columns && row >= 0 && column >= 0)
      showTip(event, [word("cell", { row: shown(search.nodes[path[row]].text), column: shown(search.source[column][0]) }), digits(attention(path[row])[column])]);
  };
  canvas.onpointerleave = hideTip;
  grid.append(make("span"), tops, sides, canvas);
  const scroll = make("div", "bt-scroll");
  scroll.append(grid);
  scroll.tabIndex = 0;
  ((window.twoStacks ||= {}).tables ||= []).push({ at: scroll, table: () => ({ title: word("heatmap"), rows: path.map((n) => search.nodes[n].text), columns: search.source.map(([text]) => text), cell: (i, j) => digits(attention(path[i])[j]) }) });
  return scroll;
}

function drawNode() {
  if (view.node < 0) { at.node.replaceChildren(make("p", "bt-quiet", word("pick"))); return; }
  const n = view.node, node = search.nodes[n], path = pathOf(n), title = make("h4"), facts = make("p", "bt-facts"), said = make("p", "bt-said");
  title.append(...phrase("node", { step: node.step + 1, text: isolated(node.text) }));
  const words = make("bdi", "bt-words", textOf(n));
  said.append(words);
  facts.append(fact("P", percent(node.lp)), fact(word("fact.total"), fixed(node.total)), fact("m", String(node.step + 1)),
    fact(word("fact.score"), fixed(node.score), word("fact.score.title")), fact(word("fact.entropy"), search.steps[node.step].entropy[fedOf(n)].toFixed(2) + " nats"));
  const parts = [title, said, make("p", "bt-reason" + (pruned(n) ? " bt-out" : ""), reason(n)), facts];
  if (!ended(n) && search.ranking.length) {
    const go = make("button", "ts-text-button bt-go", word("go"));
    go.type = "button";
    go.title = word("go.title");
    go.onclick = () => trigger("branch", { ids: path.map((k) => search.nodes[k].id) });
    parts.push(go);
  }
  parts.push(make("h5", "", word("candidates")), candidates(n));
  if (attention(n).length === search.source.length)
    parts.push(make("h5", "", word(search.head ? "reads.head" : "reads", search.head ? { layer: search.head[0] + 1, head: search.head[1] + 1 } : { layers: search.shape[0], heads: search.shape[1] })),
      sourceChips(n), heatmap(path));
  at.node.replaceChildren(...parts);
}
