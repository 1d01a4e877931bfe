/* The stepper: draws one decoder run and steps, plays and scrubs it without asking the server. Its state comes first.
 *
 * Gradio runs these files, joined in the order of SCRIPTS (app/widgets/stepper.py), once, as a function body with `element`, `props`
 * and `watch`. A pack is kept as `run`; what the person looks at is kept as `view`; `paint()` brings the page to (run, view) in the
 * next frame. Axes: layers, heads, source (columns), target (rows, one a step). Weights are float16 in base64 and decoded a row at a
 * time, when first shown.
 * Tokens are untrusted text: they reach the page by textContent only. */

const part = (name) => element.querySelector('[data-ts="' + name + '"]');
const names = "root map layer head cover hard words specials multiples many reduction ramp scale about notes source output text first back play " +
  "forward last scrub count speed caption hidden scroll sheet corner cols mid rows cells canvas column current hovered foot unit axis bars " +
  "plain plot message body stage side tip under over marks png svg csv pairs explain gradient shares contrast pages page keep compare kept " +
  "twin twincols twinrows twincells twincanvas twinhovered linked unfold";
const at = Object.fromEntries(names.split(" ").map((name) => [name, part(name)]));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const BAR_HEIGHT = 92;

let run = null;                                    // the run on the page, see load()
let other = null;                                  // a kept run, to compare with
let orphans = { run: null, rows: new Map() };      // rows that came before the start of their run
const view = { map: "cross", layer: "mean", head: "mean", cover: "weights", compare: "off", page: -1, hard: false, words: false, specials: true, multiples: false, chosen: false,
  under: 0.5, over: 1.5, step: 0, playing: false, column: -1, pinned: -1, timer: 0, seen: 0 };
const grid = { cw: 0, ch: 0, rows: 0, label: 0, dark: false, width: 0, axes: "" };
