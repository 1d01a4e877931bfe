/* A lecture, by keys alone. The stepper below shows the run; this says the note, asks, and moves both. Tokens and notes reach the page
 * by textContent. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
let value = null, asked = "";        // asked: the slide that was asked for and has not come yet
let following = 0, asking = "";      // the frame that looks at the stepper, and what was in view at the last one

const stepper = () => (window.twoStacks || {}).stepper;
const stepping = () => value.hide === "token" || value.hide === "row";
/** Whether the stepper shows this slide's run already. */
const here = () => !!value && !!stepper() && stepper().run() === value.run && stepper().done();

function slide(place, last) {
  if (place < 0 || place >= value.count || asked === value.id + place) return;
  asked = value.id + place;
  trigger("go", { id: value.id, at: place, last });
}

function move(by) {
  if (!here()) return;
  const next = stepper().step() + by;
  if (!stepping() || next < 1 || next > stepper().steps()) return slide(value.at + by, by < 0);
  stepper().goto(next);
}

/** What waits for the next key. */
function ask() {
  const step = here() ? stepper().step() : 0, waits = value && (stepping() ? step > 0 && step < value.tokens.length : value.hide === "change");
  at.ask.replaceChildren(...(waits ? phrase("ask." + value.hide, { token: isolated(value.tokens[step] || "") }) : []));
}

function receive() {
  value = valueSent();
  asked = "";
  at.root.hidden = !value;
  document.body.classList.toggle("ts-lecture", !!value);
  if (element.closest(".block")) element.closest(".block").style.display = value ? "" : "none";
  if (!value) return;
  if (document.activeElement) document.activeElement.blur();   // keys are the lecture's now
  window.scrollTo(0, 0);
  at.title.textContent = value.lesson ? word("lesson." + value.lesson) : shown(value.title);
  at.note.textContent = value.lesson ? word(value.lesson + "." + value.slide) : value.note;
  write(at.count, word("count", { k: value.at + 1, n: value.count }));
  at.before.replaceChildren(...(value.before ? phrase("before", { text: isolated(value.before) }) : value.same ? phrase("same") : []));
  if (!following) following = requestAnimationFrame(follow);
}

/** The run comes by an event of its own, before or after the slide, and takes its step then: what is asked follows what is in view. */
function follow() {
  following = value ? requestAnimationFrame(follow) : 0;
  const seen = value && here() ? [value.id, value.at, stepper().step()].join() : "";
  if (value && seen !== asking) ask();
  asking = seen;
}

const keys = { ArrowRight: () => move(1), PageDown: () => move(1), " ": () => move(1), ArrowLeft: () => move(-1), PageUp: () => move(-1),
  ArrowDown: () => slide(value.at + 1, false), ArrowUp: () => slide(value.at - 1, false), Escape: () => trigger("done", { id: value.id, at: value.at }) };
document.addEventListener("keydown", (event) => {
  if (!value || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("dialog")) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
}, true);
at.end.onclick = () => keys.Escape();
at.root.onclick = (event) => { if (event.target !== at.end) move(1); };   // a finger has no arrow keys
(window.twoStacks ||= {}).lecture = { value: () => value };
receive();
watch("value", receive);
