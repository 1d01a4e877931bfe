/* A row of inputs for each setting. */

const completed = (row) => ({ do_sample: false, ...Object.fromEntries(Object.entries(FIELDS).map(([name, [, , , start]]) => [name, start])), ...row });

function numberInput(trial, name) {
  const node = document.createElement("input"), [low, high, step] = FIELDS[name], why = idle(trial, name);
  Object.assign(node, { type: "number", min: low, max: high, step, value: trial[name], disabled: !!why });
  node.title = why ? word(why) : word("set." + name + ".title");
  node.setAttribute("aria-label", word("set." + name));
  node.dataset.field = name;
  node.onchange = () => {
    const value = Number(node.value);
    trial[name] = node.value !== "" && Number.isFinite(value) ? Math.max(low, Math.min(high, step === 1 ? Math.round(value) : value)) : FIELDS[name][3];
    drawSettings();
  };
  return node;
}

function kindInput(trial) {
  const node = make("select", "ts-select");
  for (const kind of ["search", "sampled"]) node.append(Object.assign(make("option", "", word("kind." + kind)), { value: kind }));
  node.value = trial.do_sample ? "sampled" : "search";
  node.setAttribute("aria-label", word("set.how"));
  node.onchange = () => {
    trial.do_sample = node.value === "sampled";
    if (trial.do_sample) trial.beams = 1;
    drawSettings();
  };
  return node;
}

function settingRow(trial, k) {
  const row = make("tr"), remove = make("button", "ts-text-button", "×");
  remove.type = "button";
  remove.title = word("remove");
  remove.setAttribute("aria-label", word("remove"));
  remove.disabled = trials.length < 2;
  remove.onclick = () => { trials.splice(k, 1); drawSettings(); };
  row.append(make("th", "", String(k + 1)), ...[kindInput(trial), ...Object.keys(FIELDS).map((name) => numberInput(trial, name)), remove].map((node) => {
    const cell = make("td");
    cell.append(node);
    return cell;
  }));
  return row;
}

function drawSettings() {
  at.settings.replaceChildren(...trials.map(settingRow));
  at.add.disabled = trials.length >= MOST;
}
