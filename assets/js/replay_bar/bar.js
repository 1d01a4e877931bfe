/* The bar of a replay: back, forward, any moment, all of them one after the other. Names reach the page by textContent. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
const PAUSE = 4500;   // ms that a moment stays when all are played at one step a second; at 3 a second a third of it
let value = null, timer = 0, tab = "attention";

const stepper = () => (window.twoStacks || {}).stepper;
const playing = () => at.all.getAttribute("aria-pressed") === "true";

function go(place) {
  const [row, event] = (value && value.entries[place]) || [];
  if (row !== undefined) trigger("go", event === null ? { id: value.id, row } : { id: value.id, event });
}

function press(on) {
  clearTimeout(timer);
  at.all.setAttribute("aria-pressed", String(on));
  if (on) timer = setTimeout(tick, PAUSE / at.speed.value);
}

/** The next moment, once the stepper has come to the end of this one. */
function tick() {
  if (!value || value.at >= value.entries.length - 1) return press(false);
  if (value.tab === "attention" && stepper() && (stepper().playing() || !stepper().done())) { timer = setTimeout(tick, 200); return; }
  go(value.at + 1);
}

function receive() {
  value = valueSent();
  at.root.hidden = !value;
  element.closest(".block") && (element.closest(".block").style.display = value ? "" : "none");
  if (!value) return press(false);
  at.name.textContent = shown(value.name);
  at.root.title = value.note;
  at.pick.replaceChildren(...value.entries.map(([, , kind, status, text], i) => {
    const option = make("option", "", i + 1 + " · " + word("kind." + kind) + (status === "done" ? "" : " (" + word("status." + status) + ")") + " · " + shown(text));
    option.value = i;
    return option;
  }));
  at.pick.value = value.at;
  at.back.disabled = value.at <= 0;
  at.forward.disabled = at.all.disabled = value.at >= value.entries.length - 1;
  write(at.count, word("count", { k: value.at + 1, n: value.entries.length }));
  if (stepper()) at.speed.value = stepper().speed();
  if (playing()) press(value.at < value.entries.length - 1);
}

at.back.onclick = () => go(value.at - 1);
at.forward.onclick = () => go(value.at + 1);
at.pick.onchange = () => go(+at.pick.value);
at.speed.onchange = () => { if (stepper()) stepper().speed(at.speed.value); if (playing()) press(true); };
at.all.onclick = () => press(!playing());
at.done.onclick = () => trigger("done");
/** Which tab was open last beside the sessions: a link shows the same. */
function seen() {
  const open = document.querySelector("#ts-tabs [role=tab][aria-selected=true]");
  if (!open) return;   // the bar of tabs is being drawn
  const name = open.getAttribute("aria-controls") || "";
  const found = ["search", "masks", "noise", "scores", "formulas", "train", "sessions"].find((one) => name.includes("ts-tab-" + one));
  if (found !== "sessions") tab = found || "attention";
}

document.addEventListener("click", () => { seen(); setTimeout(seen); }, true);
(window.twoStacks ||= {}).replay = { value: () => value, tab: () => (value ? value.tab : tab) };
receive();
watch("value", receive);
