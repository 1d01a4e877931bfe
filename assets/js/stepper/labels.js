/* The parts that change with the run, not with the step. */

/** Chips of the source: always one a token. */
function fillSource() {
  at.source.replaceChildren(); at.output.replaceChildren();
  at.output.classList.add("ts-output");
  run.source.forEach((token, i) => at.source.append(chip(token, special("source", i), word(i < run.prefix ? "chip.prefix" : "chip.source", { k: i + 1 }))));
  at.about.textContent = run.about || "";
}

function chip(token, dim, place) {
  const node = make("span", "ts-chip" + (dim ? " ts-dim" : ""), shown(token[0]));
  node.dir = "auto";
  const covers = token[2] < token[3] ? [word("chip.characters", { from: token[2], to: token[3] })] : [];
  node.title = [shown(token[0]), place, word("chip.id", { id: token[1] }), ...covers].join(" · ");
  return node;
}

/** Chips for rows that have none yet. */
function fillRows() {
  for (let t = at.output.children.length; t < run.rows.length; t++) {
    const node = chip(run.rows[t].t, special("output", t), word("chip.step", { k: t + 1 }));
    node.dataset.row = t;
    addGloss(node, run.rows[t].t);
    at.output.append(node);
  }
}

/** What the word that begins with this token means, under it: saved runs bring it along, written by hand. */
function addGloss(node, token) {
  const found = run.gloss.find(([start]) => start === token[2] && token[2] < token[3]);
  if (found) node.append(make("small", "ts-gloss", found[2]));
}

const axisName = (axis) => word("axis." + (axis === "blocks" ? "source" : axis));

/** Where the tokens of a label stand, from 1: "5", "5, 6", "5–8". */
function places({ tokens }) {
  const [from, to] = [tokens[0] + 1, tokens[tokens.length - 1] + 1];
  return tokens.length > 3 && to - from === tokens.length - 1 ? from + "–" + to : tokens.map((k) => k + 1).join(", ");
}

/** Pages of a source with more labels than are drawn one by one; first of all it is shown whole, in blocks. */
function fillPages() {
  const long = axisOf("columns") === "source" && run.source.length > MOST, count = long ? grouping("source").length : 0, key = [run.id, count].join();
  at.pages.hidden = count <= MOST;
  if (at.page.filled === key) return;
  at.page.filled = key;
  if (view.page * MOST >= count) view.page = -1;
  at.page.replaceChildren(...Array.from({ length: Math.ceil(count / MOST) + 1 }, (_, i) => {
    const option = make("option", "", i ? (i - 1) * MOST + 1 + "–" + Math.min(count, i * MOST) : word("page.all", { size: blockSize(count) }));
    option.value = i - 1;
    return option;
  }));
  at.page.value = view.page;
}

/** How the columns of a long source are made, in words. */
function blocksName() {
  const axis = axisOf("columns"), kind = view.words && axis === "source" ? "words" : "tokens", count = axis === "source" ? grouping(axis).length : 0;
  if (axis === "blocks") return word(view.map === "encoder" ? "blocks.encoder" : "blocks", { size: run.block });
  if (count <= MOST) return "";
  return view.page < 0 ? word("blocks." + kind, { size: blockSize(count) }) : word("page." + kind, { from: view.page * MOST + 1, to: Math.min(count, (view.page + 1) * MOST), count });
}

/** The labels of both axes, when the axes are others than those on the page. */
function fillAxes() {
  const { key, columns, rows } = axes();
  if (grid.axes === key) return;
  grid.axes = key;
  const filled = (list, name, axis, groups) => list.replaceChildren(...groups.map((group, i) => {
    const node = make("span", name + (group.dim || group.kept ? " ts-dim" : ""), shown(group.text)), first = tokensOf(axis)[group.members[0]] || ["", 0, 0, 0];
    node.dir = "auto";
    node.dataset.group = i;
    const meant = axis === "output" || axis === "fed" ? run.gloss.find(([start, end]) => first[2] < first[3] && first[2] >= start && first[3] <= end) : null;
    const id = group.tokens.length > 1 ? [] : [word("chip.id", { id: first[1] })], meaning = meant ? [word("gloss", { text: meant[2] })] : [];
    node.title = [shown(group.text), axisName(axis) + " " + places(group), ...id, ...meaning].join(" · ");
    return node;
  }));
  filled(at.cols, "ts-col", axisOf("columns"), columns);
  filled(at.rows, "ts-rowlabel", axisOf("rows"), rows);
  at.corner.replaceChildren(make("span", "", axisName(axisOf("columns")) + " →"), make("span", "", axisName(axisOf("rows")) + " ↓"));
  view.column = view.pinned = -1;
  at.cols.covered = "";
}

/** Cross-attention is first shown in the head that the model names as the one that follows words best, until a person has chosen. */
function pointAtBest() {
  const best = view.map === "cross" && run.best && run.best.every((n, i) => n < run.shapes.cross[i]) ? run.best.map((n) => String(n + 1)) : ["mean", "mean"];
  [view.layer, view.head] = best;
}

const isBest = () => view.map === "cross" && !!run.best && view.layer === String(run.best[0] + 1) && view.head === String(run.best[1] + 1);

/** What can be picked for the map in view; a choice that it does not have becomes the mean. */
function fillPickers() {
  if (!view.chosen) pointAtBest();
  const [layers, heads] = run.shapes[view.map], rolls = view.map === "decoder" || (run.shapes.encoder[0] > 0 && !run.blocked.includes("encoder"));   // blocks of weights do not multiply
  for (const option of at.map.options) option.disabled = !run.shapes[option.value][0];
  for (const [select, count, kind] of [[at.layer, layers, "layer"], [at.head, heads, "head"]]) {
    select.replaceChildren();
    const reductions = ["mean", "max", ...(kind === "layer" && rolls ? ["rollout"] : [])].map((how) => [how, word("all." + how)]);
    for (const [value, text] of [...reductions, ...Array.from({ length: count }, (_, i) => [String(i + 1), String(i + 1)])]) {
      const option = make("option", "", text);
      option.value = value;
      select.append(option);
    }
    if (!Array.from(select.options).some((option) => option.value === view[kind])) view[kind] = "mean";
    select.value = view[kind];
  }
}
