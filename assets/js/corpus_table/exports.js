/* The whole as files. */

function csvText() {
  const { rows, systems: all, measures } = view.pack, most = Math.max(0, ...rows.map((row) => row[2].length));
  const names = ["line", "source", ...Array.from({ length: most }, (_, k) => "reference" + (k + 1)), ...all.map((one) => one.name + " " + one.how),
    ...measures.flatMap((one) => all.map((system) => one.name + " " + system.name))];
  const lines = rows.map(([line, source, references, outputs]) => [line, csvField(source), ...Array.from({ length: most }, (_, k) => csvField(references[k] || "")),
    ...outputs.map(csvField), ...measures.flatMap((one) => all.map((_, k) => one.values[k][line - 1] ?? ""))].join(","));
  return [names.map(csvField).join(","), ...lines].join("\r\n") + "\r\n";
}

at.csv.onclick = () => downloadCsv("corpus", csvText());
at.json.onclick = () => downloadJson("corpus", JSON.stringify(view.pack, null, 1));
