/* One box searches what is in sight: cards by title, meaning, lesson, symbols; terms by name and text. */

function textOf(card) {
  const symbols = card.symbols.map((node) => { const { head, text } = meaningOf(node.dataset.term); return head + " " + text; });
  return [word("title." + card.id), word("meaning." + card.id), word("lesson", { number: card.lesson, title: word("lesson." + card.lesson) }), card.formula.textContent, ...symbols].join(" ").toLowerCase();
}

function search(text) {
  state.search = text.trim().toLowerCase();
  const wanted = state.search.split(/\s+/).filter(Boolean), fits = (found) => wanted.every((one) => found.includes(one));
  let found = 0;
  for (const one of course.cards) {
    const card = cards.get(one.id);
    card.node.hidden = !fits((card.text ||= textOf(card)));
    found += !card.node.hidden;
  }
  for (const head of at.cards.querySelectorAll(".fc-lesson")) {
    let next = head.nextElementSibling, any = false;
    for (; next && !next.classList.contains("fc-lesson"); next = next.nextElementSibling) any ||= !next.hidden;
    head.hidden = !any;
  }
  let told = 0;
  for (const term of terms) { term.node.hidden = !fits(term.text); told += !term.node.hidden; }
  const [n, of] = state.view === "glossary" ? [told, terms.length] : [found, course.cards.length];
  write(at.count, state.view === "tour" ? "" : word("found", { n, of }));
}
