/* A dialog that shows the keys of every view, or a picture as a table. Tokens reach it by textContent only. It is modal: Escape closes
 * it, and the browser then puts the focus back where it was. */

const MOST = 20000;   // cells of a table; more would hold up the page
const dialog = make("dialog", "hs-dialog"), head = make("header", "hs-head"), title = make("h2", "hs-title"), close = make("button", "hs-close", word("close")), body = make("div", "hs-body");
title.id = "hs-title";
dialog.setAttribute("aria-labelledby", title.id);
close.type = "button";
close.onclick = () => dialog.close();
dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };   // beside it
head.append(title, close);
dialog.append(head, body);
element.append(dialog);

function open(text, nodes) {
  title.textContent = text;
  body.replaceChildren(...nodes);
  body.scrollTop = 0;
  if (!dialog.open) dialog.showModal();
}

/** Every text "at.VIEW" names a view; every "at.VIEW.KEYS" is a row: its keys, a bar, and what they do. */
function keys() {
  const groups = new Map();
  for (const [key, text] of Object.entries(TEXTS)) {
    const [view, row] = key.startsWith(PREFIX + "at.") ? key.slice((PREFIX + "at.").length).split(".") : [];
    if (!view) continue;
    if (!row) { groups.set(view, rowsOf(view, text)); continue; }
    const [names, does] = text.split("|"), line = make("tr"), left = make("th");
    left.scope = "row";
    left.append(...names.split(", ").flatMap((name) => [make("kbd", "", name), " "]));
    line.append(left, make("td", "", does));
    groups.get(view).lastChild.append(line);
  }
  const columns = make("div", "hs-columns"), label = make("label", "hs-single"), check = make("input");
  columns.append(...groups.values());
  check.type = "checkbox";
  check.checked = SINGLE.on();
  check.onchange = () => SINGLE.turn(check.checked);
  label.append(check, " ", word("single"));
  open(word("title"), [make("p", "", word("about")), label, columns]);
}

function rowsOf(view, text) {
  const table = make("table", "hs-keys");
  table.dataset.view = view;
  table.append(make("caption", "", text), make("tbody"));
  return table;
}

/** {title, corner, columns, rows, cell} as a table with headers; what is beyond MOST cells is left to the CSV file. */
function table({ title: text, corner, columns, rows, cell }) {
  const some = Math.max(1, Math.floor(MOST / Math.max(1, columns.length))), node = make("table", "hs-table"), top = make("tr"), rest = make("tbody"), scroll = make("div", "hs-scroll");
  const named = (tag, scope, name) => { const one = make(tag, "", scope ? shown(name) : name); if (scope) { one.scope = scope; one.dir = "auto"; } return one; };
  top.append(named("th", "col", corner || " "), ...columns.map((name) => named("th", "col", name)));
  rest.append(...rows.slice(0, some).map((name, i) => {
    const line = make("tr");
    line.append(named("th", "row", name), ...columns.map((_, j) => named("td", "", cell(i, j))));
    return line;
  }));
  const thead = make("thead");
  thead.append(top);
  node.append(make("caption", "", word("size", { rows: rows.length, columns: columns.length }) + (rows.length > some ? " " + word("cut", { rows: some }) : "")), thead, rest);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-labelledby", title.id);
  scroll.append(node);
  open(text, [scroll]);
}

hand({ keys, table });
