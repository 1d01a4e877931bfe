/* Three small buttons at the top, their keys, and a button behind each picture. What they open comes from the server when it is first
 * asked for. A component says `((window.twoStacks ||= {}).tables ||= []).push({ at, table })`: `at` is the node that the button follows,
 * `table()` gives { title, corner, columns, rows, cell(row, column) } of what is drawn now. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const shared = (window.twoStacks ||= {});
const kept = {   // a browser that keeps nothing still has the buttons
  get: (name) => { try { return localStorage.getItem("two-stacks-" + name); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem("two-stacks-" + name, value); } catch { /* until the page is left */ } },
};
let sheet = null, wanted = null, single = kept.get("keys") !== "off";

function open(what) {
  if (sheet) return what(sheet);
  if (!wanted) trigger("ask", {});
  wanted = what;   // the last one
}

function receive() {
  const value = valueSent();
  if (sheet || !value || value.kind !== "code") return;
  const style = document.createElement("style");
  style.textContent = value.style;
  const room = document.createElement("div");   // of its own: words of the sheet are not those of the buttons
  element.prepend(style);
  element.append(room);
  const setting = { on: () => single, turn: (on) => { single = on; kept.set("keys", on ? "on" : "off"); } };
  new Function("element", "LATE", "SINGLE", "hand", value.script)(room, value.words, setting, (made) => { sheet = made; });
  if (wanted) wanted(sheet);
}

function project(on) {
  if (!sheet) { if (on) open(() => project(true)); return; }   // its style comes with the sheet
  document.body.classList.toggle("ts-projector", on);
  at.projector.setAttribute("aria-pressed", String(on));
  kept.set("projector", on ? "on" : "off");
  window.dispatchEvent(new Event("resize"));   // pictures are laid out for the room there is
}

const turned = () => project(!document.body.classList.contains("ts-projector"));
const typing = (node) => !!node.closest && !!node.closest("textarea, select, dialog, [contenteditable], input:not([type=range], [type=checkbox], [type=radio], [type=button])");

document.addEventListener("keydown", (event) => {
  if (!single || event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
  if (event.key === "?") open((made) => made.keys());
  else if (event.key === "p" || event.key === "P") turned();
  else return;
  event.preventDefault();
});

/** Gradio's tabs know only Tab and Enter. */
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], bar = "#ts-tabs > .tab-wrapper [role=tab]";
  if (!step || !event.target.matches || !event.target.matches(bar)) return;
  const tabs = [...document.querySelectorAll(bar)].filter((one) => one.checkVisibility({ visibilityProperty: true })), next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  event.preventDefault();
  next.click();
  next.focus();
});

at.skip.onclick = () => { const tab = document.querySelector("#ts-tabs [role=tab][aria-selected=true]"); if (tab) { tab.scrollIntoView({ block: "start" }); tab.focus({ preventScroll: true }); } };
at.keys.onclick = () => open((made) => made.keys());
at.projector.onclick = turned;
if (kept.get("projector") === "on") project(true);
if (kept.get("minutes") === "off") document.body.classList.add("ts-minutes-off");

function offer({ at: node, table }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ai-table";
  button.textContent = word("table");
  button.onfocus = () => button.setAttribute("aria-label", word("table.of", { title: table().title }));
  button.onclick = () => open((made) => made.table(table()));
  queueMicrotask(() => node.after(button));   // a picture may be on its way into the page
}

(shared.tables || []).forEach(offer);
shared.tables = { push: offer };
receive();
watch("value", receive);
