/* The side: candidates, numbers of the step in view, the probability of the whole, and its course over steps. */

const best = [];    // the ten candidate lines and one for a chosen token outside the ten
const facts = {};   // label -> dd

function buildSide() {
  at.side.append(make("h4", "", word("side.best")));
  for (let i = 0; i < 11; i++) {
    const line = make("div", "ts-best"), tick = make("span"), text = make("bdi"), track = make("span", "ts-track"), bar = make("i"), p = make("b");
    text.dir = "auto";
    track.append(bar);
    line.append(tick, text, track, p);
    at.side.append(line);
    best.push({ line, tick, text, bar, p });
  }
  const list = make("dl", "ts-facts");
  for (const name of ["logprob", "total", "entropy", "encoder", "decoder", "self", "cross"]) {
    facts[name] = make("dd");
    list.append(make("dt", "", word("side." + name)), facts[name]);
  }
  facts.notes = make("div", "ts-rownotes");
  facts.product = make("div", "ts-product");
  facts.product.append(make("div"));
  facts.lines = make("div", "ts-lines");
  at.side.append(list, facts.notes, productTitle(), facts.product, facts.lines);
  ((window.twoStacks ||= {}).tables ||= []).push({ at: facts.lines, table: courseTable });
}

/** What the lines draw, a step a row. */
const course = [["side.chosen", (row) => shown(row.t[0])], ["side.surprise", (row) => signed(-row.lp, 3)], ["side.uncertain", (row) => row.H.toFixed(3)]];
const courseTable = () => ({ title: word("side.lines"), corner: word("table.step"), columns: course.map(([name]) => word(name)), rows: (run ? run.rows : []).map((_, t) => String(t + 1)), cell: (t, j) => course[j][1](run.rows[t]) });

function drawSide() {
  const row = run.rows[view.step - 1];
  const lines = row ? row.top.slice(0, 10) : [];
  if (row && !lines.some((c) => c[1] === row.t[1])) lines.push([row.t[0], row.t[1], row.lp]);
  best.forEach(({ line, tick, text, bar, p }, i) => {
    const c = lines[i], chosen = c && c[1] === row.t[1];
    line.style.visibility = c ? "visible" : "hidden";
    line.hidden = i === 10 && !c;
    line.classList.toggle("ts-chosen", !!chosen);
    if (!c) return;
    const probability = Math.exp(c[2]);
    write(tick, chosen ? "✓" : "");
    tick.title = chosen ? word("side.chosen") : "";
    write(text, shown(c[0]));
    line.title = word(chosen ? "side.candidate.chosen" : "side.candidate", { text: shown(c[0]), id: c[1], logprob: signed(c[2], 3) });
    bar.style.transform = "scaleX(" + Math.max(0.01, Math.min(1, probability)) + ")";
    write(p, digits(probability));
  });
  const total = run.rows.slice(0, view.step).reduce((sum, r) => sum + r.lp, 0);
  write(facts.logprob, row ? signed(row.lp, 3) : "–");
  write(facts.total, row ? signed(total, 3) : "–");
  write(facts.entropy, row ? word("side.nats", { x: row.H.toFixed(3) }) : "–");
  write(facts.encoder, plural("times", 1));
  write(facts.decoder, plural("times", view.step));
  ["self", "cross"].forEach((name, i) => {
    write(facts[name], row ? bytes(row.kv[i]) : "–");
    facts[name].title = row ? word("side.bytes", { n: row.kv[i] }) : "";
  });
  const notes = (row && row.notes) || [];
  if (notes.length || facts.notes.firstChild) facts.notes.replaceChildren(...notes.map((note) => make("div", "", note)));
  drawProduct(total);
  drawLines();
}

function productTitle() {
  const title = make("h4", "", "P(y | x) = Π P(y");
  title.append(make("sub", "", "t"), " | y", make("sub", "", "<t"), ", x)");
  return title;
}

/** The probability of what is written, as the product that it is. Its last line is in view (css turns the column over). */
function drawProduct(total) {
  const factors = run.rows.slice(0, view.step).map((row) => digits(Math.exp(row.lp)));
  write(facts.product.firstChild, factors.length ? factors.join(" · ") + " = " + scientific(Math.exp(total)) : "–");
}

/** 0.0105, or 3.21 · 10⁻⁷. */
const scientific = (x) => (x >= 0.001 ? x.toFixed(4) : x.toExponential(2).replace(/e-(\d+)/, (_, power) => " · 10⁻" + power.replace(/\d/g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).replace("0.00e+0", "0"));

const lines = { key: "", cursor: null, x: null };

/** −log P of the chosen token and entropy over all steps, in nats. Built once for the rows there are; a step moves the cursor. */
function drawLines() {
  const key = run.id + "," + run.rows.length;
  if (lines.key !== key) fillLines(key);
  lines.cursor.hidden = !view.step;
  lines.cursor.style.transform = "translateX(" + lines.x(view.step - 1) / 3 + "%)";
}

function fillLines(key) {
  const m = run.rows.length, width = 300, height = 92, top = Math.max(1, ...run.rows.flatMap((row) => [-row.lp, row.H]));
  const x = (t) => 26 + (m > 1 ? (t * (width - 34)) / (m - 1) : 0), y = (v) => height - 16 - (v / top) * (height - 30);
  const picture = shape("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": word("side.lines") });
  for (const value of [0, top / 2, top]) {
    picture.append(shape("line", { x1: 26, x2: width - 8, y1: y(value), y2: y(value), class: "ts-rule" }), shape("text", { x: 22, y: y(value) + 3, class: "ts-tick" }, value.toFixed(1)));
  }
  for (const [name, of] of [["surprise", (row) => -row.lp], ["entropy", (row) => row.H]]) {
    picture.append(shape("polyline", { points: run.rows.map((row, t) => x(t).toFixed(1) + "," + y(of(row)).toFixed(1)).join(" "), class: "ts-line-" + name }));
  }
  const cursor = make("i", "ts-cursor"), frame = make("div", "ts-course");   // the cursor lies over the picture: moving it draws nothing again
  frame.append(picture, cursor);
  picture.onclick = (event) => { const box = picture.getBoundingClientRect(); show(1 + ((((event.clientX - box.left) / box.width) * width - 26) * (m - 1)) / (width - 34), true); };
  const legend = make("div", "ts-key");
  legend.append(make("i", "ts-key-surprise"), word("side.surprise"), make("i", "ts-key-entropy"), word("side.uncertain"));
  facts.lines.replaceChildren(frame, legend);
  Object.assign(lines, { key, cursor, x });
}
