/* A head that sorts its table: pressed again it turns round. Uses `view` and `drawTexts` of its component. */

function head(text, sort, title) {
  const node = make("th"), button = make("button", "sc-sort", text), here = view.sort === sort;
  button.type = "button";
  button.title = title;
  if (here) button.append(view.down ? " ↓" : " ↑");
  button.onclick = () => { view.down = here ? !view.down : sort !== "line"; view.sort = sort; drawTexts(); };
  node.setAttribute("aria-sort", here ? (view.down ? "descending" : "ascending") : "none");
  node.dataset.column = sort;
  node.append(button);
  return node;
}
