/* Distillation: teacher and student at one position, softened and mixed here; and a real run of some hundred steps. */

let pair = null;
const T = () => temperature.value(), mixed = () => mix.value();
const top_ = add(host, "div", "tr-row"), box = targetBox(top_, () => look(0));
const who = choice(top_, "distilling.student", [["half", word("distilling.half")], ["fresh", word("distilling.fresh")]], () => look(pair ? pair.at : 0));
const sliders = add(host, "div", "tr-row");
const temperature = slider(sliders, "distilling.T", 0.5, 10, 0.1, 2, () => draw(), (x) => x.toFixed(1)), mix = slider(sliders, "distilling.mix", 0, 1, 0.01, 0.5, () => draw(), (x) => x.toFixed(2));
const steps = add(host, "div", "tr-steps"), numbers = add(host, "p", "tr-numbers"), columns = add(host, "div", "tr-columns"), scale = add(host, "p", "tr-quiet");
add(host, "h4", "", word("distilling.run"));
add(host, "p", "tr-quiet", word("distilling.run.about"));
const row = add(host, "div", "tr-row"), count = slider(row, "running.steps", 20, 500, 10, 200), rate = slider(row, "running.rate", -4, -2, 0.1, -3, null, (x) => (10 ** x).toExponential(1)), seed = slider(row, "running.seed", 0, 9, 1, 0);
const buttons_ = runButtons(row, "distilling.go", () => ask({ what: "distil", student: who.value() === "trained" ? "half" : who.value(), steps: count.value(), rate: 10 ** rate.value(), mix: mixed(), temperature: T(), seed: seed.value() }));
host.append(runBox);

let sent = {};
function look(at) { sent = targetOf(box); ask({ what: "bars", ...sent, at, student: who.value() }); }

/** log-softmax of z / t over the whole vocabulary. */
function logChances(z, t) {
  let most = -Infinity, sum = 0;
  for (const x of z) if (x > most) most = x;
  for (const x of z) sum += Math.exp((x - most) / t);
  const log = Math.log(sum);
  return Float64Array.from(z, (x) => (x - most) / t - log);
}

function draw() {
  if (!pair) return;
  const t = T(), l = mixed(), plain = logChances(pair.student, 1), ours = logChances(pair.student, t), theirs = logChances(pair.teacher, t), ids = Object.keys(pair.names).map(Number);
  let kl = 0;
  for (let i = 0; i < ours.length; i++) kl += Math.exp(theirs[i]) * (theirs[i] - ours[i]);
  const ce = -plain[pair.label], loss = (1 - l) * ce + l * t * t * kl;
  numbers.textContent = word("distilling.numbers", { ce: number(ce, 4), kl: number(kl, 4), tt: number(t * t * kl, 4), loss: number(loss, 4), l: l.toFixed(2), T: t.toFixed(1) });
  const gradient = (i) => (1 - l) * (Math.exp(plain[i]) - (i === pair.label)) + l * t * (Math.exp(ours[i]) - Math.exp(theirs[i]));
  const ranked = ids.sort((a, b) => theirs[b] - theirs[a]);
  const highest = Math.max(...ranked.map((i) => Math.exp(Math.max(ours[i], theirs[i]))));
  columns.replaceChildren();
  for (const [key, value, middle] of [["distilling.teacher", (i) => Math.exp(theirs[i]), false], [pair.chosen === "trained" ? "distilling.learned" : "distilling.ours", (i) => Math.exp(ours[i]), false], ["distilling.gradient", gradient, true]]) {
    const box_ = add(columns, "div");
    add(box_, "h4", "", word(key, { T: t.toFixed(1) }));
    bars(box_, ranked.map((i) => [pair.names[i], value(i), signed(value(i), 4), i === pair.label]), middle ? Math.max(1e-9, ...ranked.map((i) => Math.abs(gradient(i)))) : highest, middle);
  }
  const rest = (log) => (100 * (1 - ranked.reduce((a, i) => a + Math.exp(log[i]), 0))).toFixed(1);
  scale.textContent = word("distilling.scale", { teacher: rest(theirs), student: rest(ours), n: whole(ours.length - ranked.length) });
  root.twoStacksDistilled = { ce, kl, loss, gradient: gradient(pair.label) };
}

function drawSteps() {
  steps.replaceChildren(...pair.labels.map((text, k) => {
    const node = make("button", "tr-step" + (k === pair.at ? " tr-chosen" : ""));
    node.type = "button";
    node.append(isolated(text));
    node.onclick = () => look(k);
    return node;
  }));
  who.fill(pair.students.map((name) => [name, ["half", "fresh", "trained"].includes(name) ? word("distilling." + name) : name]), pair.chosen);
}

receive({
  bars: (value) => { pair = { ...value, teacher: floats(value.teacher), student: floats(value.student) }; keepTarget(box, value, sent); drawSteps(); draw(); },
  curve: drawCurve,
  outcome: (value) => {
    drawOutcome(value);
    buttons_.over();
    if (value.rows.length && pair) who.fill([...who.node.options].map((one) => [one.value, one.textContent]).filter(([name]) => name !== "trained").concat([["trained", word("distilling.trained")]]), who.value());
  },
  refused: () => buttons_.over(),
});
look(0);
