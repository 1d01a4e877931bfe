/* The script of the cards comes with the cards, when the tab opens for the first time: the page's first load stays small. */

let draw = null;
const ask = () => trigger("tour", {});   // named here, because Gradio reads the names of events in this script

function receive() {
  const pack = props.value ? JSON.parse(props.value) : null;
  if (!pack) return;
  if (pack.script && !draw) draw = new Function("element", "props", "ask", "pack", pack.script)(element, props, ask, pack);
  if (draw) draw(pack);
}

watch("value", receive);
receive();
