/* Pictures to take away: SVG built from nodes, so that no token is ever read as markup; PNG of it. */

const NS = "http://www.w3.org/2000/svg";
function shape(tag, attributes, text) {
  const node = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** A white sheet of so many px. */
function sheetOf(width, height) {
  const out = shape("svg", { xmlns: NS, width, height, viewBox: "0 0 " + width + " " + height, "font-family": "system-ui, sans-serif", "font-size": 12 });
  out.append(shape("rect", { width, height, fill: "#fff" }));
  return out;
}

/** Rows of cells with the labels of both axes; cell(row, column): [colour, title], or null for none. A line of text stands below. */
function cellsPicture(columns, rows, caption, cell) {
  const size = 22, label = 120, head = 110, width = label + columns.length * size + 60, height = head + rows.length * size + 34, out = sheetOf(width, height);
  columns.forEach((text, c) => {
    const x = label + (c + 0.5) * size;
    out.append(shape("text", { x, y: head - 6, transform: "rotate(-45 " + x + " " + (head - 6) + ")" }, shown(text)));
  });
  rows.forEach((text, t) => {
    out.append(shape("text", { x: label - 6, y: head + (t + 0.65) * size, "text-anchor": "end" }, shown(text)));
    columns.forEach((_, c) => {
      const found = cell(t, c);
      if (!found) return;
      const rect = shape("rect", { x: label + c * size, y: head + t * size, width: size - 1, height: size - 1, fill: found[0] });
      rect.append(shape("title", {}, found[1]));
      out.append(rect, ...(found[2] ? [shape("circle", { cx: label + (c + 0.5) * size, cy: head + (t + 0.5) * size, r: 3.5, fill: found[2] })] : []));
    });
  });
  out.append(shape("text", { x: 6, y: height - 10, fill: "#555" }, caption));
  return { text: new XMLSerializer().serializeToString(out), width, height };
}

async function pngOf({ text, width, height }) {
  const picture = new Image(), canvas = document.createElement("canvas");
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await picture.decode();
  const factor = Math.min(2, 8000 / Math.max(width, height));
  canvas.width = width * factor; canvas.height = height * factor;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** The buttons png, svg and csv; `name()` begins the file's name, or is "" while there is nothing to take away. */
function takenAway(name, picture, csv) {
  const from = (make) => async () => { if (name()) await make(name()); };
  at.svg.onclick = from((begin) => download(begin + ".svg", new Blob([picture().text], { type: "image/svg+xml" })));
  at.png.onclick = from(async (begin) => download(begin + ".png", await pngOf(picture())));
  at.csv.onclick = from((begin) => downloadCsv(begin, csv()));
}
