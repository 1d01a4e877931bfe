/* What the server sends: panels with float32 in base64. */

function decoded(panel, index) {
  const bytes = Uint8Array.from(atob(panel.values), (c) => c.charCodeAt(0)), values = new Float32Array(bytes.buffer);
  if (values.length !== panel.rows.length * panel.columns.length) throw new Error("matrices: panel " + index + " does not fit");
  const finite = values.filter(Number.isFinite), axes = JSON.stringify([panel.rows, panel.columns]);
  const ends = finite.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
  const low = panel.low ?? (finite.length ? ends[0] : 0), high = panel.high ?? (finite.length ? ends[1] : 1);
  const checked = panel.checked ? new Set(panel.checked.map((place) => place.join())) : null;
  return { ...panel, values, axes, low, high, checked, dead: new Set(panel.dead || []), digits: panel.digits ?? 2, index };
}

function receive() {
  late = !!drag;
  if (drag) return;          // what is dragged is not taken out of the hand; an answer to it follows
  const pack = valueSent();
  const kept = spot && spot.panel.at.cells === document.activeElement ? spot : null;   // by keyboard one goes on from there
  spot = null;
  try {
    panels = pack && pack.kind === "matrices" ? pack.panels.map(decoded) : [];
  } catch (error) { console.warn(String(error)); panels = []; }
  at.empty.hidden = panels.length > 0;
  at.csv.hidden = !panels.length;
  at.panels.replaceChildren(...panels.map((panel, k) => {
    const step = make("div", "mx-step"), sign = k ? (pack.operators || [])[k - 1] : "";
    step.append(...(sign ? [make("div", "mx-operator", sign)] : []), built(panel));
    return step;
  }));
  hideTip();
  const there = kept && panels.find((panel) => panel.axes === kept.axes && panel.index === kept.panel.index);
  if (there) { spot = { ...kept, panel: there }; there.at.cells.focus({ preventScroll: true }); }
  view.width = 0;
  view.beside = !!(pack && pack.beside);
  paint();
}
