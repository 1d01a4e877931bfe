/* The glossary: every acronym and symbol of appendix C, searched with the same box. */

const terms = [];

function drawGlossary() {
  for (const [kind, wanted] of [["acronyms", false], ["symbols", true]]) {
    const list = make("dl", "fc-terms");
    for (const term of course.terms.filter((one) => !!one.math === wanted)) {
      const name = make("dt"), text = make("dd", "", word("term." + term.id)), row = make("div", "fc-term");
      name.append(term.math ? math(term.math) : make("b", "", term.term), ...(term.label ? [" ", tag(term.label)] : []));
      row.dataset.term = term.id;
      row.append(name, text);
      list.append(row);
      terms.push({ node: row, text: (term.term + " " + word("term." + term.id) + " " + term.label).toLowerCase() });
    }
    at.glossary.append(make("h3", "fc-lesson", word(kind)), list);
  }
}
