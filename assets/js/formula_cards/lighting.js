/* A symbol says what it is and lights the pictures it stands for; a picture lights its symbols. */

const AXES = { n: "source", m: "target", d: "width", "d^2": "width", d_k: "d_k", d_v: "d_v", "\\sqrtd_k": "d_k", V: "vocab" };
const ROWS = ["i", "t"], COLUMNS = ["j", "j^\\prime"];

function define(card, head, text, label) {
  card.said.replaceChildren(...(head ? [make("b", "", head), " "] : []), text, ...(label ? [" ", tag(label)] : []));
  card.said.classList.add("fc-on");
}

/** `form` of a symbol, or a picture that is pointed at. */
function light(card, form, picked = null) {
  const lights = picked ? picked.panel.lights : [form];
  for (const node of card.symbols) node.classList.toggle("fc-lit", lights.includes(node.dataset.form));
  for (const made of card.pictures) {
    const { panel } = made, axis = AXES[form];
    made.node.classList.toggle("fc-lit", made === picked || (!!form && panel.lights.includes(form)));
    made.sides.classList.toggle("fc-lit", !!form && ((axis && panel.axes[0] === axis) || ROWS.includes(form)));
    made.tops.classList.toggle("fc-lit", !!form && ((axis && panel.axes[1] === axis) || COLUMNS.includes(form)));
  }
}

function dark(card) {
  for (const node of card.node.querySelectorAll(".fc-lit")) node.classList.remove("fc-lit");
  card.said.classList.remove("fc-on");
  card.said.replaceChildren(make("span", "fc-quiet", word(card.line.childElementCount ? "hover" : "hover.plain")));
}

function listen(card) {
  card.symbols = [...card.formula.querySelectorAll("[data-form]")];
  for (const node of card.symbols) {
    const told = () => {
      const { head, text, label } = meaningOf(node.dataset.term);
      define(card, head || node.textContent, text, label);
      light(card, node.dataset.form);
    };
    node.setAttribute("tabindex", "0");
    node.setAttribute("aria-label", node.textContent + ": " + meaningOf(node.dataset.term).text);
    node.addEventListener("pointerenter", told);
    node.addEventListener("focus", told);
    node.addEventListener("click", told);
    node.addEventListener("pointerleave", () => dark(card));
    node.addEventListener("blur", () => dark(card));
  }
}
