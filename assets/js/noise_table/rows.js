/* All noises on one text: a row each, as they come. Published figures stand beside ours under their papers' names. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
const none = "–";

function published(figures) {
  const cell = make("td", "nz-published");
  for (const one of figures) {
    const line = make("div");
    line.append(make("b", "", one.table.replace(/ \(.*/, "") + ": "), one.label + ": ", one.figures.map(([column, value]) => column + " " + value.toFixed(/F1|acc/.test(column) ? 1 : 2)).join(" · "));
    cell.append(line);
  }
  return cell;
}

const share = (x) => (x === null ? none : (100 * x).toFixed(1) + " %");
const change = (n, original) => (n === null ? none : n + (n === original ? "" : " (" + (n > original ? "+" : "−") + Math.abs(n - original) + ")"));

function row(one) {
  const node = make("tr"), title = make("th", "", (TEXTS["noise_picker." + one.name + ".title"] || one.name));
  node.dataset.noise = one.name;
  if (!one.learned) title.append(" ", make("sup", "", "†"));
  title.scope = "row";
  node.append(title, make("td", "", change(one.length, one.original)), make("td", "", one.target === null ? none : String(one.target)),
    make("td", "", one.achieved === null ? none : share(one.achieved) + " / " + share(one.requested)));
  if (one.reason) {
    const why = make("td", "nz-reason", one.reason);
    why.colSpan = 3;
    node.append(why);
  } else {
    const exact = make("td", one.exact ? "nz-yes" : "nz-no", word(one.exact ? "yes" : "no"));
    exact.title = one.wrote;
    node.append(make("td", "nz-number", one.loss === null ? none : one.loss.toFixed(3)), exact, make("td", "", one.spans ? one.right + " / " + one.spans : none));
  }
  node.append(published(one.published));
  const names = one.reason ? ["length", "target", "achieved", "", "published"] : ["length", "target", "achieved", "loss", "exact", "spans", "published"];
  [...node.querySelectorAll("td")].forEach((cell, k) => { cell.dataset.name = names[k] ? word("column." + names[k]).replace(/ \(.*/, "") : ""; });   // of a phone's cards
  return node;
}

function receive() {
  const value = valueSent();
  at.root.hidden = !value;
  if (!value) return;
  at.refusal.textContent = value.kind === "refused" ? value.text : "";
  if (value.kind !== "table") return;
  const values = { model: value.model, n: value.rows.length, of: value.of, seed: value.seed, tasks: value.tasks.join(", ") }, unlearned = value.rows.some((one) => !one.learned);
  at.about.textContent = word(value.stopped ? "stopped" : value.rows.length < value.of ? "progress" : "done", values) + (unlearned ? " † " + word("honest", values) : "");
  at.rows.replaceChildren(...value.rows.map(row));
  element.dataset.rows = value.rows.length;
}

at.sources.replaceChildren(...props.sources.map(([table, source]) => make("li", "", table + ": " + source + ".")));
receive();
watch("value", receive);
