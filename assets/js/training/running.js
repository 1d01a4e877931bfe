/* A training while it runs: its curve from the steps taken, how far it is, Stop; then outputs before and after. */

const run = { points: [], of: 0, running: false };
const runBox = make("div"), state = make("p", "tr-numbers"), curve = make("div"), outcome = make("div");

function runButtons(parent, key, start) {
  const go = button(parent, key, () => {
    Object.assign(run, { points: [], running: true });
    curve.replaceChildren(); outcome.replaceChildren(); state.textContent = "";
    buttons();
    start();
  }, true), halt = button(parent, "running.stop", () => trigger("quit", {}));
  const buttons = () => { go.disabled = run.running; halt.disabled = !run.running; };
  buttons();
  runBox.append(state, curve, outcome);
  return { over: () => { run.running = false; buttons(); } };
}

function drawCurve(value) {
  run.points.length = value.from;
  run.points.push(...value.points);
  const last = run.points[run.points.length - 1], held = run.points.filter((p) => p[4] !== null);
  if (!last) return;
  state.textContent = word("running.state", { step: last[0], of: value.of, seconds: value.seconds.toFixed(1), longest: Math.round(value.longest * 1000), learned: whole(value.learned), pairs: value.pairs, held: value.held });
  curve.replaceChildren();
  const series = [{ name: word("running.loss"), points: run.points.filter((p) => p[1] !== null).map((p) => [p[0], p[1]]) }];
  if (run.points.some((p) => p[3] !== null)) {
    series.push({ name: word("running.ce"), points: run.points.filter((p) => p[2] !== null).map((p) => [p[0], p[2]]) });
    series.push({ name: word("running.kl"), points: run.points.filter((p) => p[3] !== null).map((p) => [p[0], p[3]]) });
  }
  if (held.length) series.unshift({ name: word("running.held"), points: held.map((p) => [p[0], p[4]]) });
  lines(curve, series, { title: word("running.curve"), unit: word("running.unit") });
  if (held.length > 1) add(curve, "p", "tr-sentence", word("running.fell", { first: number(held[0][4], 3), last: number(held[held.length - 1][4], 3), n: held[held.length - 1][0] }));
}

function drawOutcome(value) {
  if (value.stopped) said.textContent = word("running.stopped", { n: value.step });
  if (!value.rows.length) return;
  outcome.replaceChildren(table([word("running.source"), word("running.wanted"), word("running.before"), word("running.after")],
    value.rows.map((row) => [isolated(row.source), isolated(row.target), isolated(row.before), isolated(row.after)])));
}
