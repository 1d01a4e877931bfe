/* The tree of a beam search. Its state comes first.
 *
 * Gradio runs these files, joined in the order of SCRIPTS (app/widgets/beam_tree.py), once, as a function body with `element`, `props`,
 * `trigger` and `watch`. `search` is what the server sent so far: a node is { parent, step, row, id, lp, total, score, text, own }, own: the
 * model's own log P of all its tokens. `view.upto` steps are drawn, `view.node` is picked. Texts are untrusted: textContent only. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const FATES = ["kept", "finished", "rank", "low", "pool", "stop", "ngram", "source", "minimum", "banned", "forced"];
const [KEPT, FINISHED] = [0, 1];
const FOLDED = 150;   // from so many nodes on, pruned leaves of a step fold into one

let search = null;    // { run, nodes, fates, best, steps, source, start, ranking, forced, ... }
let freely = null;    // the last search without a forced beginning, to hold a branch against
const view = { upto: 0, node: -1, open: new Set(), dark: false, playing: 0, alpha: 1, beta: 0 };

const pruned = (n) => search.fates[n] !== KEPT && search.fates[n] !== FINISHED;
const ended = (n) => ["finished", "low", "pool"].includes(FATES[search.fates[n]]);
const isFolded = (n) => search.nodes.length > FOLDED && pruned(n) && !search.children[n].length && !view.open.has(search.nodes[n].step) && n !== view.node;

/** The nodes from the first token to `n`. */
function pathOf(n) {
  const out = [];
  for (; n >= 0; n = search.nodes[n].parent) out.push(n);
  return out.reverse();
}

/** The row of the forward that ranked `n`: that of its parent, the first one at the start. */
const fedOf = (n) => (search.nodes[n].parent < 0 ? 0 : search.nodes[search.nodes[n].parent].row);

/** What node `n`'s forward read of the source, one weight a token. */
function attention(n) {
  const step = search.steps[search.nodes[n].step], size = search.source.length;
  step.weights ||= halves(step.w);
  return step.weights.subarray(fedOf(n) * size, (fedOf(n) + 1) * size);
}

/** float16 in base64. */
function halves(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), raw = new Uint16Array(bytes.buffer);
  return Float32Array.from(raw, (h) => {
    const sign = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, f = h & 1023;
    return sign * (e ? 2 ** (e - 15) * (1 + f / 1024) : 2 ** -14 * (f / 1024));
  });
}

const textOf = (n) => pathOf(n).map((k) => shown(search.nodes[k].text)).join(" ");
const minus = (text) => text.replace("-", "−");
const fixed = (x, places = 3) => minus(x.toFixed(places));
const percent = (lp) => (Math.exp(lp) < 0.0005 ? "< 0.1 %" : (100 * Math.exp(lp)).toFixed(1) + " %");
const reason = (n) => word("fate." + FATES[search.fates[n]]);
