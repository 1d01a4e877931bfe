/* Small multiples: every head of the map in view at once; a click enlarges one. */

const small = { key: "", known: -1, count: 0, canvases: [] };

/** One canvas a head, one pixel a cell; CSS stretches them. Colours go from 0 to 1 in all, so that heads can be compared. */
function drawMultiples() {
  at.many.hidden = !view.multiples;
  if (!view.multiples) return;
  const [layers, heads] = run.shapes[view.map], key = [axesKey(), layers, heads].join();
  if (small.key !== key) fillMultiples(layers, heads, axes());
  const known = grows() ? view.step : rowsKnown(), { columns } = axes(), rows = groups(axisOf("rows")), count = rows.filter((group) => group.members[0] < known).length;
  if (small.key !== key || small.known !== known) {
    const from = small.key === key ? Math.max(0, Math.min(count, small.count) - 1) : 0;   // the last word may have been unfinished
    for (const { canvas, layer, head } of small.canvases) {
      const context = canvas.getContext("2d");
      context.clearRect(0, from, canvas.width, canvas.height);
      const values = rows.slice(from, count).map(({ members }) => mean(members.filter((t) => t < known).map((t) => merged(reduceRow(view.map, t, layer, head), columns))));
      if (values.length && columns.length) context.putImageData(coloured(values, columns.length, 1), 0, from);
    }
  }
  small.canvases.forEach(({ node, layer, head }) => node.setAttribute("aria-pressed", String(view.layer === layer && view.head === head)));
  Object.assign(small, { key, known, count });
}

const mean = (list) => list[0].map((_, c) => list.reduce((sum, row) => sum + row[c], 0) / list.length);

function fillMultiples(layers, heads, { columns }) {
  const rows = groups(axisOf("rows"));
  small.canvases = [];
  at.many.style.setProperty("--ts-heads", heads);
  at.many.replaceChildren();
  for (let l = 1; l <= layers; l++) {
    for (let h = 1; h <= heads; h++) {
      const node = make("button", "ts-small"), canvas = make("canvas"), name = word("small", { layer: l, head: h });
      node.type = "button";
      canvas.width = Math.max(1, columns.length);
      canvas.height = Math.max(1, rows.length);
      node.title = name;
      node.append(canvas, make("span", "", "L" + l + " H" + h));
      node.onclick = () => { view.chosen = true; view.layer = at.layer.value = String(l); view.head = at.head.value = String(h); paint("", performance.now()); };
      at.many.append(node);
      small.canvases.push({ node, canvas, layer: String(l), head: String(h) });
    }
  }
}
