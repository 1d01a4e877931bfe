/* The bar of a replay: back, forward, any record, all of them one after the other. Names reach the page by textContent. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
const PAUSE = 1500;   // ms that a finished record stays when all are played
let value = null, timer = 0;

const go = (place) => { const entry = value && value.entries[place]; if (entry) trigger("go", { id: value.id, row: entry[0] }); };
const playing = () => at.all.getAttribute("aria-pressed") === "true";

function press(on) {
  clearTimeout(timer);
  at.all.setAttribute("aria-pressed", String(on));
  if (on) timer = setTimeout(tick, PAUSE);
}

/** The next record, once the stepper has come to the end of this one. */
function tick() {
  const stepper = (window.twoStacks || {}).stepper;
  if (!value || value.at >= value.entries.length - 1) return press(false);
  if (value.what === "trace" && stepper && (stepper.playing() || !stepper.done())) { timer = setTimeout(tick, 200); return; }
  go(value.at + 1);
}

function receive() {
  value = valueSent();
  at.root.hidden = !value;
  element.closest(".block") && (element.closest(".block").style.display = value ? "" : "none");
  if (!value) return press(false);
  at.name.textContent = shown(value.name);
  at.root.title = value.note;
  at.pick.replaceChildren(...value.entries.map(([, kind, status, text], i) => {
    const option = make("option", "", i + 1 + " · " + word("kind." + kind) + (status === "done" ? "" : " (" + word("status." + status) + ")") + " · " + shown(text));
    option.value = i;
    return option;
  }));
  at.pick.value = value.at;
  at.back.disabled = value.at <= 0;
  at.forward.disabled = at.all.disabled = value.at >= value.entries.length - 1;
  write(at.count, word("count", { k: value.at + 1, n: value.entries.length }));
  if (playing()) press(value.at < value.entries.length - 1);
}

at.back.onclick = () => go(value.at - 1);
at.forward.onclick = () => go(value.at + 1);
at.pick.onchange = () => go(+at.pick.value);
at.all.onclick = () => press(!playing());
at.done.onclick = () => trigger("done");
(window.twoStacks ||= {}).replay = { value: () => value };
receive();
watch("value", receive);
