/* What the server sends: labels, what the model has, and masks. What a person drew is never lost without a question. */

const reached = (stack) => !!given && given.reached.includes(stack) && layersOf(stack) > 0;
const sourceOf = (value) => JSON.stringify(value.labels.source.map(([text]) => text));
let stamp = 0;

function receive() {
  const value = valueSent();
  if (!value || value.kind !== "grid") { given = null; return paint(); }
  const another = given && sourceOf(given) !== sourceOf(value), before = given && JSON.stringify(sizes(view.stack));
  given = { ...value, drawn: clamp(value.drawn ?? value.labels.target.length, 0, value.labels.target.length), reached: value.reached || STACKS, stamp: ++stamp };
  accept(value);
  if (!reached(view.stack)) view.stack = STACKS.find(reached) || view.stack;
  if (another && !value.take && (at.ask.hidden ? drawnByHand() : true)) ask();
  if (before !== JSON.stringify(sizes(view.stack))) { stroke = null; view.over = null; at.tip.style.display = "none"; }   // else a drag goes on
  paint();
}

/** The first masks are taken, later ones where the server says so: while it answers an edit, the person may have drawn on. */
function accept({ masks: coming, take }) {
  if (!masks.encoder) { masks = parsed(coming); return; }
  if (!take) return;
  past.push({ masks, stack: view.stack });
  future.length = 0;
  masks = parsed(coming);
}

/** How many cells and tokens were drawn by hand, in all stacks; 0 where there is nothing to keep. */
const countDrawn = () => STACKS.reduce(([cells, tokens], stack) => [cells + masks[stack].cells.size, tokens + masks[stack].hidden.length], [0, 0]);
const drawnByHand = () => countDrawn().some((n) => n > 0);

function ask() {
  const [cells, tokens] = countDrawn();
  at.ask.hidden = !(cells || tokens);
  at.question.textContent = word("ask", { what: [...(cells ? [plural("ask.cells", cells)] : []), ...(tokens ? [plural("ask.tokens", tokens)] : [])].join(word("ask.and")) });
}

at.keep.onclick = () => { at.ask.hidden = true; at.cells.focus({ preventScroll: true }); };
at.drop.onclick = () => {
  at.ask.hidden = true;
  past.push({ masks, stack: view.stack });
  future.length = 0;
  masks = Object.fromEntries(STACKS.map((stack) => [stack, { ...masks[stack], hidden: [], cells: new Map() }]));
  changed();
};
