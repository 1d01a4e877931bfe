/* Pointing: one cell, in every panel with the same axes; mouse, finger and keys. */

const zoom = () => at.root.currentCSSZoom || 1;   // of a lecture, and of projector mode: pointers are measured in px of the window

function cellUnder(panel, event) {
  const frame = panel.at.cells.getBoundingClientRect(), { cw, ch } = panel.grid;
  const row = Math.floor((event.clientY - frame.top) / zoom() / ch), column = Math.floor((event.clientX - frame.left) / zoom() / cw);
  return row >= 0 && row < panel.rows.length && column >= 0 && column < panel.columns.length ? { axes: panel.axes, panel, row, column } : null;
}

/** The outline in every linked panel, and its labels. */
function drawSpot() {
  for (const panel of panels) {
    const on = spot && spot.axes === panel.axes, { mark, rows, cols } = panel.at;
    mark.hidden = !on;
    for (const old of panel.at.node.querySelectorAll(".mx-over")) old.classList.remove("mx-over");
    if (!on) continue;
    const { cw, ch } = panel.grid;
    Object.assign(mark.style, { left: spot.column * cw + "px", top: spot.row * ch + "px", width: cw + "px", height: ch + "px" });
    rows.children[spot.row].classList.add("mx-over");
    cols.children[spot.column].classList.add("mx-over");
  }
}

function pointAt(where, x, y) {
  spot = where;
  drawSpot();
  if (!where) return hideTip();
  const { panel, row, column } = where, names = make("div", "ts-where");
  names.append(...phrase("tip", { row: isolated(panel.rows[row]), column: isolated(panel.columns[column]) }));
  const lines = linked(where).flatMap((one) => {
    const line = make("div", "mx-line"), off = one.checked && one.checked.has(row + "," + column);
    line.append(make("span", "", one.title), make("strong", "", sayNumber(value(one, row, column))));
    return off ? [line, make("div", "ts-where", one.check || word("checked"))] : [line];
  });
  at.tip.replaceChildren(names, ...lines);
  at.tip.style.display = "block";
  const frame = at.root.getBoundingClientRect(), w = at.tip.offsetWidth, h = at.tip.offsetHeight, left = (x - frame.left) / zoom(), top = (y - frame.top) / zoom(), wide = frame.width / zoom();
  at.tip.style.left = clamp(left + w + 22 > wide ? left - w - 16 : left + 18, 4, Math.max(4, wide - w - 4)) + "px";
  at.tip.style.top = (top - h - 14 < 4 ? top + 20 : top - h - 14) + "px";
}

function hideTip() { at.tip.style.display = "none"; }

function announce() {
  const { panel, row, column } = spot;
  const numbers = linked(spot).map((one) => word("said.value", { title: one.title, value: sayNumber(value(one, row, column)) }));
  at.live.textContent = [word("said", { row: shown(panel.rows[row]), column: shown(panel.columns[column]) }), ...numbers].join("; ");
}

let turn = 0;   // ticks so far, by which the server knows an older one that comes late

/** A click or a key on a cell: a check box changes, any other cell is picked. */
function pick({ panel, row, column }) {
  if (!panel.checked) return trigger("select", { panel: panel.index, row, column });
  const place = row + "," + column;
  if (!panel.checked.delete(place)) panel.checked.add(place);
  drawPanel(panel);
  turn += 1;
  trigger("edit", { panel: panel.index, checked: checkedOf(panel), turn });
}
const checkedOf = (panel) => Array.from(panel.checked, (place) => place.split(",").map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function press(panel, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !panel.rows.length || !panel.columns.length) return;
  const step = STEPS[event.key], here = spot && spot.axes === panel.axes ? { ...spot, panel } : { axes: panel.axes, panel, row: 0, column: 0 };
  if (step && spot) { here.row = clamp(here.row + step[0], 0, panel.rows.length - 1); here.column = clamp(here.column + step[1], 0, panel.columns.length - 1); }
  else if (event.key === "Escape") { pointAt(null); return; }
  else if (event.key !== " " && event.key !== "Enter" && !step && !nudge(panel, here.row, here.column, event.key)) return;
  event.preventDefault();
  follow(panel, here);
  const frame = panel.at.cells.getBoundingClientRect(), { cw, ch } = panel.grid;
  if (event.key === " " || event.key === "Enter") pick(here);
  pointAt(here, frame.left + (here.column + 0.5) * cw * zoom(), frame.top + (here.row + 0.5) * ch * zoom());
  announce();
}

function follow(panel, { row, column }) {
  const { cw, ch, label } = panel.grid, box = panel.at.scroll, top = panel.at.corner.offsetHeight;
  box.scrollLeft = clamp(box.scrollLeft, (column + 1) * cw + label + 8 - box.clientWidth, column * cw);
  box.scrollTop = clamp(box.scrollTop, (row + 1) * ch + top + 8 - box.clientHeight, row * ch);
}

function listen(panel) {
  const { cells, scroll } = panel.at;
  let dragged = false;       // the click that ends a drag is none
  cells.addEventListener("pointerdown", (event) => { dragged = false; hold(panel, event); });
  cells.addEventListener("pointermove", (event) => pull(panel, event) || pointAt(cellUnder(panel, event), event.clientX, event.clientY));
  cells.addEventListener("pointerup", () => { dragged = release(true); });
  cells.addEventListener("pointercancel", () => release(false));
  cells.addEventListener("pointerleave", () => drag || pointAt(null));
  cells.addEventListener("click", (event) => {
    const where = dragged ? null : cellUnder(panel, event);
    if (where) { pick(where); pointAt(where, event.clientX, event.clientY); announce(); }
  });
  cells.addEventListener("keydown", (event) => press(panel, event));
  cells.addEventListener("blur", () => { sendShare(); pointAt(null); });
  scroll.addEventListener("scroll", () => {   // panels with the same axes scroll together
    for (const one of panels) if (one !== panel && one.axes === panel.axes) { one.at.scroll.scrollLeft = scroll.scrollLeft; one.at.scroll.scrollTop = scroll.scrollTop; }
  }, { passive: true });
}
