/* Findings: a sentence, lines of tokens with marks, notes. Whatever a visitor typed reaches the page by textContent. */
const part = (name) => element.querySelector('[data-ts="' + name + '"]');
const at = Object.fromEntries(["root", "refusal", "sentence", "lines", "notes"].map((name) => [name, part(name)]));
const MARKS = ["gone", "new", "moved", "still", "here"];
let found = null;

function token([text, mark, below]) {
  const node = make("span", "fd-token" + (MARKS.includes(mark) ? " fd-" + mark : "")), piece = isolated(text);
  node.append(piece);
  if (MARKS.includes(mark)) node.title = word("mark." + mark);
  if (below) node.append(make("small", "", below));
  return node;
}

function line({ name, text, tokens }) {
  const node = make("div", "fd-line"), body = make("div", "fd-body"), row = make("div", "fd-tokens");
  row.append(...tokens.map(token));
  if (text) { const whole = make("p", "fd-text"); whole.append(isolated(text)); body.append(whole); }
  body.append(row);
  node.append(make("span", "fd-name", word("line." + name)), body);
  node.dataset.line = name;
  return node;
}

function show(value) {
  found = value;
  write(at.sentence, value.sentence || "");
  at.lines.replaceChildren(...(value.lines || []).map(line));
  at.notes.replaceChildren(...(value.notes || []).map((note) => make("li", "", note)));
}

/** A refusal and progress stand above what was found before, which is then of another question: it fades. */
function receive() {
  const value = valueSent();
  at.root.hidden = !value;
  if (!value) return;
  at.root.dataset.kind = value.kind;
  at.refusal.textContent = value.kind === "refused" ? value.text : "";
  if (value.kind === "found") return show(value);
  at.lines.classList.add("fd-stale");
  if (value.kind === "progress") write(at.sentence, value.text);
  else write(at.sentence, (found && found.sentence) || "");
}

function fresh() { at.lines.classList.toggle("fd-stale", !!at.root.dataset.kind && at.root.dataset.kind !== "found"); }

at.root.twoStacks = { value: valueSent, found: () => found };
receive();
watch("value", () => { receive(); fresh(); });
