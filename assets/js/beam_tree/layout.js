/* Where each node stands: a column a step, in a column by rank, the best on top; folded ones share the last place. */

const COLUMN = 138, ROW = 27, BOX = 112, HIGH = 21, TOP = 26, LEFT = 8;

/** [{ n, x, y }] of what is drawn, and [{ step, nodes, x, y }] of what is folded. */
function layout() {
  const columns = Array.from({ length: view.upto }, () => []), places = new Map(), folds = [];
  search.nodes.forEach((node, n) => { if (node.step < view.upto) columns[node.step].push(n); });
  let rows = 1;
  columns.forEach((column, step) => {
    const x = LEFT + COLUMN * (step + 1), seen = column.filter((n) => !isFolded(n)), hidden = column.filter(isFolded);
    seen.forEach((n, k) => places.set(n, { n, x, y: TOP + ROW * k }));
    if (hidden.length) folds.push({ step, nodes: hidden, x, y: TOP + ROW * seen.length });
    rows = Math.max(rows, seen.length + (hidden.length ? 1 : 0));
  });
  return { places, folds, width: LEFT + COLUMN * (view.upto + 1), height: TOP + ROW * rows + 4 };
}
