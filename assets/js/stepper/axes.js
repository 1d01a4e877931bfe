/* Axes: which tokens are drawn as one label, and the matrix between two axes. A group is {text, members, tokens, size, dim}: members index
 * the matrix, tokens the chips (other numbers only where the matrix arrives in blocks), size counts the labels that were merged. */

const tokensOf = (axis) => (axis === "source" ? run.source : axis === "output" ? run.rows.map((row) => row.t)
  : axis === "blocks" ? blockTokens() : run.rows.map((_, t) => (t ? run.rows[t - 1].t : run.first)));
const MOST = 128;   // labels of one axis that are drawn one by one

/** The blocks that a long source arrives in, as tokens. */
function blockTokens() {
  return (run.blockTokens ||= Array.from({ length: lengthOf("blocks") }, (_, b) => {
    const some = run.source.slice(b * run.block, (b + 1) * run.block);
    return [spelled(some), b, some[0][2], some[some.length - 1][3]];
  }));
}

/** Neighbouring tokens as one text, with a blank where one was. */
const spelled = (tokens) => tokens.reduce((text, token, i) => text + (i && !(token[2] < token[3] && tokens[i - 1][3] === token[2]) ? " " : "") + token[0], "");
const BYTES = /^(<[0-9A-F]{2}>)+$/;                          // part of a character: belongs to the piece that completes it
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;   // scripts that put no space between words

/** The task prefix and tokens that stand for no text (end of sequence, the decoder's start, language codes). */
function special(axis, i, token = tokensOf(axis)[i]) {
  if (axis === "blocks") return false;
  if (axis === "source" && (i < run.prefix || (i === run.source.length - 1 && token[0] === "</s>"))) return true;
  return (axis === "fed" && i === 0) || (token[2] >= token[3] && !BYTES.test(token[0]));
}

/** Whether token i continues the word of token i - 1: no blank between them, and neither is punctuation. */
function continues(tokens, i) {
  const [a, b] = [tokens[i - 1], tokens[i]];
  if (BYTES.test(a[0])) return true;
  return a[2] < a[3] && b[2] < b[3] && a[3] === b[2] && ![a, b].some((token) => PUNCTUATION.test(token[0]) || UNSPACED.test(token[0]));
}

/** The labels of an axis as the person wants them, kept until the wish or the run changes. */
function groups(axis) {
  const key = [view.words, view.specials, view.page, run.rows.length].join();
  if (!run.grouped || run.grouped.key !== key) run.grouped = { key };
  return (run.grouped[axis] ||= axis === "source" ? paged(grouping(axis)) : grouping(axis));
}

/** How many labels of a long source are one column: 1, or as many as it takes for MOST columns. */
const blockSize = (count) => Math.ceil(count / MOST);

/** A long list of labels in blocks of neighbours, or one page of it. A block holds no special token beside others. */
function paged(list) {
  if (list.length <= MOST) return list;
  if (view.page >= 0) return list.slice(view.page * MOST, (view.page + 1) * MOST);
  const size = blockSize(list.length), found = [];
  for (const group of list) {
    const last = found[found.length - 1];
    if (last && last.size < size && last.dim === group.dim) Object.assign(last, { members: [...last.members, ...group.members], tokens: [...last.tokens, ...group.tokens], size: last.size + 1 });
    else found.push({ ...group });
  }
  for (const group of found) if (group.size > 1) group.text = spelled(group.tokens.map((i) => run.source[i]));
  return found;
}

const blockMembers = (b) => Array.from({ length: Math.min(run.block, run.source.length - b * run.block) }, (_, i) => b * run.block + i);

/** Pieces or whole words, with or without special tokens. */
function grouping(axis) {
  const tokens = tokensOf(axis), found = [];
  tokens.forEach((token, i) => {
    const dim = special(axis, i, token), before = found[found.length - 1];
    if (view.words && axis !== "blocks" && i && !dim && before && !before.dim && continues(tokens, i)) {
      before.text += token[0];
      before.members.push(i);
      before.tokens.push(i);
    } else found.push({ text: token[0], members: [i], tokens: axis === "blocks" ? blockMembers(i) : [i], size: axis === "blocks" ? blockMembers(i).length : 1, dim });
  });
  return view.specials || axis === "blocks" ? found : found.filter((group) => !group.dim);
}

const axesKey = () => [run.id, view.map, view.words, view.specials, view.page, run.rows.length, comparing()].join();

/** {columns, rows}: groups of the map in view; `rowAt` and `columnAt` give the group of a token, or -1 where it is hidden. */
function axes() {
  const key = axesKey();
  if (run.axes && run.axes.key === key) return run.axes;
  const columns = groups(axisOf("columns")), rows = groups(axisOf("rows"));
  const where = (list) => (token) => list.findIndex((group) => group.members.includes(token));
  return (run.axes = { key, columns, rows: withOther(rows), rowAt: where(rows), columnAt: (token) => columns.findIndex((group) => group.tokens.includes(token)) });
}

