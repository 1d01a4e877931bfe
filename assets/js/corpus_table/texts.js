/* Every text: source, reference, what each system wrote, a number for each; a button opens it in the attention view. */

function said(label, text, className, open) {
  const node = make("div", "ct-said " + className);
  node.append(make("span", "ct-label", label), isolated(text || "∅"));
  if (open) node.append(" ", open);
  return node;
}

function opener(source, k) {
  if (!view.pack) return null;
  const node = make("button", "ct-open", "↗");
  node.type = "button";
  node.title = word("open", { name: letter(k) });
  node.setAttribute("aria-label", node.title);
  node.onclick = () => trigger("open", { settings: view.pack.systems[k].settings, text: source });
  return node;
}

function textRow([line, source, references, outputs]) {
  const node = make("tr"), texts = make("td", "sc-said"), one = measure();
  texts.append(said(word("source"), source, "sc-quiet"), ...references.map((text) => said(word("reference"), text, "sc-quiet")),
    ...outputs.map((text, k) => said(letter(k), text, k && text !== outputs[0] ? "ct-other" : "", opener(source, k))));
  node.dataset.line = line;
  node.append(make("td", "", String(line)), texts);
  if (one) {
    node.append(...outputs.map((_, k) => cell(figure(number(line, k), one.digits), "sc-value")));
    if (outputs.length > 1) node.append(cell(figure(gain(line), one.digits), "sc-value"));
  }
  return node;
}

function drawTexts() {
  const found = rows(), n = systems(), one = measure();
  const columns = one ? [...Array.from({ length: n }, (_, k) => head(letter(k), k, word("sort"))), ...(n > 1 ? [head(letter(n - 1) + " − A", "gain", word("sort"))] : [])] : [];
  at.heads.replaceChildren(head("#", "line", word("sort")), make("th", "", word("text")), ...columns);
  at.texts.replaceChildren(...found.slice(0, view.shown).map(textRow));
  at.more.hidden = found.length <= view.shown;
  write(at.count, word("count", { n: found.length, of: view.rows.length }));
}
