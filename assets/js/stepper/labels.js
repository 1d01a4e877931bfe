/* The parts that change with the run, not with the step. */

/** Chips of the source: always one a token. */
function fillSource() {
  at.source.replaceChildren(); at.output.replaceChildren();
  at.output.classList.add("ts-output");
  run.source.forEach((token, i) => at.source.append(chip(token, special("source", i), "source " + (i + 1) + (i < run.prefix ? " (task prefix)" : ""))));
  at.about.textContent = run.about || "";
}

function chip(token, dim, place) {
  const node = make("span", "ts-chip" + (dim ? " ts-dim" : ""), shown(token[0]));
  node.dir = "auto";
  node.title = shown(token[0]) + " · " + place + " · id " + token[1] + (token[2] < token[3] ? " · characters " + token[2] + "–" + token[3] : "");
  return node;
}

/** Chips for rows that have none yet. */
function fillRows() {
  for (let t = at.output.children.length; t < run.rows.length; t++) {
    const node = chip(run.rows[t].t, special("output", t), "step " + (t + 1));
    node.dataset.row = t;
    at.output.append(node);
  }
}

const CORNERS = { source: "source", output: "output", fed: "written so far" };

/** The labels of both axes, when the axes are others than those on the page. */
function fillAxes() {
  const { key, columns, rows } = axes();
  if (grid.axes === key) return;
  grid.axes = key;
  const filled = (list, name, axis, groups) => list.replaceChildren(...groups.map((group, i) => {
    const node = make("span", name + (group.dim || group.kept ? " ts-dim" : ""), shown(group.text)), first = tokensOf(axis)[group.members[0]] || ["", 0, 0, 0];
    node.dir = "auto";
    node.dataset.group = i;
    node.title = shown(group.text) + " · " + CORNERS[axis] + " " + group.members.map((k) => k + 1).join(", ") + (group.members.length > 1 ? "" : " · id " + first[1]);
    return node;
  }));
  filled(at.cols, "ts-col", MAPS[view.map].columns, columns);
  filled(at.rows, "ts-rowlabel", MAPS[view.map].rows, rows);
  at.corner.replaceChildren(make("span", "", CORNERS[MAPS[view.map].columns] + " →"), make("span", "", CORNERS[MAPS[view.map].rows] + " ↓"));
  view.column = view.pinned = -1;
  at.cols.covered = "";
}

/** What can be picked for the map in view; a choice that it does not have becomes the mean. */
function fillPickers() {
  const [layers, heads] = run.shapes[view.map], rolls = view.map === "cross" ? run.shapes.encoder[0] > 0 : true;
  for (const option of at.map.options) option.disabled = !run.shapes[option.value][0];
  for (const [select, count, kind] of [[at.layer, layers, "layer"], [at.head, heads, "head"]]) {
    select.replaceChildren();
    const reductions = [["mean", "mean of all"], ["max", "max of all"], ...(kind === "layer" && rolls ? [["rollout", "rollout"]] : [])];
    for (const [value, text] of [...reductions, ...Array.from({ length: count }, (_, i) => [String(i + 1), String(i + 1)])]) {
      const option = make("option", "", text);
      option.value = value;
      select.append(option);
    }
    if (!Array.from(select.options).some((option) => option.value === view[kind])) view[kind] = "mean";
    select.value = view[kind];
  }
}
