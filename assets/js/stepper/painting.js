/* Painting and its clock. */

let frame = 0, dirty = {}, clock = 0, waiting = [];
const keep = (list, value) => { list.push(value); if (list.length > 200) list.shift(); };

/** Ask for a frame. `what`: "layout" where sizes change, else nothing. `began` starts the clock of step to paint. */
function paint(what, began) {
  if (what) dirty[what] = true;
  if (began !== undefined && !clock) clock = began;
  if (!frame) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  const todo = dirty, began = clock;
  dirty = {}; clock = 0;
  drawControls();
  if (!run) return settle(began, false);
  try { draw(todo); } catch (error) { return refuse(error); }
  if (!dirty.layout) settle(began, true);
}

function draw(todo) {
  const changed = grid.axes !== axesKey();
  fillAxes();
  if ((todo.layout || changed) && !layout()) { dirty = { layout: true }; return; }   // not visible yet; the observer comes back
  const also = (key, on) => (on ? word("picture." + key) : ""), how = comparing();
  at.reduction.textContent = word("picture", { map: word("map." + view.map), reduction: reductionName(), cover: also(view.cover, view.cover !== "weights"), compare: also(how, how !== "off"), hard: also("hard", view.hard) });
  drawCells(); drawMarks(); drawSide(); drawCaption(); drawMultiples(); drawGradient(); drawCompare(); follow();
  at.canvas.setAttribute("aria-label", word("canvas", { what: at.reduction.textContent, rows: picture().values.length }));
}

const channel = new MessageChannel();   // its message comes after the frame has been handed on

function settle(began, pictured) { waiting.push([began, pictured]); channel.port2.postMessage(0); }

channel.port1.onmessage = () => {
  const now = performance.now();
  for (const [began, pictured] of waiting.splice(0)) {
    if (began) keep(hooks.paints, now - began);
    if (pictured && !element.dataset.ready) {
      element.dataset.ready = "1";
      (window.requestIdleCallback || ((f) => setTimeout(f, 200)))(loadPlotly, { timeout: 1500 });
    }
    if (pictured && !bars.wanted) { bars.wanted = true; setTimeout(drawBars, Math.max(0, bars.rest - now)); }   // plotly is slow: it may take a third of the time
  }
  settled.splice(0).forEach((resolve) => resolve());
};
const settled = [];
const nextPaint = () => new Promise((resolve) => settled.push(resolve));
