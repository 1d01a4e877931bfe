/* What is shown, to take away: SVG and PNG of the map, CSV of its numbers, alignment pairs. */

function svgPicture() {
  const { values, scale, signed: both } = picture(), { columns, rows } = axes(), what = at.reduction.textContent;
  const caption = word("svg.caption", { what, low: both ? "−" + scale.toFixed(2) : "0", high: scale.toFixed(2), about: run.about });
  return cellsPicture(columns.map((group) => group.text), rows.slice(0, values.length).map((group) => group.text), caption, (t, c) => {
    const value = values[t][c];
    return Number.isNaN(value) ? null : ["rgb(" + colourOf(value, scale, both).join() + ")", both ? signed(value, 3) : digits(value)];
  });
}

function csvText() {
  const { columns, rows } = axes();
  const lines = picture().values.map((row, t) => [csvField(rows[t].text), ...Array.from(row, (x) => (Number.isNaN(x) ? "" : x.toPrecision(6)))].join(","));
  return ["# " + at.reduction.textContent + "; " + run.about + "; run " + run.id, [csvField(word("csv.corner")), ...columns.map((group) => csvField(group.text))].join(","), ...lines].join("\r\n") + "\r\n";
}

const fileName = () => (run ? view.map + "-" + run.id.slice(0, 8) : "");
takenAway(fileName, svgPicture, csvText);
at.pairs.onclick = () => run && download(fileName() + ".pairs.txt", new Blob([alignment().join(" ") + "\n"], { type: "text/plain" }));

/** What is drawn, to read: the map, the kept run under it or beside it, what each column has received, and input × gradient. */
function tableShown() {
  if (!run) return { title: word("empty"), columns: [], rows: [], cell: () => "" };
  const { values, signed: both } = picture(), { columns, rows } = axes(), number = (x) => (x === undefined || Number.isNaN(x) ? "–" : both ? signed(x, 3) : digits(x));
  const lines = values.map((row, t) => [rows[t].text, row]).concat(comparing() === "beside" ? twinValues().map((row, t) => [word("table.kept", { row: shown(twinRows()[t].text) }), row]) : [], [[word("table.received"), received()]]);
  if (!at.gradient.hidden) lines.push([word("gradient.axis"), gradientRow(view.step - 1)]);
  return { title: word("canvas", { what: at.reduction.textContent }), corner: word("csv.corner"), columns: columns.map((group) => group.text), rows: lines.map(([text]) => text),
    cell: (i, j) => (lines[i][0] === word("gradient.axis") ? signed(lines[i][1][j], 4) : lines[i][1].gap ? "" : number(lines[i][1][j])) };
}
((window.twoStacks ||= {}).tables ||= []).push({ at: at.scroll, table: tableShown });
