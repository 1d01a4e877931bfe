/* n-grams of an output as buttons, those of a reference first; the one that is pressed is marked in both texts. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
let value = null, chosen = null;

/** A text with some places marked; places count characters, and may overlap. */
function marked(text, places) {
  const node = make("bdi", "sc-text"), characters = Array.from(text), inside = new Uint8Array(characters.length);
  node.dir = "auto";
  for (const [start, end] of places) inside.fill(1, start, end);
  for (let start = 0, end; start < characters.length; start = end) {
    for (end = start + 1; end < characters.length && inside[end] === inside[start]; end++);
    node.append(make(inside[start] ? "mark" : "span", "", characters.slice(start, end).join("")));
  }
  return node;
}

function line(name, text, places) {
  const node = make("div", "sc-line");
  node.append(make("span", "sc-quiet sc-name", name), marked(text, places));
  return node;
}

function drawTexts() {
  const [, , ours, theirs] = chosen || [0, 0, [], value.references.map(() => [])];
  const one = value.references.length === 1;
  at.texts.replaceChildren(line(word("output"), value.output, ours),
    ...value.references.map((text, k) => line(one ? word("reference") : word("reference.n", { n: k + 1 }), text, theirs[k])));
  const times = chosen && Math.max(0, ...theirs.map((places) => places.length));
  write(at.said, chosen ? word("said", { gram: chosen[0], ours: ours.length, theirs: times, counted: chosen[1] }) : word("click"));
}

function button(gram) {
  const node = make("button", "sc-gram" + (gram[1] ? "" : " sc-missed"));
  node.type = "button";
  node.append(isolated(gram[0]));
  if (gram[2].length > 1) node.append(make("small", "", " ×" + gram[2].length));
  node.setAttribute("aria-pressed", "false");
  if (!gram[1]) node.title = word("missed");
  node.onclick = () => {
    chosen = chosen === gram ? null : gram;
    for (const other of at.orders.querySelectorAll("button")) other.setAttribute("aria-pressed", other === node && chosen === gram);
    drawTexts();
  };
  return node;
}

function order(one, k) {
  const node = make("div", "sc-order"), grams = make("div", "sc-grams"), share = one.total ? " = " + (100 * one.counted / one.total).toFixed(1) + " %" : "";
  grams.append(...one.grams.map(button));
  if (one.left_out) grams.append(make("span", "sc-quiet", "+" + one.left_out));
  node.append(make("span", "sc-quiet sc-name", "n = " + (k + 1) + ": " + one.counted + " / " + one.total + share), grams);
  node.dataset.n = k + 1;
  return node;
}

function receive() {
  const now = valueSent();
  at.root.hidden = !now;
  if (!now) return;
  at.refusal.textContent = now.kind === "refused" ? now.text : "";
  for (const name of ["about", "texts", "said", "orders"]) at[name].classList.toggle("sc-stale", now.kind === "refused");
  if (now.kind !== "matched") return;
  value = now;
  chosen = null;
  write(at.about, word(now.bleu === null ? "about.alone" : "about", { line: now.line, bleu: now.bleu === null ? "" : now.bleu.toFixed(2), tokenizer: now.tokenizer }));
  at.orders.replaceChildren(...now.orders.map(order));
  drawTexts();
}

receive();
watch("value", receive);
