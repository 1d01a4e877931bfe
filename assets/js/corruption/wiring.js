/* Wiring. */

function refuse(text) {
  if (at.refusal.textContent !== text) at.refusal.textContent = text;   // set again, it would be read out again
  at.body.classList.toggle("nz-stale", !!text);
}

function receive() {
  const value = valueSent(), asked = value?.asked ?? newest;
  if (!value) return;
  if (value.again) { turn = 0; window.twoStacks.noiseAgain = value.noise; window.twoStacks.noisePicker?.show(value.noise); }   // a replay: edits are counted anew
  if (asked < newest || (value.turn ?? turn) !== turn) return;
  newest = asked;
  if (value.kind === "refused") { refuse(value.text); for (const done of settled.text.splice(0)) done(); return; }
  const same = pack && pack.id === value.id;
  refuse("");
  const sameText = pack && pack.source.length === value.source.length && pack.source.every(([text], k) => text === value.source[k][0]);
  pack = value;
  edits = { hide: new Set(value.hide), show: new Set(value.show) };
  if (value.shares) shares = value.shares; else if (!sameText) shares = [];
  if (!same || !value.shares) { point(null); draw(); } else drawShares();
  element.dataset.ready = "1";
  if (value.asked !== undefined) window.twoStacks.rebuilding?.drawn(value.id);   // not of a replayed one
  requestAnimationFrame(() => setTimeout(() => {
    for (const done of settled.text.splice(0)) done();
    if (value.shares) for (const done of settled.shares.splice(0)) done();
  }));
}

const pointed = (event) => { if (pack) point(tokenOf(event.target)); };
at.body.addEventListener("pointerover", pointed);
at.body.addEventListener("focusin", pointed);
at.body.addEventListener("pointerleave", () => point(null));
at.body.addEventListener("focusout", () => point(null));
at.source.addEventListener("click", (event) => {
  const node = tokenOf(event.target);
  if (node && editable(+node.dataset.source)) toggle(+node.dataset.source);
});
at.reset.onclick = () => { edits = { hide: new Set(), show: new Set() }; send(); };

(window.twoStacks ||= {}).corruption = {
  pack: () => pack, shares: () => shares, edits: () => ({ hide: [...edits.hide], show: [...edits.show] }),
  /** Resolves after the next drawing of the text, or of the histogram, with the time at which its frame was handed on. */
  next: (what) => new Promise((resolve) => settled[what].push(() => resolve(performance.now()))),
};
at.reset.hidden = true;
receive();
watch("value", receive);
