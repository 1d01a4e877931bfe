/* Stored hypotheses ranked anew under two length penalties, as core/decode/rescoring.py does; the search is not run again. */

const FLOOR = 1e-12;   // as core/decode/penalties.py: in place of the log of nothing
const PENALTIES = { transformers: (m, alpha) => m ** alpha, GNMT: (m, alpha) => ((5 + m) / 6) ** alpha };

/** β · Σ over source of log min(received, 1). */
const coverage = (received, beta) => (beta ? beta * received.reduce((sum, share) => sum + Math.log(Math.min(Math.max(share, FLOOR), 1)), 0) : 0);

/** [{ at, score, coverage }] best first; equal scores keep their order. */
function rescored(hypotheses, rule, alpha, beta) {
  return hypotheses.map((one, k) => {
    const cost = coverage(one.received, beta);
    return { at: k, coverage: cost, score: one.logprob / PENALTIES[rule](one.length, alpha) + cost };
  }).sort((a, b) => b.score - a.score || a.at - b.at);
}

const both = (hypotheses, alpha, beta) => ({ transformers: rescored(hypotheses, "transformers", alpha, 0), GNMT: rescored(hypotheses, "GNMT", alpha, beta) });

function scoreCell(found, k) {
  const rank = found.findIndex((one) => one.at === k), cell = make("td", "bt-score" + (rank ? "" : " bt-winner"));
  cell.append(make("span", "bt-rank", "#" + (rank + 1)), " " + fixed(found[rank].score, 4));
  return cell;
}

function rankedRow(one, k, found, differs) {
  const row = make("tr", view.node === one.node ? "bt-on" : ""), text = make("td", "bt-text"), pick = make("button", "bt-pick");
  pick.type = "button";
  pick.append(isolated(one.text));
  text.append(pick);
  row.onclick = () => choose(one.node, true);
  row.append(make("th", "", String(k + 1)), text, make("td", "bt-score", String(one.length)), make("td", "bt-score", fixed(one.logprob, 4)));
  if (differs) row.append(make("td", "bt-score", fixed(search.nodes[one.node].own, 4)));
  row.append(scoreCell(found.transformers, k), scoreCell(found.GNMT, k));
  return row;
}

function heads(differs) {
  const row = make("tr"), names = ["place", "text", "length", "logprob", ...(differs ? ["own"] : []), "transformers", "GNMT"];
  for (const name of names) {
    const cell = make("th", name === "place" || name === "text" ? "" : "bt-score", word("column." + name));
    cell.title = word("column." + name + ".title");
    row.append(cell);
  }
  return row;
}

function drawRanking() {
  const list = search.ranking;
  at.ranked.parentElement.hidden = !list.length;
  write(at["alpha-value"], fixed(view.alpha, 2));
  write(at["beta-value"], fixed(view.beta, 2));
  at.alpha.value = view.alpha;
  at.beta.value = view.beta;
  if (!list.length) { write(at.flip, word("unfinished")); return; }
  const found = both(list, view.alpha, view.beta), differs = list.some((one) => Math.abs(search.nodes[one.node].own - one.logprob) > 1e-3);
  at.heads.replaceChildren(heads(differs));
  at.ranked.replaceChildren(...list.map((one, k) => rankedRow(one, k, found, differs)));
  const [ours, theirs] = [found.transformers[0].at, found.GNMT[0].at], flip = ours !== theirs;
  at.flip.classList.toggle("bt-flipped", flip || ours !== 0);
  const numbers = { alpha: fixed(view.alpha, 2), beta: fixed(view.beta, 2), ours: ours + 1, theirs: theirs + 1 };
  write(at.flip, word(flip ? "flip" : ours ? "moved" : "same", numbers));
}

/** A branch beside the free search of the same source. */
function drawBeside() {
  const there = search.forced && freely && freely.ranking.length && search.ranking.length && freely.input === search.source.map(([text]) => text).join(" ");
  if (!search.forced) { write(at.beside, ""); return; }
  const ours = search.ranking.length ? search.nodes[search.ranking[0].node].own : NaN;
  if (!there || Number.isNaN(ours)) { write(at.beside, plural("forced", search.forced)); return; }
  const cost = ours - freely.own;
  write(at.beside, plural("forced", search.forced) + " " + word(cost > 0 ? "branch.gain" : "branch.cost", { cost: Math.abs(cost).toFixed(3), text: freely.ranking[0].text }));
}