/** A token row on the column groups: pieces of a word add up; NaN where nothing may be read (the future). */
const merged = (row, columns) => Float64Array.from(columns, ({ members }) => {
  let sum = NaN;
  for (const c of members) if (c < row.length) sum = (Number.isNaN(sum) ? 0 : sum) + row[c];
  return sum;
});

/** Token row t under the switch: the weights, what was received up to and with this step, or the overlap with what came before. */
function tokenRow(r, t) {
  if (view.cover === "weights") return r.rows[t];
  if (view.cover === "sum") return r.covered[t];
  return r.rows[t].map((weight, c) => Math.min(weight, t && c < r.covered[t - 1].length ? r.covered[t - 1][c] : 0));
}

/** Rows of one word: weights are averaged, received mass is the last piece's, overlap adds up (it is a sum over steps). */
function mergedRows(list) {
  const out = list[view.cover === "sum" ? list.length - 1 : 0].slice();
  if (view.cover === "sum" || list.length === 1) return out;
  for (const row of list.slice(1)) row.forEach((x, c) => { if (!Number.isNaN(x)) out[c] = (Number.isNaN(out[c]) ? 0 : out[c]) + x; });
  return view.cover === "weights" ? out.map((x) => x / list.length) : out;
}

/** Only the largest of a row, as 1. */
function hardened(row) {
  let most = -1;
  row.forEach((x, c) => { if (!Number.isNaN(x) && (most < 0 || x > row[most])) most = c; });
  return row.map((x, c) => (Number.isNaN(x) ? NaN : c === most ? 1 : 0));
}

/** The matrix in view after `steps` steps: one Float64Array(columns) a row group. A word of several pieces averages those that are written.
 * A row whose pieces are all written is kept: the same array at every step. */
function valuesAt(steps, columns = groups(axisOf("columns"))) {
  const r = reduction(), known = grows() ? Math.min(steps, rowsKnown()) : rowsKnown(), out = [];
  const key = [view.map, view.layer, view.head, view.cover, view.hard, view.words, view.specials, view.page, columns.length].join();
  if (!run.kept || run.kept.key !== key) run.kept = { key, rows: [] };
  for (const { members } of groups(axisOf("rows"))) {
    const written = members.filter((t) => t < known), kept = run.kept.rows[out.length];
    if (!written.length) break;
    if (kept && kept.size === written.length && kept.size === members.length) { out.push(kept.row); continue; }
    const merge = mergedRows(written.map((t) => merged(tokenRow(r, t), columns))), row = view.hard ? hardened(merge) : merge;
    if (written.length === members.length) run.kept.rows[out.length] = { size: members.length, row };
    out.push(row);
  }
  return out;
}

/** {values, scale, now, signed}: what is drawn; `scale` is the colour range's end, the same at every step; `now` the row in view or -1. */
function picture() {
  const key = [axesKey(), view.layer, view.head, view.cover, view.hard, comparing(), view.step].join();
  if (run.picture && run.picture.key === key) return run.picture;
  const values = compared(view.step), scaleKey = key.slice(0, key.lastIndexOf(","));
  if (!run.scale || run.scale.key !== scaleKey) {
    const all = [...compared(Infinity), ...(comparing() === "beside" ? ofOther(() => valuesAt(Infinity)) : [])];   // both on one scale
    const top = all.reduce((best, row) => row.reduce((a, x) => (Math.abs(x) > a ? Math.abs(x) : a), best), 0);
    run.scale = { key: scaleKey, top: Math.max(0.05, Math.ceil(top * 20 - 1e-9) / 20) };
  }
  for (const row of values) row.gap ??= row.every(Number.isNaN);   // a row of a run that has ended, beside one that goes on
  const now = grows() && view.step ? axes().rowAt(view.step - 1) : -1;
  return (run.picture = { key, values, scale: run.scale.top, now, signed: comparing() === "difference" });
}

/** Attention that each column group has received after `steps` steps (in the encoder: from all positions). */
function received(steps = view.step) {
  const r = reduction(), last = grows() ? steps : rowsKnown();
  return last ? merged(r.covered[last - 1], axes().columns).map((x) => x || 0) : new Float64Array(axes().columns.length);
}

/** Mass on columns that are hidden, or on other pages: of the row in view, and of all rows so far. */
function hiddenMass() {
  const r = reduction(), shownOnes = new Set(axes().columns.flatMap((group) => group.members)), last = grows() ? view.step : rowsKnown();
  const outside = (row) => row.reduce((sum, x, c) => sum + (shownOnes.has(c) ? 0 : x), 0);
  return last ? { row: outside(r.rows[last - 1]), all: outside(r.covered[last - 1]) } : { row: 0, all: 0 };
}

/** Alignment pairs "i-j" (source-output, both from 0 and counted without hidden labels): each output row with its largest column. */
const alignment = () => valuesAt(run.rows.length, grouping(axisOf("columns"))).map((row, j) => row.reduce((best, x, c) => (x > row[best] ? c : best), 0) + "-" + j);
