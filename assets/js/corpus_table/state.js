/* Texts as they come, the whole when it is scored, how the table is sorted and filtered. */

const at = Object.fromEntries(Array.from(element.querySelectorAll("[data-ts]"), (node) => [node.dataset.ts, node]));
const PAGE = 100;
const view = { pack: null, rows: [], measure: "", sort: "line", down: false, filter: "", differs: false, shown: PAGE };

const measure = () => (view.pack ? view.pack.measures.find((one) => one.name === view.measure) : null);
const systems = () => (view.pack ? view.pack.systems.length : view.rows.length ? view.rows[0][3].length : 0);
const letter = (k) => "ABC"[k];
const figure = (x, digits) => (x === null || x === undefined ? "–" : x.toFixed(digits).replace("-", "−"));

/** The number of a text under a system; null where there is none. */
const number = (line, k) => measure().values[k][line - 1];
/** The last system less the first; null with one system alone. */
function gain(line) {
  const n = systems(), a = number(line, 0), b = number(line, n - 1);
  return n < 2 || a === null || b === null ? null : b - a;
}

/** Rows in view, in order: a column is "line", a system's place, or "gain". What has no number stands last. */
function rows() {
  const wanted = view.filter.toLowerCase();
  const found = view.rows.filter(([, source, references, outputs]) => (!view.differs || new Set(outputs).size > 1) &&
    (!wanted || [source, ...references, ...outputs].some((text) => text.toLowerCase().includes(wanted))));
  if (view.sort === "line" || !measure()) return view.down ? found.reverse() : found;
  const value = ([line]) => (view.sort === "gain" ? gain(line) : number(line, view.sort));
  return found.sort((a, b) => {
    const x = value(a), y = value(b);
    return (x === null) - (y === null) || (view.down ? y - x : x - y) || a[0] - b[0];
  });
}
