/* Two curves of time, the largest difference of any logit, and bytes of both caches beside the formula. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const WIDE = 600, HIGH = 160;
let found = null, step = Infinity;

const seconds = (which) => found.steps.reduce((sum, one) => sum + one[which], 0) / 1000;
const count = (n) => n.toLocaleString("en");

function draw(name, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

/** A few slow steps, when something else took the machine, leave the picture at its top instead of flattening it. */
function highest() {
  const all = found.steps.flatMap((one) => [one[0], one[1]]).sort((a, b) => a - b);
  return 1.15 * all[Math.floor(0.97 * (all.length - 1))] || 1;
}

function drawCurve() {
  const n = found.steps.length, top = highest();
  const x = (k) => (n > 1 ? (WIDE * k) / (n - 1) : 0), y = (ms) => Math.max(2, HIGH - ((HIGH - 4) * ms) / top);
  const line = (which, className) => draw("polyline", { class: className, points: found.steps.map((one, k) => x(k).toFixed(1) + "," + y(one[which]).toFixed(1)).join(" ") });
  at.curve.replaceChildren(line(1, "cc-without"), line(0, "cc-with"), draw("line", { class: "cc-now", x1: x(step - 1), x2: x(step - 1), y1: 0, y2: HIGH }));
  write(at.top, word("top", { ms: top.toFixed(1) }));
  write(at.ends, word("ends", { n }));
}

function drawBytes() {
  const [layers, heads, width, size] = found.shape || [], one = found.steps[step - 1];
  for (const [name, k, length] of [["own", 0, step], ["cross", 1, found.source]]) {
    const measured = one[4 + k], formula = found.formula && found.formula[step - 1][k];
    write(at[name], word(name, { bytes: count(measured) }) + " " + (formula === null ? word("unknown") : word(formula === measured ? "same" : "differs", {
      product: ["2", layers, heads, width, length, size].join(" · "), bytes: count(formula) })));
  }
}

function drawStep() {
  const one = found.steps[step - 1];
  at.step.value = step;
  write(at["step-value"], step + " / " + found.steps.length);
  write(at.here, word("here", { n: step, with: one[0].toFixed(2), without: one[1].toFixed(2), times: (one[1] / one[0]).toFixed(1) }));
  drawCurve();
  drawBytes();
}

function drawAll() {
  const n = found.steps.length, equal = found.steps.filter((one) => one[3]).length, most = Math.max(...found.steps.map((one) => one[2]));
  write(at.sentence, word("sentence", { n, with: seconds(0).toFixed(3), without: seconds(1).toFixed(3), times: (seconds(1) / seconds(0)).toFixed(1) }));
  write(at.equal, word(equal === n ? "equal" : "unequal", { n, equal, most: most.toExponential(1) }));
  write(at.about, word("about", { how: found.about, source: found.source, input: shown(found.input) }));
  write(at.state, n < found.asked ? word("running", { n, of: found.asked }) : "");
  at.step.max = n;
  drawStep();
}

function receive() {
  const pack = valueSent();
  at.root.hidden = !pack;
  if (!pack) return;
  at.root.dataset.kind = pack.kind;
  write(at.refusal, pack.kind === "refused" ? pack.text : "");
  if (pack.kind !== "costs") { write(at.state, pack.kind === "progress" ? pack.text : ""); return; }
  const last = !found || step >= found.steps.length;
  found = pack;
  step = last ? pack.steps.length : Math.min(step, pack.steps.length);
  at.body.hidden = false;
  drawAll();
}

((window.twoStacks ||= {}).tables ||= []).push({ at: at.curve, table: () => ({ title: word("label"), rows: found.steps.map((_, k) => String(k + 1)), columns: [word("with"), word("without")], cell: (i, j) => found.steps[i][j].toFixed(2) + " ms" }) });
at.step.oninput = () => { step = +at.step.value; drawStep(); };
at.root.twoStacks = { found: () => found, step: () => step };
receive();
watch("value", receive);
