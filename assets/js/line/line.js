/* One line of words. What stands in its places may come from a visitor: it reaches the page by textContent. */

function tell() {
  const { key = "", values = {} } = valueSent() || {};
  element.querySelector("[data-ts=line]").textContent = key ? word(key, values) : "";
}
tell();
watch("value", tell);
