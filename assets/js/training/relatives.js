/* The encoder-decoder's relatives, a card each: mask, input, objective on one text, and what a few steps of training
 * do. Part of the families' section; it asks for nothing before it is opened. */

const relatives = (() => {
let offered = null;
const part = make("details");
add(part, "summary", "", word("relatives.title"));
add(part, "p", "tr-quiet", word("relatives.about"));
const label = add(part, "label", "tr-text"), box = make("textarea"), row = add(part, "div", "tr-row");
add(label, "span", "", word("relatives.text"));
label.append(box);
Object.assign(box, { rows: 2, maxLength: 4000, dir: "auto" });
box.dataset.tr = "relatives.text";
const seed = slider(row, "relatives.seed", 0, 9, 1, 0);
const textNow = () => (box.value === offered ? "" : box.value);   // while it is the page's source, it follows that
let waiting = false, falls = {};   // falls: family -> where its curve is drawn, and its button to stop
function asked(data) {
  waiting = true;
  failed.textContent = "";
  for (const one of Object.values(falls)) one.halt.hidden = true;   // a newer question ends the older one
  state.textContent = word("asked");
  ask({ text: textNow(), seed: seed.value(), ...data }, true);
}
button(row, "relatives.go", () => asked({ what: "relatives" }), true);
const failed = add(part, "div", "tr-refusal"), state = add(part, "p", "tr-said"), beside = add(part, "div", "tr-card"), cards = add(part, "div");
failed.setAttribute("role", "alert");
state.setAttribute("aria-live", "polite");
beside.hidden = true;

function over() {
  waiting = false;
  state.textContent = "";
}

function keepText(value) {
  if (value.own) offered = box.value = value.text;
}

function drawBeside(value) {
  const one = value.beside;
  beside.hidden = false;
  beside.replaceChildren(make("h4", "", word("relatives.beside")));
  add(beside, "p", "tr-sentence", word("relatives.beside.said", { model: one.model, read: one.read.length, write: one.written.length, hidden: one.hidden, of: one.of, loss: number(one.loss, 3), seed: value.seed }));
  for (const side of ["read", "written"]) {
    const line = add(beside, "p", "tr-pieces");
    add(line, "b", "", word("relatives.beside." + side) + " ");
    for (const text of one[side]) line.append(isolated(text), " ");
  }
  add(beside, "p", "tr-quiet", word("relatives.weights", { vocab: whole(value.rows), even: number(Math.log(value.rows), 3), two: number(Math.log(2), 3) }));
  if (value.alone) add(beside, "p", "tr-quiet", word("relatives.alone"));
  if (value.cut) add(beside, "p", "tr-quiet", word("relatives.cut", { n: value.cut }));
}

/** A loss beside what knowing nothing costs. */
function objective(card, parent, value) {
  add(parent, "h4", "", word("relatives.objective"));
  const named = (key) => word(key === "total" ? "relatives.total." + card.name : "relatives.loss." + key);
  parent.append(table(["loss", "measured", "even", "count"].map((key) => word("relatives." + key)),
    Object.entries(card.losses).filter(([key]) => key !== "total" || Object.keys(card.losses).length > 2).map(([key, loss]) => [named(key), number(loss, 4), card.even[key] === undefined ? "" : number(card.even[key], 4), key === "total" ? "" : String(card.counts[key])])));
  for (const [key, numbers] of card.facts) {
    if (TEXTS[PREFIX + "relatives.fact." + key]) add(parent, "p", "", word("relatives.fact." + key, printed(numbers)));
  }
  add(parent, "p", "tr-quiet", word("relatives.made", { classes: card.classes, seed: value.seed, parameters: whole(card.parameters) }));
  add(parent, "p", "tr-quiet", word("relatives.note." + card.name));
}

const printed = (numbers) => Object.fromEntries(Object.entries(numbers).map(([key, x]) => [key, Number.isInteger(x) ? whole(x) : number(x, Math.abs(x) < 10 ? 4 : 0)]));

function input(card, parent) {
  add(parent, "h4", "", word("relatives.input"));
  add(parent, "p", "tr-pieces", word("relatives.input." + card.name));
  parent.append(table(["part", "shape", "size"].map((key) => word("relatives." + key)), card.parts.map(([name, shape, size]) => [word("relatives.part." + name), shape.map(whole).join(" × "), size === null ? "" : number(size, 4)])));
}

/** Every place of the input with what stands there and what is asked for. */
function placesOf(card) {
  const more = make("details"), names = Object.keys(card.columns);
  add(more, "summary", "", word("relatives.places"));
  const cell = (x) => (x === null ? "" : x === true || x === false ? word(x ? "relatives.yes" : "relatives.no") : typeof x === "number" ? (Number.isInteger(x) ? String(x) : number(x, 3)) : isolated(x));
  const grid = table(["token", ...names].map((key) => word("relatives.column." + key)), card.tokens.map((text, at) => [isolated(text), ...names.map((key) => cell(card.columns[key][at]))]));
  grid.classList.add("tr-tall");
  more.append(grid);
  return more;
}

function drawCard(card, value) {
  const node = add(cards, "section", "tr-card"), one = value.beside;
  node.dataset.family = card.name;
  add(node, "h4", "", word("relatives.name." + card.name));
  add(node, "p", "tr-sentence", word("relatives.line." + card.name, { n: card.tokens.length, k: card.counts[Object.keys(card.losses)[0]], read: one.read.length, write: one.written.length }));
  const columns = add(node, "div", "tr-columns"), left = add(columns, "div"), right = add(columns, "div");
  heat(left, card.mask.flat(), card.tokens, card.tokens.length, { diverging: false, most: 1, title: word("relatives.mask"), columnNames: card.tokens, room: 260 });
  add(left, "p", "", word("relatives.moved", { n: card.changed + 1, moved: card.moved, all: card.tokens.length }));
  if (card.matrix) {
    heat(left, card.matrix.flat(), card.pairs.map((pair) => pair[0]), card.matrix.length, { most: 1, title: word("relatives.cosines"), columnNames: card.pairs.map((pair) => pair[1].slice(0, 13) + "…"), room: 104 });
  }
  objective(card, right, value);
  input(card, right);
  node.append(placesOf(card));
  const under = add(node, "div", "tr-row"), go = add(under, "button", "tr-button", word("relatives.train", { n: value.steps }));
  const halt = button(under, "running.stop", () => trigger("quit", {}));
  halt.hidden = true;
  Object.assign(go, { type: "button", onclick: () => { asked({ what: "fall", name: card.name }); halt.hidden = false; } });
  return { box: add(node, "div", "tr-fall"), halt };
}

function drawAll(value) {
  keepText(value);
  drawBeside(value);
  cards.replaceChildren();
  falls = Object.fromEntries(value.cards.map((card) => [card.name, drawCard(card, value)]));
  over();
}

function drawFall(value) {
  keepText(value);
  over();
  const { box: node, halt } = falls[value.name] || {}, first = value.points[0], last = value.points[value.points.length - 1];
  if (!node) return;
  halt.hidden = value.over;
  if (!value.points.length) return;
  node.replaceChildren();
  lines(node, [{ name: word("relatives.fall.loss"), points: value.points.map((y, x) => [x, y]) }], { height: 180, title: word("relatives.fall"), unit: word("relatives.fall.unit") });
  add(node, "p", "", word("relatives.fall.said", { n: value.points.length - 1, of: value.of, first: number(first, 3), last: number(last, 3), seed: value.seed }));
  if (value.stopped) add(node, "p", "tr-quiet", word("running.stopped", { n: value.points.length - 1 }));
}

/** What is refused here is said here, where one looks. */
function refused(value) {
  state.textContent = "";
  if (!waiting) return;
  waiting = false;
  for (const one of Object.values(falls)) one.halt.hidden = true;
  failed.textContent = value.text;
  refusal.textContent = "";
}

part.ontoggle = () => { if (part.open && !cards.firstChild) asked({ what: "relatives" }); };
return { part, kinds: { relatives: drawAll, fall: drawFall, refused, making: (value) => { state.textContent = word("relatives.making", { name: word("relatives.name." + value.name), n: value.n, of: value.of }); } } };
})();
