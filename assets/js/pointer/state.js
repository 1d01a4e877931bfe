/* The run in view, the step, the dial and the heads; the mixture of a step, as core/pointer.py. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const view = { step: 1, dial: 0.8, heads: 0 };
const MOST = 12;   // bars
let run = null, weights = null;

function numbers(base64) {
  const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(raw.buffer);
}

/** Attention over the source at a step, from the heads that are chosen. */
function row(step = view.step) {
  const n = run.source.length, from = (view.heads * run.target.length + step - 1) * n;
  return weights.subarray(from, from + n);
}

/** Every word of the step: { id, text, made, parts: the weight of each place it has in the source, copied: their sum }. */
function words(step = view.step) {
  const w = row(step);
  return run.rows[step - 1].map(([id, text, made]) => {
    const places = run.ids.flatMap((other, k) => (other === id ? [k] : []));
    const parts = places.map((k) => w[k]);
    return { id, text, made, places, parts, copied: parts.reduce((sum, x) => sum + x, 0) };
  });
}

/** p · P_vocab + (1 - p) · copies, the largest first. */
function mixed(step = view.step, dial = view.dial) {
  return words(step).map((one) => ({ ...one, share: dial * one.made + (1 - dial) * one.copied })).sort((a, b) => b.share - a.share);
}

/** { dial, made, word }: below the dial a copied word is likelier than the one that is first at 1; null where none ever is. */
function turning(step = view.step) {
  const all = words(step), first = all.reduce((a, b) => (b.made > a.made ? b : a));
  let found = null;
  for (const other of all) {
    const gain = other.copied - first.copied, lead = first.made - other.made;   // equal at p · lead = (1 - p) · gain
    if (gain > 0 && (!found || gain / (gain + lead) > found.dial)) found = { dial: gain / (gain + lead), made: first, word: other };
  }
  return found;
}
