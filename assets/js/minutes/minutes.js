/* The first five minutes: five things to do, each checked once it was done, and a way to the place of each. It looks at what the other
 * components show and changes nothing of theirs. What was done is remembered by this browser; "off": dismissed, or all done. */

const ORDER = ["attention", "search", "masks", "noise", "train", "scores", "formulas", "sessions"];   // the tabs
const STEPS = [
  { name: "drawn", tab: "attention", place: "#ts-tabs .ts-root", done: ({ stepper }) => stepper && stepper.run() && stepper.done() },
  { name: "mask", tab: "masks", place: "#ts-masks-grid", done: ({ maskGrid }) => maskGrid && maskGrid.steps()[0] > 0 && document.querySelector("#ts-masks-told [data-line=after]") },
  { name: "noise", tab: "noise", place: "#ts-noise-controls", done: ({ corruption }) => touched && corruption && corruption.pack() && corruption.pack().id !== touched },
  { name: "beam", tab: "search", place: "#ts-search-tree", done: ({ beamTree }) => beamTree && beamTree.search() && beamTree.view().node >= 0 && beamTree.search().fates[beamTree.view().node] > 1 },
  { name: "share", tab: "sessions", place: "#ts-sessions-list", done: () => /session=/.test((document.querySelector(".sl-root [data-ts=address]") || {}).value || "") },
];
const LOOKS = 300, TOLD = 20000;   // ms between two looks; that a word at the edge of the window stays
const keep = (value) => { try { localStorage.setItem("two-stacks-minutes", value); } catch { /* until the page is left */ } };
const kept = (() => { try { return localStorage.getItem("two-stacks-minutes") || ""; } catch { return ""; } })();
const done = new Set(kept.split(" ").filter((name) => STEPS.some((step) => step.name === name)));
let touched = "", looking = 0, telling = 0;   // touched: the corrupted text that was there when someone took hold of the noise

const root = element.querySelector("[data-ts=root]"), part = make("section", "ms-root"), list = make("ol", "ms-steps"), hint = make("p", "ms-hint"), away = make("button", "ms-away", "×"), told = make("div", "ms-told");
part.setAttribute("aria-label", word("label"));
hint.setAttribute("aria-live", "polite");
away.type = "button";
away.title = word("away");
away.setAttribute("aria-label", word("away"));
told.hidden = true;
told.setAttribute("role", "status");
for (const step of STEPS) {
  const item = make("li"), mark = make("i", "ms-mark");
  step.button = make("button", "ms-step");
  step.button.type = "button";
  step.button.dataset.step = step.name;
  mark.setAttribute("aria-hidden", "true");
  step.said = make("span", "ms-hidden");
  step.button.append(mark, make("span", "ms-name", word("step." + step.name)), step.said);
  step.button.onclick = () => go(step);
  item.append(step.button);
  list.append(item);
}
part.append(make("strong", "ms-title", word("label")), list, away, hint);
root.className = "";
root.replaceChildren(part, told);

const next = () => STEPS.find((step) => !done.has(step.name));

function draw(chosen = next()) {
  STEPS.forEach((step, k) => {
    const is = done.has(step.name);
    step.button.classList.toggle("ms-done", is);
    step.button.firstChild.textContent = is ? "✓" : String(k + 1);
    write(step.said, is ? word("done") : "");
    if (step === chosen) step.button.setAttribute("aria-current", "step"); else step.button.removeAttribute("aria-current");
  });
  hint.replaceChildren(...(chosen ? [make("b", "ms-now", word("step." + chosen.name) + ": "), word("hint." + chosen.name)] : [word("all")]));
}

/** The tab of a step, whether it is in the bar or, on a narrow page, in its menu. */
function open(tab) {
  const buttons = document.querySelectorAll("#ts-tabs > .tab-wrapper .overflow-dropdown button"), own = ORDER.indexOf(tab);
  const button = own ? document.getElementById("ts-tab-" + tab + "-button") : document.querySelector("#ts-tabs > .tab-wrapper [role=tab]");
  (button || buttons[own - (ORDER.length - buttons.length)])?.click();
}

function go(step, tries = 40) {
  draw(step);
  open(step.tab);
  (function arrive() {
    const place = document.querySelector(step.place);
    if (!place || !place.offsetHeight) { if (tries--) setTimeout(arrive, 100); return; }
    place.scrollIntoView({ block: "start" });
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus({ preventScroll: true });
    place.classList.add("ms-here");
    setTimeout(() => place.classList.remove("ms-here"), 2500);
  })();
}

/** At the edge of the window, where the strip itself is out of sight. */
function tell(step) {
  const box = part.getBoundingClientRect(), then = next(), more = make("button", "ms-step", then ? word("step." + then.name) : "");
  if (box.bottom > 0 && box.top < innerHeight) return;
  more.type = "button";
  more.onclick = () => { told.hidden = true; go(then); };
  told.replaceChildren(make("span", "", "✓ " + word("step." + step.name)), ...(then ? [make("span", "", word("next")), more] : [make("span", "", word("all"))]));
  told.hidden = false;
  clearTimeout(telling);
  telling = setTimeout(() => { told.hidden = true; }, TOLD);
}

function look() {
  const found = STEPS.filter((step) => !done.has(step.name) && step.done(window.twoStacks || {}));
  if (!found.length) return;
  for (const step of found) done.add(step.name);
  draw();
  keep(next() ? [...done].join(" ") : "off");
  if (found[0].name !== "drawn") tell(found[0]);
  if (!next()) clearInterval(looking);
}

function take(event) {
  const { corruption } = window.twoStacks || {};
  if (event.isTrusted && event.target.closest?.("#ts-noise-controls, #ts-noise-picker, #ts-noise-view, #ts-noise-buttons")) touched ||= corruption?.pack()?.id || "";
}

away.onclick = () => { keep("off"); clearInterval(looking); document.body.classList.add("ts-minutes-off"); };
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, take, true);
draw();
look();
looking = setInterval(look, LOOKS);
