/* One card: the formula, what it says, the same with numbers, what can be moved, pictures, shapes, and what it is tested against. */

function cardOf(one) {
  const card = { ...one, shapes_: one.shapes, sizes: {}, node: make("article", "fc-card"), formula: make("div", "fc-math"), line: make("div", "fc-math fc-numbers"), said: make("p", "fc-said"),
    note: make("p", "fc-note"), pictures: [], shelf: make("div", "fc-pictures"), moved: {}, controls: make("div", "fc-controls"), hidden: false };
  card.node.dataset.card = one.id;
  card.node.id = "ts-card-" + one.id.replace(".", "-");
  const head = make("h4", "", word("title." + one.id));
  card.formula.append(math(one.math));
  const line = math(one.numbers);
  card.places = placesOf(line);
  card.line.append(line);
  card.line.tabIndex = 0;   // it scrolls where it is wider than the card
  card.said.setAttribute("aria-live", "polite");
  const foot = make("details", "fc-foot"), shapes = make("p", "fc-shapes"), made = make("p");
  card.shapes = shapes;
  made.append(word("made"), " ", make("code", "", one.at.replace(":", ".")), ". ", word("tested", { reference: one.reference }));
  foot.append(make("summary", "", word("code")), made);
  card.node.append(head, make("p", "fc-meaning", word("meaning." + one.id)), card.formula, card.said, card.line, card.controls, card.note, card.shelf, shapes, foot);
  listen(card);
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

function lessonHead(lesson) {
  return make("h3", "fc-lesson", word("lesson", { number: lesson, title: word("lesson." + lesson) }));
}

/** All cards in course order, under their lessons. */
function drawCards() {
  let lesson = 0;
  for (const one of course.cards) {
    if (one.lesson !== lesson) at.cards.append(lessonHead(lesson = one.lesson));
    at.cards.append(cardOf(one).node);
  }
}

function shapesOf(card) {
  const sized = (axis) => (card.sizes[axis] ? axis + " " + card.sizes[axis] : axis);
  return [word("shapes") + " ", ...card.shapes_.flatMap(([name, axes], k) => [k ? " · " : "", make("b", "", name), " " + (axes.length ? "(" + axes.map(sized).join(", ") + ")" : word("single"))])];
}
