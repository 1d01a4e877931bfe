/* The frame, drawn once; and every message: numbers, the tour's numbers, progress, a refusal. */

function frame() {
  const top = make("div", "fc-top"), views = make("div", "fc-views");
  views.setAttribute("role", "group");
  views.setAttribute("aria-label", word("views"));
  at.buttons = {};
  for (const name of ["cards", "tour", "glossary"]) {
    at.buttons[name] = button("fc-view", word("view." + name), () => choose(name));
    views.append(at.buttons[name]);
  }
  at.search = make("input", "fc-search");
  Object.assign(at.search, { type: "search", placeholder: word("search"), maxLength: 200 });
  at.search.setAttribute("aria-label", word("search"));
  at.search.oninput = () => search(at.search.value);
  for (const [name, kind, className] of [["count", "span", "fc-quiet"], ["about", "p", "fc-about"], ["message", "p", "fc-message"], ["cards", "div", "fc-cards"],
    ["tour", "div", "fc-tour"], ["glossary", "div", "fc-glossary"], ["map", "div", "fc-map"], ["progress", "p", "fc-quiet"], ["items", "div", "fc-items"]])
    at[name] = make(kind, className);
  at.message.setAttribute("role", "status");
  at.count.setAttribute("aria-live", "polite");
  top.append(views, at.search, at.count);
  at.tour.append(make("p", "fc-intro", word("tour")), at.map, at.progress, at.items);
  at.root.replaceChildren(at.ramp, top, at.sheets = choiceOfSheets(), at.message, at.about, at.cards, at.tour, at.glossary);
  at.ramp.hidden = true;
  course.cards.forEach(cardOf);
  drawTour();
  drawGlossary();
  choose("cards");
}

function choose(name) {
  state.view = name;
  for (const [key, node] of Object.entries(at.buttons)) { node.setAttribute("aria-pressed", String(key === name)); at[key].hidden = key !== name; }
  at.search.hidden = name === "tour";
  at.sheets.hidden = name !== "cards";
  search(at.search.value);
  about();
  if (name === "tour" && (!state.tour || state.stale)) { state.stale = false; trigger("ask", { what: "tour" }); }
}

/** How the numbers in sight were made. */
function about() {
  const numbers = state.view === "tour" ? state.tour : state.view === "cards" ? state.cards : null;
  if (!numbers) { write(at.about, ""); return; }
  const { input, text, how } = numbers.about, values = { input: isolated(input), text: isolated(text), how };
  const place = numbers.place ? phrase("about.place", { step: numbers.place[0], token: isolated(numbers.step), layer: numbers.place[1], head: numbers.place[2] }) : [];
  at.about.replaceChildren(...phrase("about", values), " ", ...place);
}

function take(name, numbers, list) {
  state[name] = numbers;
  for (const one of list) if (numbers.cards[one.id]) fed(cards.get(one.id), numbers.cards[one.id], numbers.sizes);   // the other sheets' have none
  about();
}

function receive() {
  const message = valueSent();
  if (!message || message.kind === "code") return;
  if (message.kind === "moved") { answered(message); return; }
  if (message.course && !course) { course = message.course; frame(); }
  if (!course) return;
  write(at.message, message.kind === "progress" ? word("progress." + message.key, { n: message.n }) : message.kind === "refused" ? message.text : "");
  at.message.classList.toggle("fc-refused", message.kind === "refused");
  if (message.numbers) take("cards", message.numbers, course.cards);
  if (message.tour) take("tour", message.tour, course.items);
  if (message.numbers && message.numbers.model !== state.model) {   // the tour has the numbers of the model that is chosen
    if (state.model !== undefined) state.stale = true;
    state.model = message.numbers.model;
    if (state.view === "tour" && state.stale) choose("tour");
  }
  at.root.dataset.kind = message.kind;
}
