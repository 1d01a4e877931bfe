/* What came of each setting: its text with the words that differ from A's, its numbers; A and B are chosen here. */

const COLUMNS = ["how", "text", "logprob", "score", "gnmt", "length"];
const REST = ["repeats", "gaps", "seconds"];
const value = (x, places) => (x === null || x === undefined ? "–" : x.toFixed(places).replace("-", "−"));

/** Words of `text` that are in no longest common subsequence with `other`, as marks. */
function marked(text, other) {
  const a = text.split(" "), b = other.split(" "), size = b.length + 1, best = new Uint16Array((a.length + 1) * size);
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
    best[i * size + j] = a[i] === b[j] ? best[(i + 1) * size + j + 1] + 1 : Math.max(best[(i + 1) * size + j], best[i * size + j + 1]);
  const out = make("bdi");
  out.dir = "auto";
  for (let i = 0, j = 0; i < a.length; i++) {
    while (j < b.length && a[i] !== b[j] && best[i * size + j + 1] >= best[(i + 1) * size + j]) j++;
    const same = j < b.length && a[i] === b[j];
    out.append(i ? " " : "", same ? a[i] : make("mark", "", a[i]));
    if (same) j++;
  }
  return out;
}

function header() {
  const cells = [make("th", "", "A"), make("th", "", "B"), make("th", "", "#")];
  const named = (name) => {
    const cell = make("th", ["how", "text"].includes(name) ? "" : "tt-number", word("column." + name));
    cell.title = word("column." + name + ".title", { gap: found.gap });
    return cell;
  };
  cells.push(...COLUMNS.map(named));
  found.names.forEach((name, k) => {
    if (name === "repetition") return;
    const cell = make("th", "tt-number", name + (found.lower[k] ? " ↓" : ""));
    cell.title = found.units[k] + " · " + found.signatures[k];
    cells.push(cell);
  });
  cells.push(...REST.map(named));
  return cells;
}

function choice(which, k) {
  const cell = make("td"), node = document.createElement("input");
  Object.assign(node, { type: "radio", name: "tt-" + which, checked: view[which] === k });
  node.setAttribute("aria-label", word("choose." + which, { n: k + 1 }));
  node.onchange = () => { view[which] = k; drawResults(); askTwo(); };
  cell.append(node);
  return cell;
}

function resultRow(row, k) {
  const node = make("tr"), text = make("td", "tt-text");
  const number = (x, places, best) => make("td", "tt-number" + (best ? " tt-best" : ""), value(x, places));
  text.append(k === view.old ? isolated(row.text || "∅") : marked(row.text, found.rows[view.old].text));
  node.append(choice("old", k), choice("new", k), make("th", "", String(k + 1)), make("td", "tt-how", row.how), text,
    number(row.logprob, 3, row.logprob === Math.max(...found.rows.map((one) => one.logprob))), number(row.score, 3), number(row.gnmt, 3), number(row.length, 0));
  found.names.forEach((name, j) => {
    if (name === "repetition") return;
    const all = found.rows.map((one) => one.scores[j]), best = (found.lower[j] ? Math.min : Math.max)(...all);
    node.append(number(row.scores[j], found.units[j] === "0..1" ? 3 : 1, row.scores[j] === best && new Set(all).size > 1));
  });
  const repeats = make("td", "tt-number", row.repeats.map((rate) => rate.toFixed(2)).join(" "));
  const gaps = make("td", "tt-number", row.gaps ? String(row.gaps.length) : "–");
  gaps.title = row.gaps ? row.gaps.map(shown).join(" ") : "";
  node.append(repeats, gaps, number(row.seconds, 2));
  return node;
}

function drawResults() {
  at.heads.replaceChildren(...header());
  at.results.replaceChildren(...found.rows.map(resultRow));
}

function drawFound() {
  at.found.hidden = false;
  write(at.sentence, found.seconds === null ? word("recorded") : word("sentence", { n: found.rows.length, texts: found.texts, seconds: found.seconds.toFixed(2) }));
  write(at.notes, [found.names.length > 1 ? "" : word("unscored"), ...found.notes].filter(Boolean).join(" "));
  at.signatures.replaceChildren(...found.names.map((name, k) => make("li", "", name + " (" + found.units[k] + "): " + found.signatures[k])));
  const other = found.rows.findIndex((row) => row.text !== found.rows[0].text);
  Object.assign(view, { old: 0, new: other > 0 ? other : Math.min(1, found.rows.length - 1) });
  drawResults();
}

const askTwo = () => trigger("two", { old: found.rows[view.old].run, new: found.rows[view.new].run });

function csvText() {
  const names = [...COLUMNS, ...found.names, "1", "2", "3", "4", "gaps", "seconds"].map((name) => csvField(/^\d$/.test(name) ? "duplicate " + name + "-grams" : name));
  const lines = found.rows.map((row) => [csvField(row.how), csvField(row.text), row.logprob, row.score, row.gnmt, row.length, ...row.scores, ...row.repeats,
    row.gaps ? row.gaps.length : "", row.seconds ?? ""].join(","));
  return [names.join(","), ...lines].join("\r\n") + "\r\n";
}
