/* Own sessions, and one that is open. Whatever a visitor typed reaches the page by textContent or as the value of a field. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
let pack = null;   // what is shown

const day = (made) => { const date = new Date(made); return Number.isNaN(date.getTime()) ? made : date.toLocaleString(document.documentElement.lang || undefined, { dateStyle: "medium", timeStyle: "short" }); };

function card(session) {
  const item = make("li"), node = make("button", "sl-card"), name = make("span", "sl-name");
  node.type = "button";
  node.dataset.id = session.id;
  name.append(isolated(session.name));
  node.append(name, make("span", "sl-quiet", [day(session.changed), plural("records", session.records), bytes(session.bytes)].join(" · ")));
  for (const mark of ["current", "shared"]) if (session[mark]) node.append(make("span", "sl-badge", word(mark)));
  if (pack.open && pack.open.id === session.id) node.setAttribute("aria-current", "true");
  item.append(node);
  return item;
}

function entry(one, number) {
  const item = make("li"), node = make("button", "sl-entry"), head = make("span", "sl-quiet", [number + 1, day(one.made), word("kind." + one.kind), ...(one.steps ? [plural("steps", one.steps)] : [])].join(" · ")), text = make("span", "sl-text");
  node.type = "button";
  node.dataset.row = one.row;
  if (one.status !== "done") head.append(" ", make("span", "sl-badge", word("status." + one.status)));
  if (one.input) text.append(isolated(one.input));
  if (one.output) text.append(one.input ? " → " : "", isolated(one.output));
  node.append(head, text);
  const changes = Object.entries(one.changed);
  if (changes.length) node.append(make("span", "sl-changes", changes.map(([name, value]) => name + " = " + value).join(", ")));
  item.append(node);
  if (at.edit.checked) item.append(slide(one));
  return item;
}

/** Of a run: what a lecture says of it and hides at first; a copy for another session, such as a playlist; away with it. */
function slide(one) {
  const line = make("div", "sl-slide"), note = make("input"), hide = make("select"), copy = make("select"), remove = make("button", "sl-button", word("remove"));
  const option = (list, value, text) => { const node = make("option", "", text); node.value = value; list.append(node); };
  const said = () => here("remark", { row: one.row, note: note.value, hide: hide.value });
  Object.assign(note, { type: "text", maxLength: 2000, value: one.note, placeholder: word("slide.note"), onchange: said, hidden: one.kind !== "trace" });
  for (const name of ["", "token", "row", "change"]) option(hide, name, word("hide." + (name || "none")));
  Object.assign(hide, { value: one.hide, onchange: said, hidden: one.kind !== "trace" });
  option(copy, "", word("collect"));
  option(copy, "new", word("collect.new"));
  for (const session of pack.sessions) if (session.id !== pack.open.id) option(copy, session.id, shown(session.name));
  copy.onchange = () => here("collect", { row: one.row, ...(copy.value === "new" ? { name: word("collect.name") } : { to: copy.value }) });
  for (const [node, name] of [[note, "slide.note"], [hide, "hide"], [copy, "collect"]]) node.setAttribute("aria-label", word(name));
  remove.type = "button";
  twice(remove, () => here("remove", { row: one.row }), "remove");
  line.append(note, hide, copy, ...(pack.open.mine ? [remove] : []));
  return line;
}

function drawOpen() {
  const open = pack.open;
  at.open.hidden = !open;
  if (!open) return;
  for (const name of ["name", "note"]) if (document.activeElement !== at[name]) at[name].value = open[name];
  for (const name of ["name", "note"]) at[name].readOnly = !open.mine;
  for (const name of ["share", "unshare", "delete"]) at[name].hidden = !open.mine || (name !== "delete" && open.shared === (name === "share"));
  at.notmine.hidden = open.mine;
  at.replay.disabled = !open.entries.length;
  at.present.disabled = !open.entries.some((one) => one.kind === "trace" && one.steps);
  at.editline.hidden = !open.mine || !open.entries.length;
  if (!open.mine) at.edit.checked = false;
  at.link.hidden = !(open.mine && open.shared);
  at.address.value = location.origin + location.pathname + "?session=" + encodeURIComponent(open.id);
  at.entries.replaceChildren(...open.entries.map(entry));
  write(at.more, open.total > open.entries.length ? word("more", { n: open.total }) : "");
}

function draw() {
  write(at.refusal, "");
  at.ends.hidden = !pack.ends;
  at.none.hidden = pack.sessions.length > 0;
  at.forget.disabled = !pack.sessions.length;
  at.list.replaceChildren(...pack.sessions.map(card));
  drawOpen();
}
