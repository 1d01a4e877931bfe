/* Drawing. */

/** <extra_id_3> is long under a word: its brackets go. */
const short = (text) => shown(text).replace(/^<(.{1,20})>$/, "$1");

/** A source token: its bar, its text, and the name of what hides it. Only `dress` knows the draw, so that a slider makes no new nodes. */
function sourceToken([text], k) {
  const node = make(editable(k) ? "button" : "span"), bar = make("i", "nz-bar");
  if (editable(k)) node.type = "button";
  node.dataset.source = k;
  bar.append(make("i"));
  node.append(bar, isolated(text), make("small", "nz-tag", ""));
  return node;
}

function dress(node, k, filler) {
  const span = pack.span[k], first = span >= 0 && (k === 0 || pack.span[k - 1] !== span), tag = first && filler.has(span) ? short(filler.get(span)) : "";
  const classes = ["nz-token nz-source", span >= 0 ? "nz-hidden" : pack.mask[k] ? "nz-moved" : "", k < pack.free[0] || k >= pack.free[1] ? "nz-special" : "",
    edits.hide.has(k) || edits.show.has(k) ? "nz-by-hand" : ""].filter(Boolean).join(" ");
  node.className = classes;
  if (editable(k)) node.setAttribute("aria-pressed", String(!!pack.mask[k]));
  if (node.lastChild.textContent !== tag) node.lastChild.textContent = tag;
  delete node.dataset.span;
  paint(node, span);
}

function drawSource() {
  const key = JSON.stringify([pack.edits, pack.free, pack.source]), filler = fillers();
  if (sourceKey !== key) {
    at.source.replaceChildren(...pack.source.map(sourceToken));
    sourceKey = key;
  }
  [...at.source.children].forEach((node, k) => dress(node, k, filler));
}

function otherToken(side, k) {
  const node = make("span", "nz-token"), [text] = side.tokens[k], kind = side.kind[k], from = side.from[k];
  const tags = { moved: () => "← " + (from + 1), random: () => word("tag.random"), inserted: () => word("tag.inserted"), unchanged: () => word("tag.unchanged") };
  node.dataset.k = k;
  if (from >= 0) node.dataset.origin = from;
  node.append(isolated(text), make("small", "nz-tag", tags[kind] ? tags[kind]() : ""));
  node.classList.add("nz-kind-" + kind);
  node.classList.toggle("nz-special", from >= 0 && (from < pack.free[0] || from >= pack.free[1]));
  paint(node, side.span[k]);
  return node;
}

function drawSeries() {
  const rows = pack.series.map((one, epoch) => {
    const row = make("div", "nz-epoch" + (epoch === pack.epoch ? " nz-now" : ""));
    row.append(make("span", "nz-name", word("epoch", { k: epoch })), ...one.texts.map((text, k) => {
      const cell = make("span", "nz-mini nz-kind-" + one.kind[k], shown(text));
      cell.dir = "auto";
      paint(cell, one.span[k]);
      return cell;
    }));
    return row;
  });
  at.series.replaceChildren(...rows);
}

function drawShares() {
  const bars = at.source.querySelectorAll(".nz-bar > i");
  bars.forEach((bar, k) => { bar.style.height = 100 * Math.min(1, shares[k] || 0) + "%"; });
  at.source.classList.toggle("nz-counting", !pack.shares);
}

const sideCount = (side) => {
  const n = pack[side].tokens.length, less = n - pack.source.length;
  return word("count." + (less < 0 ? "less" : less > 0 ? "more" : "same"), { n, less: Math.abs(less) });
};

function draw() {
  at.root.hidden = false;
  drawSource();
  for (const side of ["corrupted", "target"]) at[side].replaceChildren(...pack[side].tokens.map((_, k) => otherToken(pack[side], k)));
  at["source-count"].textContent = plural("tokens", pack.source.length);
  at["corrupted-count"].textContent = sideCount("corrupted");
  at["target-count"].textContent = sideCount("target");
  at.rates.replaceChildren(...phrase("rates", { requested: make("b", "", percent(pack.requested)), achieved: make("b", "", percent(pack.achieved)) }));
  at.lengths.textContent = pack.spans ? plural("spans", pack.spans) : "";
  const n = edits.hide.size + edits.show.size;
  at.edited.textContent = n ? plural("edits", n) : "";
  at.reset.hidden = !n;
  at.key.textContent = word(pack.edits ? "key" : "key.fixed", { seeds: pack.seeds });
  at.difference.replaceChildren(...(pack.difference ? [make("b", "", word("mode." + pack.mode)), " ", pack.difference] : []));
  at.notes.replaceChildren(...pack.notes.map((note) => make("li", "", note)));
  drawSeries();
  drawShares();
}
