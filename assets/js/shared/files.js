/* Files to take away. */

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const download = (name, blob) => save("two-stacks-" + name, blob);
const downloadCsv = (name, text) => download(name + ".csv", new Blob(["\ufeff" + text], { type: "text/csv;charset=utf-8" }));   // the mark tells Excel of UTF-8
const downloadJson = (name, text) => download(name + ".json", new Blob([text], { type: "application/json" }));
