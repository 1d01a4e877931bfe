/* What a model rebuilt: a row for each hidden span, with the cross-attention of its true tokens as a strip over the encoder's input. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
const COLOURS = PALETTE.categories;   // as in the corruption view
const ROW = 14;   // px of one token's row

function colour(x) {
  const place = 9 * Math.min(1, Math.max(0, x)), k = Math.min(8, Math.floor(place)), f = place - k;
  return PALETTE.sequential[k].map((a, i) => Math.round(a + f * (PALETTE.sequential[k + 1][i] - a)));
}

/** (tokens, source) as pixels, one each; css makes them as large as there is room. */
function strip(span, source, scale) {
  const canvas = make("canvas", "nz-strip"), rows = span.weights, n = source.length;
  canvas.width = n;
  canvas.height = rows.length;
  canvas.style.height = ROW * rows.length + "px";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", word("strip", { text: span.true.map(shown).join(" ") }));
  const picture = new ImageData(n, rows.length);
  rows.forEach((row, t) => row.forEach((x, s) => picture.data.set([...colour(x / scale), 255], 4 * (t * n + s))));
  canvas.getContext("2d").putImageData(picture, 0, 0);
  canvas.onpointermove = (event) => {
    const frame = canvas.getBoundingClientRect();
    const s = Math.min(n - 1, Math.floor(((event.clientX - frame.left) / frame.width) * n)), t = Math.min(rows.length - 1, Math.floor(((event.clientY - frame.top) / frame.height) * rows.length));
    if (s >= 0 && t >= 0) tip(event, rows[t][s].toFixed(3), phrase("reads", { row: isolated(span.true[t]), column: isolated(source[s]) }));
  };
  ((window.twoStacks ||= {}).tables ||= []).push({ at: canvas, table: () => ({ title: canvas.getAttribute("aria-label"), columns: source, rows: span.true, cell: (t, s) => rows[t][s].toFixed(3) }) });
  canvas.onpointerleave = () => { at.tip.style.display = "none"; };
  return canvas;
}

function tip(event, number, words) {
  const line = make("div"), frame = at.root.getBoundingClientRect(), zoom = at.root.currentCSSZoom || 1;
  line.append(...words);
  at.tip.replaceChildren(make("strong", "", number), line);
  at.tip.style.display = "block";
  at.tip.style.left = Math.max(4, Math.min((event.clientX - frame.left) / zoom + 12, frame.width / zoom - at.tip.offsetWidth - 8)) + "px";
  at.tip.style.top = (event.clientY - frame.top) / zoom + 16 + "px";
}

/** The token that a span's rows look at most, and its mean weight. */
function most(span, source) {
  const sums = source.map((_, s) => span.weights.reduce((sum, row) => sum + row[s], 0) / span.weights.length);
  const best = sums.indexOf(Math.max(...sums));
  return phrase("most", { column: isolated(source[best]), weight: sums[best].toFixed(3) });
}
