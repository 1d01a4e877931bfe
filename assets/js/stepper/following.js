/* What scrolls by itself: the row in view, its strongest column, the current chips. All sizes are read before anything is written in a
 * frame: reading afterwards would lay the page out on the spot. */

/** Where the map's window stands. */
function sight() {
  const s = at.scroll;
  return { top: s.scrollTop, left: s.scrollLeft, height: s.clientHeight, width: s.clientWidth, scrolls: s.scrollHeight > s.clientHeight, above: grid.top, foot: at.foot.offsetHeight };
}

/** Keep the current row between the sticky labels and the sticky bars, and its strongest column in view. */
function follow(seen) {
  const { values, now } = picture(), s = at.scroll, y = now * grid.ch;
  if (now < 0 || !values[now]) return;
  if (seen.scrolls) {
    const room = seen.height - seen.above - seen.foot, hidden = Math.max(seen.top - y, y + grid.ch - seen.top - room);
    if (hidden > 0 && Math.abs(view.step - view.seen) > 1) s.scrollTop = y - room / 2;   // a jump: to the middle
    else if (hidden > 0) s.scrollTop = y < seen.top ? y - grid.ch : y + 2 * grid.ch - room;
  }
  const x = largest(values[now]) * grid.cw, wide = seen.width - grid.label;
  if (view.seen !== view.step && (x < seen.left || x + grid.cw > seen.left + wide)) s.scrollLeft = x - wide / 2;
  view.seen = view.step;
}

/** Where the chips of the step in view stand in their lists: [list, scrollTop that brings the chip into it]. */
function chipsInSight() {
  const { values, now } = picture(), moves = [], strips = [];
  if (view.step && run.rows.length) strips.push([at.output, at.output.children[view.step - 1]]);
  if (view.map === "cross" && now >= 0 && values[now]) strips.push([at.source, at.source.children[axes().columns[largest(values[now])].tokens[0]]]);
  for (const [list, node] of strips) {
    const room = list.clientHeight;
    if (!node || list.scrollHeight <= room) continue;
    const top = node.offsetTop - list.offsetTop, seen = list.scrollTop;
    if (top < seen || top + node.offsetHeight > seen + room) moves.push([list, top - 31]);
  }
  return moves;
}
