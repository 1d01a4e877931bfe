/* This tab is open: said four times a minute, in a request that is over at once. A connection that stays open for each tab would take
 * the six that a browser has for one host. */
const EVERY = 15000;
let name = "";

function say(left) {
  if (!name) return;
  const address = ((window.gradio_config || {}).root || "") + "/beat/" + name + (left ? "?left=1" : "");
  if (left) navigator.sendBeacon(address);
  else fetch(address, { method: "POST", keepalive: true }).catch(() => {});   // a host that is away for a while is told next time
}

function receive() {
  const value = valueSent();
  if (!value || value.kind !== "tab" || name) return;
  name = value.name;
  say(false);
  setInterval(() => say(false), EVERY);
}

window.addEventListener("pagehide", (event) => say(!event.persisted));   // a page that may come back is not closed
window.addEventListener("pageshow", (event) => { if (event.persisted) say(false); });
receive();
watch("value", receive);
