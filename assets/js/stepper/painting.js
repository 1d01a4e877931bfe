/* Painting and its clock. */

let frame = 0, rest = 0, dirty = {}, clock = 0, waiting = [];   // rest: the frame for what follows the heatmap
let arrived = 0;   // when the whole run came that is not on the screen yet
let steady = "";   // all that the picture on the page was made for, but the step
const keep = (list, value) => { list.push(value); if (list.length > 200) list.shift(); };

/** Ask for a frame. `what`: "layout" where sizes change, else nothing. `began` starts the clock of step to paint. */
function paint(what, began) {
  if (what) dirty[what] = true;
  if (began !== undefined && !clock) clock = began;
  if (!frame) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  const todo = dirty, began = clock, started = performance.now();
  dirty = {}; clock = 0;
  if (!run) { drawControls(); return settle(began, false); }
  try { draw(todo); } catch (error) { return refuse(error); }
  if (!dirty.layout) settle(began, true, started);
}

/** The heatmap and its bars come first; what is said about it follows one frame later if nothing but the step has changed, and never later than that. */
function draw(todo) {
  fillPages();
  const key = [axesKey(), view.layer, view.head, view.cover, view.hard, view.multiples, view.under, view.over, run.done, grid.dark, !!run.gradient].join();
  const stepped = steady === key && !todo.layout && !rest, changed = grid.axes !== axesKey();
  cancelAnimationFrame(rest);
  rest = 0;
  fillAxes();
  if ((todo.layout || changed) && !layout()) { dirty = { layout: true }; return; }   // not visible yet; the observer comes back
  const seen = sight();
  drawBars();   // first: a canvas that is given a font has the page laid out, which costs nothing before anything is written
  drawCells(); drawRow(); drawTwin(); follow(seen);
  if (stepped) rest = requestAnimationFrame(follows);
  else { drawRest(); nameMap(); }
  steady = key;
}

/** What follows the heatmap; not where another frame is due at once: it may be of another run, and draws all of it. */
function follows() {
  if (frame) return;
  rest = 0;
  try { drawRest(); settle(0, true); } catch (error) { refuse(error); }
}

function drawRest() {
  if (!run) return;
  const moves = chipsInSight();
  drawUnit(); drawControls(); drawMarks(moves); drawSide(); drawCaption(); drawMultiples(); drawGradient(); drawCompare();
}

function nameMap() {
  const also = (key, on) => (on ? word("picture." + key) : ""), how = comparing();
  const what = word("picture", { map: word("map." + view.map), reduction: reductionName() + also("best", isBest()), blocks: blocksName(), cover: also(view.cover, view.cover !== "weights"),
    compare: also(how, how !== "off"), hard: also("hard", view.hard) });
  write(at.reduction, what);
  at.canvas.setAttribute("aria-label", word("canvas", { what }));
}

const channel = new MessageChannel();   // its message comes after the frame has been handed on

function settle(began, pictured, started = 0) { waiting.push([began, pictured, started]); channel.port2.postMessage(0); }

channel.port1.onmessage = () => {
  const now = performance.now();
  for (const [began, pictured, started] of waiting.splice(0)) {
    if (began) { keep(hooks.paints, now - began); keep(hooks.frames, now - started); }
    if (pictured && arrived) { keep(hooks.arrivals, now - arrived); arrived = 0; }
    if (pictured && !element.dataset.ready) {
      element.dataset.ready = "1";
      (window.requestIdleCallback || ((f) => setTimeout(f, 200)))(loadPlotly, { timeout: 1500 });
    }
  }
  settled.splice(0).forEach((resolve) => resolve(now));
};
const settled = [];
const nextPaint = () => new Promise((resolve) => settled.push(resolve));
