/* One box searches what is in sight: cards by title, meaning, lesson, symbols; terms by name and text. */

function textOf(card) {
  const symbols = card.symbols.map((node) => { const { head, text } = meaningOf(node.dataset.term); return head + " " + text; });
  const sections = (card.stands || []).flatMap(([sheet, number]) => [placeOf([sheet, number]), sectionOf(sheet, number)]);
  return [word("title." + card.id), word("meaning." + card.id), ...sections, card.formula.textContent, ...symbols].join(" ").toLowerCase();
}

function search(text) {
  state.search = text.trim().toLowerCase();
  arrange();
  const wanted = state.search.split(/\s+/).filter(Boolean), fits = (found) => wanted.every((one) => found.includes(one));
  let found = 0;
  for (const id of state.placed) {
    const card = cards.get(id);
    card.node.hidden = !fits((card.text ||= textOf(card)));
    found += !card.node.hidden;
  }
  tidy();
  let told = 0;
  for (const term of terms) { term.node.hidden = !fits(term.text); told += !term.node.hidden; }
  const [n, of] = state.view === "glossary" ? [told, terms.length] : [found, state.placed.size];
  write(at.count, state.view === "tour" ? "" : word("found", { n, of }));
}
