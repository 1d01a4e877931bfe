/* Underlines in the text box: a copy of its text without colour lies over it, and only the underlines of the copy are seen.
 * While the person types, the underlines before the place that changed stay; the server's answer brings the rest. */
const line = element.querySelector('[data-ts="spelling"]');
const COPIED = ["fontFamily", "fontSize", "fontWeight", "lineHeight", "letterSpacing", "paddingTop", "paddingRight", "paddingBottom", "paddingLeft",
  "borderTopWidth", "borderRightWidth", "borderBottomWidth", "borderLeftWidth", "boxSizing", "textAlign", "direction"];
const cover = document.createElement("div");
cover.className = "ts-underlines";
cover.setAttribute("aria-hidden", "true");
let box = null, marks = [], seen = "";

function find() {
  box = document.querySelector("#" + props.box + " textarea");
  if (!box || cover.parentNode === box.parentNode) return !!box;
  box.parentNode.style.position = "relative";
  box.parentNode.append(cover);
  box.addEventListener("input", typed);
  box.addEventListener("scroll", () => { cover.scrollTop = box.scrollTop; });
  new ResizeObserver(draw).observe(box);
  return true;
}

/** Keep the marks that end before the first character that differs. */
function typed() {
  const before = Array.from(seen), now = Array.from(box.value);
  let same = 0;
  while (same < before.length && before[same] === now[same]) same++;
  marks = marks.filter(([, end]) => end < same || (end === same && same === now.length));
  seen = box.value;
  draw();
}

function draw() {
  if (!box) return;
  const style = getComputedStyle(box), text = Array.from(box.value), pieces = [];
  for (const name of COPIED) cover.style[name] = style[name];
  Object.assign(cover.style, { left: box.offsetLeft + "px", top: box.offsetTop + "px", width: box.offsetWidth + "px", height: box.offsetHeight + "px" });
  let at = 0;
  for (const [start, end, kind] of marks) {
    const node = document.createElement("span");
    node.className = "ts-" + kind;
    node.textContent = text.slice(start, end).join("");
    pieces.push(text.slice(at, start).join(""), node);
    at = end;
  }
  cover.replaceChildren(...pieces, text.slice(at).join("") + "\n");
  cover.scrollTop = box.scrollTop;
}

/** "rare here: sandcastle (sand|cast|le)": the same in words, for those who do not see the underlines. */
function tell() {
  const text = Array.from(seen), of = (kind) => marks.filter((mark) => mark[2] === kind).slice(0, 6);
  line.replaceChildren();
  for (const kind of ["unknown", "rare"]) {
    of(kind).forEach(([start, end, , pieces], i) => {
      const shown = document.createElement("bdi");
      shown.textContent = text.slice(start, end).join("") + (kind === "rare" ? " (" + pieces.join("|") + ")" : "");
      line.append(i ? ", " : (line.childNodes.length ? " · " : "") + word(kind) + " ", shown);
    });
  }
}

function receive() {
  const value = valueSent();
  if (!find() || !value) return;
  if (value.text !== box.value) return;   // an answer to what stands there no more
  ({ text: seen, marks } = value);
  draw();
  tell();
}

find();
watch("value", receive);
