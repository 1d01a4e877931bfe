/* A picture of plotly's as a table: the numbers that it draws, under the names of its axes and parts. */

const unmarked = (html) => new DOMParser().parseFromString(html ?? "", "text/html").body.textContent;   // what plotly writes as <sub> is text here
const axisOf = (trace, layout, letter) => layout[letter + "axis" + (trace[letter + "axis"] || letter).slice(1)] || {};
const sayAny = (x) => (x === null || x === undefined ? "" : typeof x === "number" ? minus(String(x)) : unmarked(String(x)));
const alongOf = (trace, letter, count) => (trace[letter] ? Array.from(trace[letter]) : Array.from({ length: count }, (_, k) => k));

/** Of a trace: what it is called, its axes' titles, and its numbers as [x, y, value]; value only in a matrix. */
function partOf(trace, layout, k, matrices) {
  const [across, up] = ["x", "y"].map((letter) => unmarked((axisOf(trace, layout, letter).title || {}).text)), matrix = !!trace.z;
  const heads = (layout.annotations || []).filter((one) => one.text), stands = matrix && heads.length >= matrices ? unmarked(heads[k].text) : "";
  const name = unmarked(trace.name) || stands || (trace.mode === "markers" ? word("figure.mark") : up);
  if (!matrix) return { name, across, up, points: alongOf(trace, "x", trace.y.length).map((x, i) => [x, trace.y[i]]) };
  const rows = Array.from(trace.z, (row) => Array.from(row)), xs = alongOf(trace, "x", rows[0].length), ys = alongOf(trace, "y", rows.length);
  return { name, across, up, xs, ys, rows, points: rows.flatMap((row, i) => row.map((value, j) => [xs[j], ys[i], value])) };
}

/** {corner, columns, rows, cell} of a figure; three forms: matrices, curves over the same x, or else a number a row. */
function figureTable(data, layout) {
  const matrices = data.filter((trace) => trace.z).length, parts = data.map((trace, k) => partOf(trace, layout, k, matrices)), [first] = parts;
  const same = (a, b) => a.length === b.length && a.every((x, k) => x === b[k]);
  if (matrices === data.length && parts.every((one) => same(one.xs, first.xs))) {
    const rows = parts.flatMap((one) => one.ys.map((y, i) => [(data.length > 1 ? one.name + " · " : "") + sayAny(y), one.rows[i]]));
    return { corner: [first.up, first.across].filter(Boolean).join(" \\ "), columns: first.xs.map(sayAny), rows: rows.map(([text]) => text), cell: (i, j) => sayAny(rows[i][1][j]) };
  }
  const wanders = (one) => new Set(one.points.map(([x]) => x)).size < one.points.length, places = [...new Set(parts.flatMap((one) => one.points.map(([x]) => x)))];
  if (!matrices && !parts.some((one) => one.across !== first.across || wanders(one))) {
    if (places.every((x) => typeof x === "number")) places.sort((a, b) => a - b);
    const found = parts.map((one) => new Map(one.points));
    return { corner: first.across, columns: parts.map((one) => one.name || word("figure.value")), rows: places.map(sayAny), cell: (i, j) => sayAny(found[j].get(places[i])) };
  }
  const varied = parts.some((one) => one.across !== first.across);
  const lines = parts.flatMap((one) => one.points.map((point) => [one.name + (varied && one.across ? " (" + one.across + ")" : ""), ...point]));
  const heads = matrices ? [word("figure.value")] : [];
  return { corner: "#", columns: [word("figure.part"), (!varied && first.across) || "x", (!varied && first.up) || "y", ...heads], rows: lines.map((_, k) => String(k + 1)), cell: (i, j) => sayAny(lines[i][j]) };
}
