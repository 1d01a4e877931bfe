/* Words: everything a component says, in the language of the browser. The texts are in assets/words/ under the component's
 * `PREFIX`, and travel with the page through Gradio's own translations. {name} in a text is a place for a value: a string, or a node
 * such as an isolated token. */

const TEXTS = (() => {
  const sent = typeof LATE === "object" ? LATE : null;   // of a component that comes once it opens
  const all = sent || (window.gradio_config && window.gradio_config.i18n_translations) || {};
  const asked = document.documentElement.lang || navigator.language || "en";   // Gradio sets the document's language
  return all[asked] || all[asked.split("-")[0]] || all.en || {};
})();

/** A text as a list of strings and nodes. */
function phrase(key, values = {}) {
  return (TEXTS[PREFIX + key] ?? key).split(/\{(\w+)\}/).map((piece, i) => (i % 2 ? values[piece] ?? "" : piece)).filter((piece) => piece !== "");
}

const word = (key, values) => phrase(key, values).join("");
const plural = (key, n) => word(key + (n === 1 ? ".one" : ".other"), { n });

/** The words of the static template; `data-n` is a number in them. */
for (const node of element.querySelectorAll("[data-say]")) {
  node.textContent = node.dataset.n ? plural(node.dataset.say, +node.dataset.n) : word(node.dataset.say);
}
for (const attribute of ["title", "aria-label"]) {
  for (const node of element.querySelectorAll("[data-say-" + attribute + "]")) node.setAttribute(attribute, word(node.getAttribute("data-say-" + attribute)));
}
