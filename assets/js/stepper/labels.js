/* The parts that change with the run, not with the step. */

/** Task prefix and end-of-sequence are drawn dimmed and are never "least covered"; specials have an empty span in the text. */
const special = (i) => i < run.prefix || run.source[i][2] >= run.source[i][3] || (i === run.source.length - 1 && run.source[i][0] === "</s>");

function fillSource() {
  at.source.replaceChildren(); at.cols.replaceChildren(); at.output.replaceChildren(); at.rows.replaceChildren();
  at.output.classList.add("ts-output");
  run.source.forEach((token, i) => {
    for (const [list, name] of [[at.source, "ts-chip"], [at.cols, "ts-col"]]) {
      const node = make("span", name + (special(i) ? " ts-dim" : ""), shown(token[0]));
      node.dir = "auto";
      node.dataset.column = i;
      node.title = shown(token[0]) + " · source " + (i + 1) + (i < run.prefix ? " (task prefix)" : "") + " · id " + token[1];
      list.append(node);
    }
  });
  at.about.textContent = run.about || "";
  at.corner.replaceChildren(make("span", "", "source →"), make("span", "", "output ↓"));
}

/** Chips and row labels for rows that have none yet. */
function fillRows() {
  for (let t = at.rows.children.length; t < run.rows.length; t++) {
    for (const [list, name] of [[at.output, "ts-chip"], [at.rows, "ts-rowlabel"]]) {
      const token = run.rows[t].t, node = make("span", name + (token[2] >= token[3] ? " ts-dim" : ""), shown(token[0]));
      node.dir = "auto";
      node.dataset.row = t;
      node.title = shown(token[0]) + " · step " + (t + 1) + " · id " + token[1];
      list.append(node);
    }
  }
}

function fillPickers() {
  for (const [select, count, kind] of [[at.layer, run.layers, "layer"], [at.head, run.heads, "head"]]) {
    select.replaceChildren();
    for (const [value, text] of [["mean", "mean of all"], ["max", "max of all"], ...Array.from({ length: count }, (_, i) => [String(i + 1), String(i + 1)])]) {
      const option = make("option", "", text);
      option.value = value;
      select.append(option);
    }
    if (!Array.from(select.options).some((option) => option.value === view[kind])) view[kind] = "mean";
    select.value = view[kind];
  }
}

const best = [];    // the ten candidate lines and one for a chosen token outside the ten
const facts = {};   // label -> dd

function buildSide() {
  at.side.append(make("h4", "", "Ten best next tokens"));
  for (let i = 0; i < 11; i++) {
    const line = make("div", "ts-best"), tick = make("span"), text = make("bdi"), track = make("span", "ts-track"), bar = make("i"), p = make("b");
    text.dir = "auto";
    track.append(bar);
    line.append(tick, text, track, p);
    at.side.append(line);
    best.push({ line, tick, text, bar, p });
  }
  const list = make("dl", "ts-facts");
  for (const name of ["log-probability", "log P so far", "entropy", "KV cache, self", "KV cache, cross"]) {
    facts[name] = make("dd");
    list.append(make("dt", "", name), facts[name]);
  }
  facts.notes = make("div", "ts-rownotes");
  at.side.append(list, facts.notes);
}
