/* One card: the formula, what it says, the same with numbers, what can be moved, pictures, shapes, and what it is tested against. */

/** A formula too wide for its card scrolls in it: by key, too. */
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0; else target.removeAttribute("tabindex");
  }
});

function cardOf(one) {
  const card = { ...one, shapes_: one.shapes, sizes: {}, node: make("article", "fc-card"), formula: make("div", "fc-math"), line: make("div", "fc-math fc-numbers"), said: make("p", "fc-said"),
    note: make("p", "fc-note"), pictures: [], shelf: make("div", "fc-pictures"), moved: {}, controls: make("div", "fc-controls"), hidden: false };
  card.node.dataset.card = one.id;
  card.node.id = "ts-card-" + one.id.replace(".", "-");
  const head = make("h4", "", word("title." + one.id));
  head.tabIndex = -1;
  card.formula.append(math(one.math));
  const line = one.numbers && math(one.numbers);
  card.places = line ? placesOf(line) : new Map();
  card.line.append(line || "");
  if (line) card.line.tabIndex = 0;   // its numbers change, and with them whether it scrolls
  widths.observe(card.formula);
  card.said.setAttribute("aria-live", "polite");
  const foot = make("details", "fc-foot"), shapes = make("p", "fc-shapes"), made = make("p");
  card.shapes = shapes;
  made.append(word("made"), " ", make("code", "", one.at.replace(":", ".")), ". ", word("tested", { reference: one.reference }));
  foot.append(make("summary", "", word("code")), made);
  const clash = make("p", "fc-clash"), sources = make("p", "fc-quiet");
  if (one.note) { clash.setAttribute("role", "note"); clash.append(make("b", "", word("clash")), " ", word("clash." + one.id)); }
  if (one.stands) sources.textContent = word("sources", { places: one.stands.map(placeOf).join(" · ") });
  card.node.append(head, make("p", "fc-meaning", word("meaning." + one.id)), card.formula, clash, card.said, card.line, card.controls, card.note, card.shelf);
  if (one.dials && one.dials.length) card.node.append(moverOf(card));
  card.node.append(shapes, sources, foot);
  shapes.append(...shapesOf(card));
  card.line.hidden = card.controls.hidden = true;
  listen(card);
  card.said.hidden = !card.symbols.length;
  dark(card);
  controlsOf(card);
  cards.set(one.id, card);
  return card;
}

/** New numbers: values, pictures, the note. What was moved starts again where the model has it. */
function fed(card, given, sizes) {
  card.given = given;
  card.sizes = sizes;
  const has = Object.keys(given.values).length > 0;
  card.line.hidden = !has;
  card.controls.hidden = !has || (card.moves.includes("root") && !given.data.scores);   // a long text does not travel whole
  fill(card.places, given.values);
  card.pictures = given.panels.map((panel) => picture(panel, card));
  card.shelf.replaceChildren(...card.pictures.map((made) => made.node));
  write(card.note, given.note ? word("note." + given.note[0], Object.fromEntries(Object.entries(given.note[1]).map(([key, x]) => [key, shown(x)]))) : "");
  card.shapes.replaceChildren(...shapesOf(card));
  startControls(card);
}

function shapesOf(card) {
  const sized = (axis) => (card.sizes[axis] ? axis + " " + card.sizes[axis] : axis);
  return [word("shapes") + " ", ...card.shapes_.flatMap(([name, axes], k) => [k ? " · " : "", make("b", "", name), " " + (axes.length ? "(" + axes.map(sized).join(", ") + ")" : word("single"))])];
}
