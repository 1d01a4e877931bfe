/* What is shown, to take away: SVG and PNG of the map, CSV of its numbers, alignment pairs. */

/** The map as an SVG picture with both axes' labels; built from nodes, so that no token is ever read as markup. */
function svgPicture() {
  const { values, scale, signed: both } = picture(), { columns, rows } = axes(), cell = 22, label = 120, head = 110, caption = at.reduction.textContent;
  const width = label + columns.length * cell + 60, height = head + values.length * cell + 34;
  const out = shape("svg", { xmlns: NS, width, height, viewBox: "0 0 " + width + " " + height, "font-family": "system-ui, sans-serif", "font-size": 12 });
  out.append(shape("rect", { width, height, fill: "#fff" }));
  columns.forEach((group, c) => {
    const x = label + (c + 0.5) * cell;
    out.append(shape("text", { x, y: head - 6, transform: "rotate(-45 " + x + " " + (head - 6) + ")" }, shown(group.text)));
  });
  values.forEach((row, t) => {
    out.append(shape("text", { x: label - 6, y: head + (t + 0.65) * cell, "text-anchor": "end" }, shown(rows[t].text)));
    row.forEach((value, c) => {
      if (Number.isNaN(value)) return;
      const rect = shape("rect", { x: label + c * cell, y: head + t * cell, width: cell - 1, height: cell - 1, fill: "rgb(" + colourOf(value, scale, both).join() + ")" });
      rect.append(shape("title", {}, both ? signed(value, 3) : digits(value)));
      out.append(rect);
    });
  });
  out.append(shape("text", { x: 6, y: height - 10, fill: "#555" }, word("svg.caption", { what: caption, low: both ? "−" + scale.toFixed(2) : "0", high: scale.toFixed(2), about: run.about })));
  return { text: new XMLSerializer().serializeToString(out), width, height };
}

function csvText() {
  const { columns, rows } = axes();
  const lines = picture().values.map((row, t) => [csvField(rows[t].text), ...Array.from(row, (x) => (Number.isNaN(x) ? "" : x.toPrecision(6)))].join(","));
  return ["# " + at.reduction.textContent + "; " + run.about + "; run " + run.id, [csvField(word("csv.corner")), ...columns.map((group) => csvField(group.text))].join(","), ...lines].join("\r\n") + "\r\n";
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "two-stacks-" + view.map + "-" + run.id.slice(0, 8) + name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function pngBlob() {
  const { text, width, height } = svgPicture(), picture = new Image(), canvas = document.createElement("canvas");
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await picture.decode();
  const factor = Math.min(2, 8000 / Math.max(width, height));
  canvas.width = width * factor; canvas.height = height * factor;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

at.svg.onclick = () => run && download(".svg", new Blob([svgPicture().text], { type: "image/svg+xml" }));
at.csv.onclick = () => run && download(".csv", new Blob(["\ufeff" + csvText()], { type: "text/csv" }));
at.pairs.onclick = () => run && download(".pairs.txt", new Blob([alignment().join(" ") + "\n"], { type: "text/plain" }));
at.png.onclick = async () => { if (run) download(".png", await pngBlob()); };
