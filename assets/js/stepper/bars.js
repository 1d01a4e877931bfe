/* Coverage bars. */

const bars = { P: null, key: "", scale: "", asked: false, timer: 0, fills: [], font: "", ink: "" };
const REST = 250;   // ms without a step, then plotly is told

/** The bars' fixed scale: final sums of the shown reduction, so that bars grow from step to step. */
function barScale() {
  const last = received(run.rows.length);
  const top = Math.max(0.1, ...last) * (grid.cw >= 30 ? 1.28 : 1.1);
  const by = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((d) => top / d <= 3.2) || 100;
  return { top, ticks: Array.from({ length: Math.floor(top / by + 1e-9) + 1 }, (_, i) => +(i * by).toFixed(2)) };
}

/** The bars of the step in view. Between steps only their heights differ: a canvas over plotly's draws them, and plotly is told when stepping rests. */
function drawBars(now = false) {
  clearTimeout(bars.timer);
  if (!run || !grid.cw) return;
  const y = Array.from(received()), { columns } = axes(), { top, ticks } = barScale();
  const key = [run.id, view.map, view.words, view.specials, view.page, view.under, view.over, run.done, y.length, grid.cw, top, grid.dark].join(), same = bars.P && key === bars.key;
  if (!same) {
    const end = view.map === "cross" && run.done ? received(run.rows.length) : null, shades = Object.fromEntries(["quiet", "under", "overbar", "bar"].map((name) => [name, colour("--ts-" + name)]));
    bars.fills = y.map((_, c) => shades[columns[c].dim ? "quiet" : end && end[c] / columns[c].size < view.under ? "under" : end && end[c] / columns[c].size > view.over ? "overbar" : "bar"]);
    Object.assign(bars, { font: getComputedStyle(at.root).fontFamily, ink: colour("--body-text-color") || (grid.dark ? "#eee" : "#222") });
    if (bars.scale !== top + "," + ticks) fillAxis(top, ticks);
  }
  if (same || !bars.P) drawPlainBars(y, top);
  if (same) bars.timer = setTimeout(tellPlotly, REST, y);
  else if (bars.P && now) askPlotly(y, top, ticks, key);
  else if (bars.P) bars.timer = setTimeout(askPlotly, 0, y, top, ticks, key);
}

/** What the bars count, and the coverage loss, which the reduction keeps. */
function drawUnit() {
  const max = view.head === "max" || view.layer === "max", r = reduction();
  const loss = view.map === "cross" && !max ? (view.step ? r.loss[view.step - 1] : 0) : null;
  write(at.unit, word(view.map === "cross" ? "bars.cross" : "bars.other") +
    (loss === null ? "" : word("bars.loss", { loss: loss.toFixed(3), each: (loss / Math.max(1, view.step)).toFixed(3) })) + (max ? word("bars.max") : ""));
}

function fillAxis(top, ticks) {
  bars.scale = top + "," + ticks;
  at.axis.replaceChildren(...ticks.map((tick) => {
    const node = make("span", "", String(tick));
    node.style.bottom = (tick / top) * BAR_HEIGHT + "px";
    return node;
  }));
}

const labelled = (y) => y.map((v) => (grid.cw >= 30 ? v.toFixed(2) : ""));

/** Plotly draws the whole figure. */
function askPlotly(y, top, ticks, key) {
  const began = performance.now();
  bars.P.react(at.plot, ...figure(y, labelled(y), bars.fills, top, ticks), { displayModeBar: false, doubleClick: false, showTips: false, responsive: false });
  bars.key = key;
  overPlotly(false);
  keep(hooks.bars, performance.now() - began);
}

/** The same figure with other heights. */
function tellPlotly(y) {
  if (!run || !bars.key) return;
  const began = performance.now();
  bars.P.restyle(at.plot, { y: [y], text: [labelled(y)] }, [0]);
  overPlotly(false);
  keep(hooks.bars, performance.now() - began);
}

/** Whether the canvas stands for plotly's bars. */
function overPlotly(on) {
  at.plain.style.visibility = on ? "" : "hidden";
  at.bars.classList.toggle("ts-moving", on);
}

/** Plotly's figure. No margins and a range of whole columns: bar c sits exactly under column c. Only numbers go in, no token. */
function figure(y, labels, fills, top, ticks) {
  const data = [{ type: "bar", x: y.map((_, c) => c), y, text: labels, textposition: "outside", cliponaxis: false, width: 0.8, hoverinfo: "none",
    marker: { color: fills, line: { width: 0 } }, textfont: { size: 11, color: bars.ink } }];
  return [data, { width: y.length * grid.cw, height: BAR_HEIGHT, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0, autoexpand: false }, showlegend: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false, hovermode: "closest", font: { family: bars.font },
    xaxis: { range: [-0.5, y.length - 0.5], fixedrange: true, visible: false },
    yaxis: { range: [0, top], fixedrange: true, tickvals: ticks, showticklabels: false, gridcolor: colour("--ts-line"), zeroline: false } }];
}

/** The same bars on a canvas: while steps follow each other, and until plotly is there (or if it cannot be loaded). */
function drawPlainBars(y, top) {
  const dpr = window.devicePixelRatio || 1, context = at.plain.getContext("2d"), width = y.length * grid.cw, size = [Math.round(width * dpr), Math.round(BAR_HEIGHT * dpr)];
  if (String(size) !== String([at.plain.width, at.plain.height])) {
    [at.plain.width, at.plain.height] = size;
    Object.assign(at.plain.style, { width: width + "px", height: BAR_HEIGHT + "px" });
  }
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.clearRect(0, 0, width, BAR_HEIGHT);
  const texts = labelled(y);
  if (texts[0]) Object.assign(context, { font: "11px " + bars.font, textAlign: "center" });
  y.forEach((v, c) => {
    const height = (BAR_HEIGHT * v) / top;
    context.fillStyle = bars.fills[c];
    context.fillRect((c + 0.1) * grid.cw, BAR_HEIGHT - height, 0.8 * grid.cw, height);
    context.fillStyle = bars.ink;
    if (texts[c]) context.fillText(texts[c], (c + 0.5) * grid.cw, BAR_HEIGHT - height - 4);
  });
  overPlotly(true);
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
    drawBars(true);
    element.dataset.plotly = "ready";
  }, () => { element.dataset.plotly = "failed"; });
}
