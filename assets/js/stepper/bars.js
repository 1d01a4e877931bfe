/* Coverage bars. */

const bars = { P: null, wanted: false, key: "", asked: false, rest: 0 };

/** The bars' fixed scale: final sums of the shown reduction, so that bars grow from step to step. */
function barScale() {
  const last = received(run.rows.length);
  const top = Math.max(0.1, ...last) * (grid.cw >= 30 ? 1.28 : 1.1);
  const by = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((d) => top / d <= 3.2) || 100;
  return { top, ticks: Array.from({ length: Math.floor(top / by + 1e-9) + 1 }, (_, i) => +(i * by).toFixed(2)) };
}

/** Σ over the steps so far and source tokens of min(A_tj, c_tj), c before step t (See et al. 2017; sheet 000, lesson 9). */
function coverageLoss() {
  const r = reduction();
  let loss = 0;
  for (let t = 1; t < view.step; t++) r.rows[t].forEach((weight, c) => { loss += Math.min(weight, r.covered[t - 1][c]); });
  return loss;
}

function drawBars() {
  bars.wanted = false;
  if (!run || !grid.cw) return;
  const y = Array.from(received()), { columns } = axes(), { top, ticks } = barScale(), labels = y.map((v) => (grid.cw >= 30 ? v.toFixed(2) : ""));
  const end = view.map === "cross" && run.done ? received(run.rows.length) : null;
  const fills = y.map((_, c) => colour(columns[c].dim ? "--ts-quiet" : end && end[c] < view.under ? "--ts-under" : end && end[c] > view.over ? "--ts-overbar" : "--ts-bar"));
  const max = view.head === "max" || view.layer === "max";
  const loss = view.map === "cross" && view.layer !== "max" && view.head !== "max" ? coverageLoss() : null;
  at.unit.textContent = word(view.map === "cross" ? "bars.cross" : "bars.other") +
    (loss === null ? "" : word("bars.loss", { loss: loss.toFixed(3), each: (loss / Math.max(1, view.step)).toFixed(3) })) + (max ? word("bars.max") : "");
  at.axis.replaceChildren(...ticks.map((tick) => {
    const node = make("span", "", String(tick));
    node.style.bottom = (tick / top) * BAR_HEIGHT + "px";
    return node;
  }));
  if (!bars.P) return drawPlainBars(y, top, fills);
  const key = [run.id, view.map, view.words, view.specials, view.under, view.over, run.done, y.length, grid.cw, top, grid.dark].join();
  const began = performance.now();
  if (key === bars.key) bars.P.restyle(at.plot, { y: [y], text: [labels] }, [0]);
  else bars.P.react(at.plot, ...figure(y, labels, fills, top, ticks), { displayModeBar: false, doubleClick: false, showTips: false, responsive: false });
  if (!bars.key) {   // plotly's events exist only once it has drawn
    at.plain.hidden = true;
    at.plot.on("plotly_hover", (event) => tipForBar(event.points[0].pointIndex, event.event));
    at.plot.on("plotly_unhover", hideTip);
  }
  bars.key = key;
  const took = performance.now() - began;
  keep(hooks.bars, took);
  bars.rest = performance.now() + Math.min(200, 2 * took);
}

/** Plotly's figure. No margins and a range of whole columns: bar c sits exactly under column c. Only numbers go in, no token. */
function figure(y, labels, fills, top, ticks) {
  const data = [{ type: "bar", x: y.map((_, c) => c), y, text: labels, textposition: "outside", cliponaxis: false, width: 0.8, hoverinfo: "none",
    marker: { color: fills, line: { width: 0 } }, textfont: { size: 11, color: colour("--body-text-color") || (grid.dark ? "#eee" : "#222") } }];
  return [data, { width: y.length * grid.cw, height: BAR_HEIGHT, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0, autoexpand: false }, showlegend: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false, hovermode: "closest", font: { family: getComputedStyle(at.root).fontFamily },
    xaxis: { range: [-0.5, y.length - 0.5], fixedrange: true, visible: false },
    yaxis: { range: [0, top], fixedrange: true, tickvals: ticks, showticklabels: false, gridcolor: colour("--ts-line"), zeroline: false } }];
}

/** Until plotly is there (or if it cannot be loaded) the same bars, plain. */
function drawPlainBars(y, top, fills) {
  const dpr = window.devicePixelRatio || 1, context = at.plain.getContext("2d");
  at.plain.width = Math.round(y.length * grid.cw * dpr);
  at.plain.height = BAR_HEIGHT * dpr;
  Object.assign(at.plain.style, { width: y.length * grid.cw + "px", height: BAR_HEIGHT + "px" });
  context.scale(dpr, dpr);
  y.forEach((v, c) => {
    context.fillStyle = fills[c];
    context.fillRect((c + 0.1) * grid.cw, BAR_HEIGHT * (1 - v / top), 0.8 * grid.cw, (BAR_HEIGHT * v) / top);
  });
}

/** Plotly is 4.8 MB: fetched once, after the first picture. gr.Plot overwrites the global with its own, so ours is captured at load. */
function loadPlotly() {
  if (bars.asked || !props.plotly_url) return;
  bars.asked = true;
  const shared = (window.twoStacks ||= {});
  shared.plotly ||= new Promise((resolve, reject) => {
    const root = String((window.gradio_config && window.gradio_config.root) || location.origin).replace(/\/+$/, "");
    const script = document.createElement("script"), before = window.Plotly;
    script.src = /^https?:/.test(props.plotly_url) ? props.plotly_url : root + "/" + props.plotly_url.replace(/^\/+/, "");
    script.onload = () => { const P = window.Plotly; if (before) window.Plotly = before; resolve(P); };
    script.onerror = reject;
    document.head.append(script);
  });
  shared.plotly.then((P) => {
    bars.P = P;
    drawBars();
    element.dataset.plotly = "ready";
  }, () => { element.dataset.plotly = "failed"; });
}
