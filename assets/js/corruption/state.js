/* A corrupted text: the source on top, what the encoder reads and what the decoder is to write below, in one colour per span.
 *
 * The pack (app/widgets/corruption.py) is kept as `pack`; a later message with the same id only adds the counts of the histogram.
 * Clicks edit `edits` at once and send both lists whole, so that a lost request loses nothing. An answer that was asked for
 * before what is on the page, or before the last edit, comes late and is dropped: the answer to what came after is on its way.
 * Tokens are untrusted text: they reach the page by textContent only. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));

let pack = null;                                     // what is on the page
let shares = [];                                     // how often each source token is hidden; of the drawing before while it is counted
let edits = { hide: new Set(), show: new Set() };    // as the person left them
let turn = 0, newest = 0;                            // edits so far; when what is on the page was asked for
let sourceKey = "";                                  // of the source's nodes, which stay while its text does
const settled = { text: [], shares: [] };            // who waits for the next drawing

const percent = (x) => (100 * x).toFixed(1) + " %";
const editable = (k) => pack.edits && k >= pack.free[0] && k < pack.free[1];

/** The colour of a span; a second round of them is dashed. */
function paint(node, span) {
  if (span < 0) return;
  node.dataset.span = span;
  node.style.setProperty("--nz", PALETTE.categories[span % PALETTE.categories.length]);
  node.classList.add("nz-coloured");
  node.classList.toggle("nz-second", Math.floor(span / PALETTE.categories.length) % 2 === 1);
}

/** span -> the text of what stands for it in the input: a sentinel, a mask, a random token. */
function fillers() {
  const found = new Map(), side = pack.corrupted;
  side.tokens.forEach(([text], k) => { if (side.from[k] < 0 && side.span[k] >= 0 && !found.has(side.span[k])) found.set(side.span[k], text); });
  return found;
}

/** span -> the source tokens behind it. */
function hiddenOf(span) {
  return pack.source.filter((_, k) => pack.span[k] === span).map(([text]) => shown(text)).join(" ");
}
