/* Settings to compare and what came of them. A trial is a row of settings as the person has it; `found` is what the server sent last. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const MOST = 8;
const FIELDS = { beams: [1, 8, 1, 1], length_penalty: [-5, 5, 0.1, 1], beta: [0, 10, 0.05, 0], no_repeat_ngram_size: [0, 128, 1, 0], temperature: [0.05, 100, 0.05, 1],
  top_p: [0, 1, 0.05, 1], seed: [0, 2147483647, 1, 0] };   // low, high, step, default
let trials = [];
let found = null;
const view = { old: 0, new: 1 };

/** Why a field has no effect in a row; "" where it has one. */
function idle(trial, name) {
  if (["temperature", "top_p", "seed"].includes(name)) return trial.do_sample ? "" : "idle.sampling";
  if (name === "beams") return trial.do_sample ? "idle.beams" : "";
  if (name === "beta") return trial.do_sample || trial.beams < 2 ? "idle.beta" : "";
  if (name === "length_penalty") return trial.do_sample || trial.beams < 2 ? "idle.alpha" : "";
  return "";
}

/** The row as the server takes it: what has no effect is left out. */
function asked(trial) {
  const out = trial.do_sample ? { do_sample: true, top_k: 0 } : {};
  for (const name of Object.keys(FIELDS)) if (!idle(trial, name) && trial[name] !== FIELDS[name][3]) out[name] = trial[name];
  return out;
}
