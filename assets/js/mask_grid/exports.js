/* The mask in view, to take away: SVG and PNG of its cells, CSV of 0 and 1. */

const captionOf = () => word("stack." + view.stack) + (view.layer === ALL ? "" : ", " + word("layer") + " " + (view.layer + 1)) + ": " + wording(mask(), view.stack);

function maskPicture() {
  const { open, from } = picture(), [, columns] = sizes(view.stack), texts = (axis) => labels(view.stack, axis).map(([text]) => text);
  return cellsPicture(texts("column"), texts("row"), captionOf(), (i, j) => {
    const k = i * columns + j, byHand = from[k] === FROM.all || from[k] === FROM.layer;
    return [open[k] ? PALETTE.blue : "#e3e6ea", String(open[k]), byHand ? (open[k] ? "#fff" : PALETTE.vermilion) : ""];
  });
}

function maskCsv() {
  const { open } = picture(), [rows, columns] = sizes(view.stack), line = (axis) => labels(view.stack, axis).map(([text]) => csvField(text));
  const lines = line("row").map((text, i) => [text, ...open.subarray(i * columns, (i + 1) * columns)].join(","));
  return ["# " + captionOf() + "; 1: may look", [csvField(cornerTitles().join(" ")), ...line("column")].join(","), ...lines].join("\r\n") + "\r\n";
}

/** The mask in view, to read. */
((window.twoStacks ||= {}).tables ||= []).push({ at: at.scroll, table: () => {
  const { open } = picture(), [, columns] = sizes(view.stack), line = (axis) => labels(view.stack, axis).map(([text]) => text);
  return { title: captionOf(), corner: cornerTitles().join(" "), columns: line("column"), rows: line("row"), cell: (i, j) => word(open[i * columns + j] ? "visible" : "hidden") };
} });

takenAway(() => (given ? "mask-" + view.stack : ""), maskPicture, maskCsv);
