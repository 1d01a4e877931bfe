/* Bytes of the growing self cache and the fixed cross cache, step by step: measured, beside the formula. */

function drawCaches() {
  const caches = search.caches;
  at.caches.hidden = !caches;
  if (!caches) return;
  const most = Math.max(1, ...caches.measured.flat()), now = view.upto - 1, wide = 300, high = 70, n = caches.measured.length;
  const x = (k) => (n > 1 ? (wide * k) / (n - 1) : 0), y = (b) => high - ((high - 4) * b) / most;
  const lines = [0, 1].map((which) => draw("polyline", { class: which ? "bt-cross" : "bt-self",
    points: caches.measured.map((pair, k) => x(k).toFixed(1) + "," + y(pair[which]).toFixed(1)).join(" ") }));
  at.curve.setAttribute("viewBox", "0 0 " + wide + " " + high);
  at.curve.replaceChildren(...lines, draw("line", { x1: x(now), x2: x(now), y1: 0, y2: high, class: "bt-now" }));
  const [own, cross] = caches.measured[now], formula = caches.formula;
  const said = (name, measured, counted, length, rows) => {
    const node = make("p", "bt-cache bt-cache-" + name), [layers, heads, width, size] = caches.shape || [];
    node.append(make("i"), " ", make("b", "", word("cache." + name, { bytes: measured.toLocaleString("en") })));
    if (formula) node.append(" ", make("span", "bt-quiet", word(counted === measured ? "cache.equal" : "cache.differs", {
      product: ["2", layers, heads, width, length, size, ...(rows > 1 ? [rows] : [])].join(" · "), bytes: counted.toLocaleString("en") })));
    return node;
  };
  at.bytes.replaceChildren(
    said("self", own, formula && formula.self[now], now + 1, caches.rows[now]), said("cross", cross, formula && formula.cross, search.source.length, 1));
}

((window.twoStacks ||= {}).tables ||= []).push({ at: at.curve, table: () => {
  const caches = search.caches || { measured: [] };
  return { title: word("caches"), corner: word("step"), columns: [word("cache.self.bytes"), word("cache.cross.bytes")], rows: caches.measured.map((_, k) => String(k + 1)), cell: (k, which) => caches.measured[k][which].toLocaleString("en") };
} });
