/* Words as stacked bars: what is generated, what is copied; the source with its weights; what the numbers say. */

const fixed = (x) => (x > 0 && x < 0.0005 ? "< 0.001" : x.toFixed(3));

/** A word within a sentence. */
function named(text) {
  const node = make("span", "pg-token");
  node.append(isolated(text));
  return node;
}

function segment(className, share) {
  const node = make("i", className);
  node.style.width = 100 * Math.max(0, share) + "%";
  return node;
}

function bar(label, made, copied, below) {
  const node = make("div", "sc-part"), track = make("div", "sc-track");
  track.append(segment("pg-made", made), segment("pg-copied", copied));
  node.append(label, track, make("b", "", fixed(made + copied)), make("small", "sc-quiet", below));
  return node;
}

function wordBar(one) {
  const label = make("span", "pg-word"), p = view.dial;
  label.append(isolated(one.text));
  if (one.id >= run.vocab) label.append(" ", make("small", "pg-unknown", word("extended", { id: one.id })));
  const copies = one.parts.length > 1 ? "(" + one.parts.map(fixed).join(" + ") + ")" : fixed(one.copied);
  return bar(label, p * one.made, (1 - p) * one.copied,
    [p.toFixed(2) + " · " + fixed(one.made), ...(one.places.length ? [(1 - p).toFixed(2) + " · " + copies] : [])].join(" + "));
}

function drawSource() {
  const w = row(), most = Math.max(...w, 1e-9);
  at.source.replaceChildren(make("span", "sc-quiet", word("source") + " "), ...run.source.map(([text], k) => {
    const node = named(text);
    node.classList.toggle("pg-new", run.ids[k] >= run.vocab);
    node.style.setProperty("--share", (w[k] / most).toFixed(3));
    node.title = fixed(w[k]) + (run.ids[k] >= run.vocab ? " · " + word("extended", { id: run.ids[k] }) : "");
    return node;
  }));
}

function drawSentence(all) {
  const first = all[0], p = view.dial, turn = turning(), nodes = phrase("sentence", {
    n: view.step, written: named(run.target[view.step - 1][0]), dial: p.toFixed(2), first: named(first.text), share: fixed(first.share),
    made: fixed(p * first.made), copied: fixed((1 - p) * first.copied) });
  if (turn) nodes.push(" ", ...phrase("turning", { dial: turn.dial.toFixed(2), made: named(turn.made.text), word: named(turn.word.text) }));
  at.sentence.replaceChildren(...nodes);
}

/** What writing over instead of adding would lose, and what is copied that the vocabulary lacks. */
function drawNotes(all) {
  const twice = all.filter((one) => one.parts.length > 1), lost = twice.reduce((sum, one) => sum + one.copied - one.parts[one.parts.length - 1], 0);
  const notes = twice.length ? [phrase(twice.length === 1 ? "twice.one" : "twice.other", { n: twice.length, word: named(twice[0].text), lost: fixed((1 - view.dial) * lost), left: fixed(1 - (1 - view.dial) * lost) })] : [];
  const strange = all.filter((one) => one.id >= run.vocab);
  notes.push(strange.length ? phrase("unknown", { words: run.unknown.map(shown).join(", "), vocab: run.vocab.toLocaleString("en"), share: fixed(strange.reduce((sum, one) => sum + one.share, 0)) })
    : phrase("known"));
  at.notes.replaceChildren(...notes.map((nodes) => {
    const node = make("li");
    node.append(...nodes);
    return node;
  }));
}

function draw() {
  const all = mixed(), rest = all.slice(MOST), p = view.dial;
  const others = { made: 1 - all.slice(0, MOST).reduce((sum, one) => sum + one.made, 0), copied: rest.reduce((sum, one) => sum + one.copied, 0) };
  at.step.value = view.step;
  at.dial.value = view.dial;
  write(at["step-value"], view.step + " / " + run.target.length);
  write(at["dial-value"], p.toFixed(2));
  drawSentence(all);
  drawSource();
  at.bars.replaceChildren(...all.slice(0, MOST).map(wordBar), bar(make("span", "sc-quiet", word("others")), p * others.made, (1 - p) * others.copied, word("others.below")));
  const total = all.reduce((sum, one) => sum + one.copied, 0);
  write(at.sum, word("sum", { made: fixed(p), copied: fixed((1 - p) * total), total: fixed(p + (1 - p) * total) }));
  drawNotes(all);
}
