/* "Move it": one panel for all cards. Its dials ask for a picture, one question at a time; an answer is followed by the newest. */

const LATE_AFTER = 20000;   // ms after which a question counts as lost
const panel = { card: null, turn: 0, busy: false, again: false, inputs: new Map(), timer: 0, plot: null };

/** The symbol of a dial, or the word for it; what follows an underscore stands below. */
function symbol(name) {
  const [letter, below] = (PREFIX + "dial." + name in TEXTS ? word("dial." + name) : name).split("_"), node = make("span", "", letter);
  if (below) node.append(make("sub", "", below));
  return node;
}

function panelMade() {
  at.panel = make("section", "fc-panel");
  for (const [name, kind, className] of [["dials", "div", "fc-controls"], ["how", "p", "fc-how"], ["slot", "div", "fc-slot"], ["see", "p", "fc-quiet"], ["told", "p", "fc-message"]]) at[name] = make(kind, className);
  at.told.setAttribute("role", "status");
  at.panel.append(at.dials, at.told, at.how, at.slot, at.see);
  ((window.twoStacks ||= {}).tables ||= []).push({ at: at.slot, table: () => {
    const drawn = at.slot.querySelector(".js-plotly-plot"), title = at.how.textContent || at.panel.getAttribute("aria-label");
    return drawn && drawn.data ? { title, ...figureTable(drawn.data, drawn.layout) } : { title, columns: [], rows: [], cell: () => "" };
  } });
  at.panel.onkeydown = (event) => { if (event.key === "Escape") { event.stopPropagation(); shut(); } };
}

function moverOf(card) {
  card.mover = button("fc-mover", word("mover"), () => (panel.card === card ? shut() : open(card)));
  card.mover.setAttribute("aria-expanded", "false");
  return card.mover;
}

function open(card) {
  if (!at.panel) panelMade();
  if (panel.card) left(panel.card);
  panel.card = card;
  const title = word("title." + card.id), key = "see." + card.id;
  at.panel.setAttribute("aria-label", word("panel", { title }));
  at.slot.classList.remove("fc-drawn");
  write(at.how, "");
  write(at.see, PREFIX + key in TEXTS ? word(key) : word("seen", { name: card.at.replace(":", ".") }));
  dialsOf(card);
  card.mover.after(at.panel);
  card.mover.setAttribute("aria-expanded", "true");
  write(card.mover, word("shut"));
  panel.inputs.values().next().value.input.focus({ preventScroll: true });
  question();
}

function left(card) {
  card.mover.setAttribute("aria-expanded", "false");
  write(card.mover, word("mover"));
}

function shut() {
  const { card } = panel;
  panel.card = null;
  left(card);
  at.panel.remove();
  card.mover.focus();
}

function dialsOf(card) {
  panel.inputs.clear();
  const back = () => { for (const [name, , , first] of card.dials) panel.inputs.get(name).input.value = first; question(); };
  at.dials.replaceChildren(...card.dials.map(([name, least, most, first, step]) => {
    const label = make("label", "fc-control"), input = make("input"), value = make("output");
    Object.assign(input, { type: "range", min: least, max: most, step, value: first });
    input.dataset.dial = name;
    input.oninput = question;
    label.append(symbol(name), " ", input, value, tag("CONFIG"));
    panel.inputs.set(name, { input, value, digits: (String(step).split(".")[1] || "").length });
    return label;
  }), button("ts-text-button", word("back"), back));
}

/** Where the dials stand goes to the server, unless it still owes an answer: then the newest goes once that has come. */
function question() {
  const values = {};
  for (const [name, { input, value, digits }] of panel.inputs) { values[name] = +input.value; write(value, number(+input.value, digits)); }
  panel.again = panel.busy;
  if (panel.busy) return;
  panel.busy = true;
  panel.timer = setTimeout(() => { panel.busy = false; write(at.told, word("lost")); }, LATE_AFTER);
  trigger("move", { id: panel.card.id, values, dark: state.dark, turn: ++panel.turn });
}

function answered(message) {
  if (message.turn !== panel.turn) return;   // of a question that counted as lost
  clearTimeout(panel.timer);
  panel.busy = false;
  if (panel.card && panel.card.id === message.id) {
    write(at.told, message.text || "");
    at.told.classList.toggle("fc-refused", !!message.text);
    if (!message.text) { write(at.how, message.title); shelve(); }
  }
  if (panel.again && panel.card) question();
}

/** Gradio's plot stands below the cards when it comes; from then on it goes with the panel. */
function shelve(frames = 600) {
  panel.plot ||= document.getElementById("ts-formulas-plot");
  if (!panel.plot) { if (frames) requestAnimationFrame(() => shelve(frames - 1)); return; }
  if (panel.plot.parentNode !== at.slot) at.slot.append(panel.plot);
  at.slot.classList.add("fc-drawn");
}
