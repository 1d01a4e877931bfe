/* What arrives, and what a person asks for. */

function receive() {
  const value = valueSent();
  if (!value) return;
  element.dataset.ready = value.kind;
  if (value.kind === "refused") return write(at.refusal, value.text);
  pack = value.keep && pack && !value.open ? { ...value, open: pack.open } : value;
  draw();
  if (value.file) handOver(...value.file);
}

/** A file that came with the pack is handed to the person. */
function handOver(name, type, base64) {
  save(name, new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type }));
}

const ask = (deed, more = {}) => trigger("act", { do: deed, ...more });
const here = (deed, more = {}) => { if (pack && pack.open) ask(deed, { id: pack.open.id, ...more }); };

/** What the person looks at, for a link that shows the same. */
function looking() {
  const stepper = (window.twoStacks || {}).stepper, bar = (window.twoStacks || {}).replay;
  const replaying = bar && bar.value() && pack.open && bar.value().id === pack.open.id;
  return { ...(stepper ? stepper.look() : {}), tab: bar ? bar.tab() : "attention", ...(replaying ? { row: bar.value().row, event: bar.value().event } : {}) };
}

/** A button that takes something away asks once more, by its own words. */
function twice(button, deed, key = button.dataset.say) {
  let timer = 0;
  const calm = () => { button.classList.remove("sl-sure"); button.textContent = word(key); };
  button.onclick = () => {
    clearTimeout(timer);
    if (button.classList.contains("sl-sure")) { calm(); return deed(); }
    button.classList.add("sl-sure");
    button.textContent = word(key + ".sure");
    timer = setTimeout(calm, 5000);
  };
}

at.list.addEventListener("click", (event) => { const node = event.target.closest("[data-id]"); if (node) ask("open", { id: node.dataset.id }); });
at.entries.addEventListener("click", (event) => { const node = event.target.closest("[data-row]"); if (node) here("replay", { row: +node.dataset.row }); });
at.replay.onclick = () => here("replay", { row: pack.open.entries[0].row });
at.present.onclick = () => here("present");
at.edit.onchange = () => { if (pack) drawOpen(); };
at.share.onclick = () => here("share", { view: looking() });
at.unshare.onclick = () => here("unshare");
at.export.onclick = () => here("export");
at.page.onclick = () => here("page");
at.copy.onclick = () => { at.address.select(); if (navigator.clipboard) navigator.clipboard.writeText(at.address.value).then(() => write(at.copy, word("copied")), () => {}); };
twice(at.delete, () => here("delete"));
twice(at.forget, () => ask("forget"));
for (const name of ["name", "note"]) at[name].onchange = () => here("write", { name: at.name.value, note: at.note.value });
at.import.onchange = async () => {
  const file = at.import.files[0];
  at.import.value = "";
  if (!file) return;
  if (file.size > +at.root.dataset.most) return write(at.refusal, word("large", { n: bytes(+at.root.dataset.most) }));
  const reader = new FileReader();
  reader.onload = () => ask("import", { file: String(reader.result).split(",")[1] || "" });
  reader.readAsDataURL(file);
};
receive();
watch("value", receive);
