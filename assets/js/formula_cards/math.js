/* Formulas as MathML, which browsers draw by themselves. Parsed as XML, so nothing in it can run. */

function math(text) {
  const parsed = new DOMParser().parseFromString(text.replace("<math", '<math xmlns="http://www.w3.org/1998/Math/MathML"'), "application/xml");
  return document.importNode(parsed.documentElement, true);
}

/** The places of a line: name -> the nodes that show it. */
function placesOf(node) {
  const found = new Map();
  for (const place of node.querySelectorAll("mtext")) {
    const name = place.textContent.startsWith("@") ? place.textContent.slice(1) : "";
    if (!name) continue;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(place);
    place.textContent = "·";
  }
  return found;
}

function fill(places, values) {
  for (const [name, text] of Object.entries(values)) for (const node of places.get(name) || []) node.textContent = shown(text);
}

/** What a symbol means: a term of the glossary, or what it is in this formula alone. */
function meaningOf(name) {
  const term = course.terms.find((one) => one.id === name);
  return term ? { head: term.term, text: word("term." + name), label: term.label } : { head: "", text: word("local." + name), label: "" };
}
