/* What the sections of the training tab share: nodes, sliders, tables, and asking. Text reaches the page by textContent only. */

const root = element.querySelector("[data-ts=root]");
const host = make("div", "tr-body"), said = make("p", "tr-said"), refusal = make("div", "tr-refusal");
refusal.setAttribute("role", "alert");
said.setAttribute("aria-live", "polite");
root.replaceChildren(refusal, said, host);

function add(parent, tag, className, text) {
  const node = make(tag, className, text);
  parent.append(node);
  return node;
}

/** Float32 of base64, little-endian. */
function floats(text) {
  const raw = atob(text), bytes_ = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes_[i] = raw.charCodeAt(i);
  return new Float32Array(bytes_.buffer);
}

const number = (x, places = 3) => (x === null || x === undefined || Number.isNaN(x) ? "–" : signed(x, places));
const whole = (n) => Math.round(n).toLocaleString("en-US").replace("-", "−");
const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

function button(parent, key, onclick, main) {
  const node = add(parent, "button", main ? "tr-button tr-main" : "tr-button", word(key));
  node.type = "button";
  node.dataset.tr = key;
  node.onclick = onclick;
  return node;
}

/** A labelled slider with its value; `changed` is called with the number as it moves. */
function slider(parent, key, low, high, step, value, changed, print = (x) => String(x)) {
  const label = add(parent, "label", "tr-slider"), name = add(label, "span", "", word(key)), node = add(label, "input"), out = add(label, "output");
  if (TEXTS[PREFIX + key + ".title"]) name.title = word(key + ".title");
  Object.assign(node, { type: "range", min: low, max: high, step, value });
  node.dataset.tr = key;
  const show = () => { out.textContent = print(Number(node.value)); };
  node.oninput = () => { show(); if (changed) changed(Number(node.value)); };
  show();
  return { node, value: () => Number(node.value), set: (x) => { node.value = x; show(); } };
}

function choice(parent, key, options, changed) {
  const label = add(parent, "label", "tr-choice"), node = make("select", "tr-select");
  add(label, "span", "", word(key));
  label.append(node);
  node.dataset.tr = key;
  const fill = (list, chosen) => {
    node.replaceChildren(...list.map(([value, text]) => Object.assign(make("option", "", text), { value })));
    if (chosen !== undefined) node.value = chosen;
  };
  fill(options);
  node.onchange = () => changed && changed(node.value);
  return { node, value: () => node.value, fill };
}

function check(parent, key, on, changed) {
  const label = add(parent, "label", "tr-check"), node = add(label, "input");
  Object.assign(node, { type: "checkbox", checked: on });
  node.dataset.tr = key;
  add(label, "span", "", word(key));
  node.onchange = () => changed && changed(node.checked);
  return node;
}

/** A table from strings, nodes and numbers; cells of numbers stand on the right. */
function table(heads, rows, caption) {
  const scroll = make("div", "tr-scroll"), node = add(scroll, "table", "tr-table");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", caption || heads.join(", "));
  if (caption) add(node, "caption", "", caption);
  const head = add(add(node, "thead"), "tr"), body = add(node, "tbody");
  for (const text of heads) add(head, "th", "", text);
  for (const row of rows) {
    const line = add(body, "tr");
    for (const cell of row) {
      const td = add(line, "td");
      if (cell instanceof Node) td.append(cell); else td.textContent = cell;
      if (/^[−\d.,+ %≈<]+$/.test(td.textContent)) td.className = "tr-number";
    }
  }
  return scroll;
}

/** Asks the server; what is shown stays until the answer is there. */
function ask(data, quiet) {
  refusal.textContent = "";
  if (!quiet) said.textContent = word("asked");
  trigger("ask", data);
}

/** `kinds`: what each kind of message does. A refusal and progress leave the picture. */
function receive(kinds) {
  const arrived = () => {
    const value = valueSent();
    if (!value || value.kind === "code") return;
    root.dataset.kind = value.kind;
    refusal.textContent = value.kind === "refused" ? value.text : "";
    said.textContent = value.kind === "progress" ? value.text : "";
    if (kinds[value.kind]) kinds[value.kind](value);
    root.twoStacks = { value };
  };
  watch("value", arrived);
}

/** The target that teacher forcing is given; the sections share what was typed. */
function targetBox(parent, changed) {
  const label = add(parent, "label", "tr-text"), node = make("input");
  add(label, "span", "", word("target"));
  label.append(node);
  Object.assign(node, { type: "text", maxLength: 4000, placeholder: word("target.placeholder"), dir: "auto", value: window.twoStacksTarget || "" });
  node.dataset.tr = "target";
  node.onkeydown = (event) => { if (event.key === "Enter") changed(); };
  node.oninput = () => { window.twoStacksTarget = node.value; };
  return node;
}

/** What the box asks for: its text, or, while that is what was offered for a source, what we have of the source that is there now. */
const targetOf = (box) => (box.value === (window.twoStacksOffered ?? "") ? { target: "", suggest: true } : { target: box.value });

/** The box shows the target that the answer is of. */
function keepTarget(box, value, data) {
  if (data.suggest) window.twoStacksOffered = value.own ? "" : value.target;
  if (!value.own || data.suggest) box.value = value.own ? "" : value.target;
  window.twoStacksTarget = box.value;
}
