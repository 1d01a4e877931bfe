/* The list of noises: one is pressed; those that the model's vocabulary cannot do are disabled and say why. */
const part = (name) => element.querySelector('[data-ts="' + name + '"]');
const buttons = [...element.querySelectorAll("[data-noise]")];
let chosen = "";
const updates = JSON.parse(props.updates);   // one text, which Gradio need not copy part by part
for (const one of buttons) one.textContent = one.textContent.replace(/^(T5|BART): /, "");   // its family stands before the row

function show(name) {
  chosen = name;
  const button = buttons.find((one) => one.dataset.noise === name);
  for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
  if (!button) return;
  const from = document.createElement("span");
  from.className = "nz-from";
  from.textContent = word("from", { source: button.dataset.source });
  part("about").replaceChildren(word(name + ".help"), " ", from);
}

function receive() {
  if (!props.value) return;
  const { name, why } = valueSent();
  for (const one of buttons) {
    const reason = why[one.dataset.noise];
    one.setAttribute("aria-disabled", String(!!reason));
    one.title = reason || word(one.dataset.noise + ".help");
  }
  part("why").textContent = [...new Set(Object.values(why))].map((reason) => word("why", { n: Object.values(why).filter((one) => one === reason).length, reason })).join(" ");
  part("use").hidden = !Object.keys(why).length || !props.able;
  if (!chosen) show(window.twoStacks?.noiseAgain || name);   // a replay may have come before this script; later answers bring reasons only: a choice is made here
}

part("use").textContent = word("use", { model: props.able });
part("use").onclick = () => trigger("use", {});
for (const one of buttons) {
  one.onclick = () => {
    if (one.getAttribute("aria-disabled") === "true") { part("why").textContent = one.title; return; }
    show(one.dataset.noise);
    (window.twoStacks ||= {}).picked = [...updates[chosen], chosen];   // the page's event reads it
    trigger("pick", {});
  };
}
(window.twoStacks ||= {}).noisePicker = { show };   // a replay shows the noise that was chosen then
receive();
watch("value", receive);
