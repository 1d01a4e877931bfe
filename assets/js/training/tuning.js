/* Fine-tuning on typed pairs: a copy learns them, all its weights or LoRA's; outputs before and after stand side by side. */

const label = add(host, "label", "tr-text"), pairs = make("textarea");
add(label, "span", "", word("tuning.pairs"));
label.append(pairs);
Object.assign(pairs, { rows: 6, maxLength: 16000, value: word("tuning.first"), dir: "auto", spellcheck: false });
pairs.dataset.tr = "tuning.pairs";
const row = add(host, "div", "tr-row"), count = slider(row, "running.steps", 10, 300, 10, 60), rate = slider(row, "running.rate", -4.5, -2, 0.1, -3.3, null, (x) => (10 ** x).toExponential(1)), seed = slider(row, "running.seed", 0, 9, 1, 0), lora = check(row, "tuning.lora", false, (on) => rate.set(on ? -2.3 : -3.3));
const buttons_ = runButtons(row, "tuning.go", () => ask({ what: "tune", pairs: pairs.value, lora: lora.checked, steps: count.value(), rate: 10 ** rate.value(), seed: seed.value() }));
host.append(runBox);
add(host, "p", "tr-quiet", word("tuning.note"));

receive({
  curve: drawCurve,
  outcome: (value) => { drawOutcome(value); buttons_.over(); },
  refused: () => buttons_.over(),
});
