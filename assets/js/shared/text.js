/* Text. */

const STAND_INS = { "\n": "⏎", "\r": "⏎", "\t": "⇥" };

/** A token as it is shown: pieces that would be invisible get a stand-in. */
function shown(text) {
  const s = String(text ?? "");
  if (s === "") return "∅";
  if (/^[\s▁]+$/u.test(s)) return Array.from(s, (c) => STAND_INS[c] || "␣").join("");
  if (/^[\p{Cf}\p{Zl}\p{Zp}]+$/u.test(s)) return Array.from(s, (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")).join(" ");
  return s.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
}

/** Three digits; a weight that is there but rounds away says so. */
const digits = (x) => (x > 0 && x < 0.0005 ? "< 0.001" : x.toFixed(3));
const signed = (x, places) => x.toFixed(places).replace("-", "−");
const bytes = (b) => (b < 1000 ? b + " B" : b < 1e6 ? (b / 1e3).toFixed(1) + " kB" : (b / 1e6).toFixed(2) + " MB");

/** An element with text; the only way text reaches the page here. */
function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Text that is there already is left alone: writing it again would lay it out again. */
function write(node, text) {
  const only = node.childNodes.length === 1 && node.firstChild.nodeType === 3 && text !== "" ? node.firstChild : null;
  if (node.textContent === text) return;
  if (only) only.data = text; else node.textContent = text;
}

function isolated(text) {
  const node = make("bdi", "", shown(text));
  node.dir = "auto";
  return node;
}

/** A field of a CSV file; a leading sign that a spreadsheet would take for a formula is quoted. */
const csvField = (text) => '"' + (/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""') + '"';
