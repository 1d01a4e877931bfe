/* The whole as files. */

function csvText() {
  const { rows, systems: all, measures } = view.pack, most = Math.max(0, ...rows.map((row) => row[2].length));
  const names = ["line", "source", ...Array.from({ length: most }, (_, k) => "reference" + (k + 1)), ...all.map((one) => one.name + " " + one.how),
    ...measures.flatMap((one) => all.map((system) => one.name + " " + system.name))];
  const lines = rows.map(([line, source, references, outputs]) => [line, csvField(source), ...Array.from({ length: most }, (_, k) => csvField(references[k] || "")),
    ...outputs.map(csvField), ...measures.flatMap((one) => all.map((_, k) => one.values[k][line - 1] ?? ""))].join(","));
  return [names.map(csvField).join(","), ...lines].join("\r\n") + "\r\n";
}

function download(text, type, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = "two-stacks-corpus." + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

at.csv.onclick = () => download("\ufeff" + csvText(), "text/csv;charset=utf-8", "csv");
at.json.onclick = () => download(JSON.stringify(view.pack, null, 1), "application/json", "json");
