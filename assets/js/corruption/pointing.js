/* Pointing: everything of one span, or of one token that stayed, is marked together; the tip has the numbers. */

const tokenOf = (node) => (node.closest ? node.closest(".nz-token") : null);

function sameAs(node) {
  const span = node.dataset.span, origin = node.dataset.source ?? node.dataset.origin;
  if (span !== undefined) return [...element.querySelectorAll('.nz-token[data-span="' + span + '"]')];
  if (origin === undefined) return [node];
  return [...element.querySelectorAll('.nz-token[data-source="' + origin + '"], .nz-token[data-origin="' + origin + '"]')];
}

function link(node) {
  for (const old of element.querySelectorAll(".nz-linked")) old.classList.remove("nz-linked");
  element.classList.toggle("nz-linking", !!node && node.dataset.span !== undefined);
  for (const one of node ? sameAs(node) : []) one.classList.add("nz-linked");
}

function line(...pieces) {
  const node = make("div");
  node.append(...pieces);
  return node;
}

function aboutSource(k) {
  const out = [line(...phrase("tip.source", { k: k + 1, id: pack.source[k][1] }))];
  if (pack.shares && k >= pack.free[0] && k < pack.free[1]) {
    out.unshift(make("strong", "", percent(shares[k])));
    out.push(line(word(pack.spans || pack.edits ? "tip.share" : "tip.moved", { n: Math.round(shares[k] * pack.seeds), seeds: pack.seeds })));
  }
  if (edits.hide.has(k) || edits.show.has(k)) out.push(line(word(edits.hide.has(k) ? "tip.hidden" : "tip.shown")));
  return out;
}

function aboutOther(node) {
  const side = pack[node.parentNode.dataset.ts], k = +node.dataset.k, span = side.span[k], kind = side.kind[k];
  const out = [line(...phrase("tip.place", { k: k + 1, id: side.tokens[k][1] }))];
  const hidden = span >= 0 ? hiddenOf(span) : "";
  if (side.from[k] >= 0) out.push(line(word(kind === "moved" ? "tip.from" : kind === "unchanged" ? "tip.unchanged" : "tip.origin", { k: side.from[k] + 1 })));
  else if (hidden) out.push(line(...phrase(kind === "random" ? "tip.random" : "tip.stands", { text: isolated(hidden) })));
  else out.push(line(word(kind === "sentinel" ? "tip.closing" : "tip.inserted")));
  return out;
}

function point(node) {
  link(node);
  if (!node) { at.tip.style.display = "none"; return; }
  at.tip.replaceChildren(...(node.dataset.source !== undefined ? aboutSource(+node.dataset.source) : aboutOther(node)));
  at.tip.style.display = "block";
  const frame = at.root.getBoundingClientRect(), box = node.getBoundingClientRect();
  const left = Math.min(box.left - frame.left, frame.width - at.tip.offsetWidth - 8);
  at.tip.style.left = Math.max(4, left) + "px";
  const above = node.parentNode === at.corrupted;   // the lines that it links to lie below the source and above the target
  at.tip.style.top = (above ? box.top - at.tip.offsetHeight - 6 : box.bottom + 6) - frame.top + "px";
}

/** Hidden becomes shown, shown becomes hidden; until the answer is there the token says so itself. */
function toggle(k) {
  const hidden = !!pack.mask[k];
  edits[hidden ? "hide" : "show"].delete(k);
  edits[hidden ? "show" : "hide"].add(k);
  pack.mask[k] = !hidden;
  at.source.querySelector('[data-source="' + k + '"]').classList.add("nz-by-hand");
  send();
}

function send() {
  turn += 1;
  (window.twoStacks ||= {}).edited = { hide: [...edits.hide], show: [...edits.show], turn };   // the page's event reads it
  trigger("edit", {});
}
