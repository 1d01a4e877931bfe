/* A row for each span, and the loss above them. */

function words(tokens) {
  const node = make("bdi", "nz-words", tokens.map(shown).join(" ") || "∅");
  node.dir = "auto";
  return node;
}

function row(span, value, scale) {
  const node = make("div", "nz-span" + (span.right ? " nz-right" : " nz-wrong")), text = make("div", "nz-span-words");
  node.style.setProperty("--nz", COLOURS[span.span % COLOURS.length]);
  node.dataset.span = span.span;
  text.append(make("b", "nz-mark", span.right ? "✓" : "✗"), " ", ...phrase(span.right ? "right" : "wrong", { truth: words(span.true), wrote: words(span.wrote) }));
  const facts = make("div", "nz-span-facts", word("logprob", { total: span.logprob.toFixed(2).replace("-", "−"), each: (span.logprob / Math.max(1, span.true.length)).toFixed(2).replace("-", "−") }));
  node.append(text, facts);
  if (span.weights.length) {
    const look = make("div", "nz-span-facts");
    look.append(...most(span, value.source));
    node.append(strip(span, value.source, scale), look);
  }
  return node;
}

function finished(value) {
  const scale = Math.max(1e-6, ...value.spans.flatMap((span) => span.weights.flat()));
  at.honest.textContent = value.short ? word("short", { model: value.model, n: value.captions })
    : value.learned ? "" : word("honest", { model: value.model, tasks: value.tasks.join(", ") });
  at.wrote.replaceChildren(...phrase(value.stopped ? "stopped" : "wrote", { model: value.model, text: words([value.text]), n: value.n }));
  at.loss.replaceChildren(...(value.loss === null ? [] : phrase("loss", { loss: make("b", "", value.loss.toFixed(3)), n: value.tokens,
    per: Math.exp(value.loss).toFixed(1) })), " ", word(value.exact ? "exact" : "spans", { right: value.right, spans: value.spans.length }));
  at.spans.replaceChildren(...value.spans.map((span) => row(span, value, scale)));
  at.key.textContent = word(value.spans.length ? "key" : "none", { layers: value.shape[0], heads: value.shape[1], scale: scale.toFixed(3) });
}

let value = null;

function receive() {
  value = valueSent();
  at.root.hidden = !value;
  if (!value) return;
  at.refusal.textContent = value.kind === "refused" ? value.text : "";
  at.tip.style.display = "none";
  if (value.kind === "progress") {
    at.wrote.replaceChildren(...phrase("progress", { text: words([value.text]), n: value.n }));
    for (const name of ["honest", "loss", "spans", "key"]) at[name].replaceChildren();
  }
  if (value.kind === "rebuilt") finished(value);
  at.former.hidden = true;
  element.dataset.kind = value.kind;
}

(window.twoStacks ||= {}).rebuilding = {
  value: () => value,
  /** The corruption view draws `id`: a rebuilding of another drawing says that it is one. */
  drawn: (id) => { at.former.hidden = !value || value.kind !== "rebuilt" || value.id === id; },
};
receive();
watch("value", receive);
