/* The sheets: which one is in sight, its sections in order, each card where it stands first. */

const sheetOf = (name) => word("sheet." + name);

function placeOf([sheet, number]) {
  return word(sheet === "004" ? "place.section" : "place.lesson", { sheet, number });
}

/** 000's lessons have the course's titles, the other sheets' sections their own. */
function sectionOf(sheet, number) {
  return word(sheet === "004" ? "section" : "lesson", { number, title: word("lesson." + (sheet === "000" ? "" : sheet + ".") + number) });
}

function choiceOfSheets() {
  const node = make("div", "fc-sheets");
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", word("sheets"));
  at.choices = new Map();
  for (const name of [...course.sheets.map(([sheet]) => sheet), "all"]) {
    at.choices.set(name, button("fc-view", sheetOf(name), () => { state.sheet = name; search(at.search.value); }));
    node.append(at.choices.get(name));
  }
  return node;
}

/** What is searched is searched on all sheets. */
function arrange() {
  const all = state.search !== "" || state.sheet === "all", key = all ? "all" : state.sheet;
  for (const [name, node] of at.choices) node.setAttribute("aria-pressed", String(name === key));
  if (state.arranged === key) return;
  state.arranged = key;
  const placed = new Set(), nodes = [];
  for (const [sheet, sections] of course.sheets.filter(([name]) => all || name === state.sheet)) {
    if (all) nodes.push(make("h2", "fc-sheet", sheetOf(sheet)));
    for (const [number, ids] of sections) {
      nodes.push(make("h3", "fc-lesson", sectionOf(sheet, number)));
      for (const id of ids) nodes.push(placed.has(id) ? above(id) : cards.get(id).node);
      ids.forEach((id) => placed.add(id));
    }
  }
  state.placed = placed;
  at.cards.replaceChildren(...nodes);
}

/** A formula that stands above already. */
function above(id) {
  const node = make("p", "fc-above");
  node.append(word("above"), " ", button("ts-text-button", word("title." + id), () => { const to = cards.get(id).node; to.scrollIntoView(); to.querySelector("h4").focus({ preventScroll: true }); }));
  return node;
}

/** Heads of which nothing is in sight go too. */
function tidy() {
  let head = null, sheet = null;
  for (const node of at.cards.children) {
    if (node.classList.contains("fc-sheet")) { sheet = node; sheet.hidden = true; }
    else if (node.classList.contains("fc-lesson")) { head = node; head.hidden = true; }
    else {
      if (node.classList.contains("fc-above")) node.hidden = state.search !== "";
      if (!node.hidden) { head.hidden = false; if (sheet) sheet.hidden = false; }
    }
  }
}
