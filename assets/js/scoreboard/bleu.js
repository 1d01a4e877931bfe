/* BLEU from its parts: a bar for each precision with the counts behind it, and the brevity penalty with both lengths. */

function bar(label, share, number, below) {
  const node = make("div", "sc-part"), track = make("div", "sc-track"), fill = make("i");
  fill.style.width = 100 * Math.max(0, Math.min(1, share)) + "%";
  track.append(fill);
  node.append(make("span", "sc-quiet", label), track, make("b", "", number), make("small", "sc-quiet", below));
  return node;
}

function drawBleu() {
  const score = named("BLEU");
  at.bleu.hidden = !score;
  if (!score) return;
  const bars = score.precisions.map((p, k) => bar(word("precision", { n: k + 1 }), p / 100, p.toFixed(1) + " %",
    score.totals[k] ? score.counts[k] + " / " + score.totals[k] : word("short")));
  const [ours, theirs] = score.lengths;
  const brevity = bar(word("brevity"), score.brevity_penalty, score.brevity_penalty.toFixed(3), word("lengths", { ours, theirs }));
  brevity.classList.add("sc-brevity");
  at.bleu.replaceChildren(make("h4", "", word("parts")), ...bars, brevity, make("p", "sc-quiet", word("product", { value: score.value.toFixed(2) })));
}
