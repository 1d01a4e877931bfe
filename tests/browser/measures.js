/* What tests measure of a page where it stands; one object, each of its functions is called in the page. */
({
found: async ([tags]) => (await axe.run(document, { resultTypes: ["violations"], runOnly: tags })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.map((node) => [one.id, node.target.join(" "), node.failureSummary.split("\n")[1].trim()])),

/* A picture has a button of ours behind it, or behind what holds it; or it says that a table of the page has its numbers. */
without: () => {
  const large = (one) => { const box = one.getBoundingClientRect(); return box.width > 40 && box.height > 24; };
  return [...document.querySelectorAll("#ts-tabs :is(canvas, svg, .js-plotly-plot)")].filter((one) => large(one) && one.checkVisibility())
    .filter((one) => one.matches(".js-plotly-plot") || !one.closest(".js-plotly-plot, button, svg svg"))
    .filter((one) => {
      for (let up = one; up && !up.matches("[role=tabpanel]"); up = up.parentNode) if (up.nextElementSibling?.matches(".ai-table")) return false;
      return true;
    }).map((one) => one.outerHTML.slice(0, 160));
},

/* WCAG 2.2, 2.5.8: 24 px, or a circle of 24 px around the middle that meets no other target; not inside a sentence. */
small: () => {
  const clickable = "button, a[href], input, select, textarea, summary, [role=button], [role=tab], [role=treeitem], [role=option], canvas[tabindex]";
  const seen = (one) => one.getClientRects().length && getComputedStyle(one).visibility !== "hidden" && !one.disabled
    && !one.closest(".ai-table:not(:focus), .ai-skip:not(:focus), [aria-hidden=true], [inert]") && getComputedStyle(one).pointerEvents !== "none";
  const boxes = [...document.querySelectorAll(clickable)].filter(seen).map((one) => {
    const label = one.matches("input") && one.closest("label"), node = label || one, { x, y, width, height } = node.getBoundingClientRect();
    return { one, node, x, y, width, height, small: width < 23.9 || height < 23.9 };
  }).filter(({ node, width, height }) => width > 1.5 && height > 1.5);
  const inline = ({ node }) => getComputedStyle(node).display.startsWith("inline") && node.parentElement
    && [...node.parentElement.childNodes].some((other) => other.nodeType === 3 && other.textContent.trim());
  const near = (a, b) => {
    if (a.node.contains(b.node) || b.node.contains(a.node)) return false;
    const x = a.x + a.width / 2, y = a.y + a.height / 2;
    const dx = Math.max(b.x - x, 0, x - b.x - b.width), dy = Math.max(b.y - y, 0, y - b.y - b.height);
    if (Math.hypot(dx, dy) < 11.9) return true;
    return b.small && Math.hypot(b.x + b.width / 2 - x, b.y + b.height / 2 - y) < 23.9;
  };
  return boxes.filter((a) => a.small && !inline(a) && boxes.some((b) => b !== a && near(a, b)))
    .map(({ one, width, height }) => [one.tagName + "." + (one.getAttribute("class") || one.dataset.ts || one.type || "") + " in " + (one.closest("[id]") || {}).id,
      Math.round(width) + " x " + Math.round(height), (one.textContent || one.getAttribute("aria-label") || "").trim().slice(0, 24)]);
},

/* What reaches over the edge of the page, and is not inside something that scrolls. */
wider: () => {
  const most = document.documentElement.clientWidth, out = [];
  if (document.documentElement.scrollWidth > most) out.push(["the page", document.documentElement.scrollWidth]);
  for (const one of document.querySelectorAll("#ts-tabs > [role=tabpanel] *, #ts-controls *, #ts-head *, #ts-aids *")) {
    const box = one.getBoundingClientRect();
    if (!box.width || box.height < 2 || box.right <= most + 1 || one.closest("svg svg, .ai-table, .ai-skip")) continue;
    let held = false;
    for (let up = one.parentElement; up && !held; up = up.parentElement)
      held = /auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX) && up.getBoundingClientRect().right <= most + 1;
    if (!held) out.push([one.tagName + "." + (one.getAttribute("class") || ""), Math.round(box.right)]);
  }
  return out.slice(0, 6);
},

/* The smallest letters on the page, in px of the screen: [px, what is written]. */
letters: () => {
  const zoom = (node) => node.currentCSSZoom || 1, out = [];
  const walk = document.createTreeWalker(document.querySelector(".gradio-container"), NodeFilter.SHOW_TEXT);
  for (let text; (text = walk.nextNode());) {
    const node = text.parentElement;
    if (!text.textContent.trim() || !node.getClientRects().length || node.closest(".ai-table, .ai-skip, script, style, sub, sup, msub, msup, [aria-hidden=true]")) continue;
    let px = parseFloat(getComputedStyle(node).fontSize) * zoom(node);
    const svg = node.closest("svg"), matrix = svg && node.getScreenCTM && node.getScreenCTM();
    if (matrix) px = parseFloat(getComputedStyle(node).fontSize) * Math.hypot(matrix.a, matrix.b) ;
    out.push([Math.round(10 * px) / 10, node.tagName + "." + (node.getAttribute("class") || "") + " " + text.textContent.trim().slice(0, 30)]);
  }
  return out.sort((a, b) => a[0] - b[0]).slice(0, 12);
},

/* The longest animation or transition that is declared anywhere, in seconds, with whose it is. */
longest: () => [...document.querySelectorAll("*")].flatMap((one) => ["", "::before", "::after"].map((part) => {
    const { transitionDuration, animationDuration, animationName } = getComputedStyle(one, part || undefined);
    const all = [...transitionDuration.split(","), ...(animationName === "none" ? [] : animationDuration.split(","))].map(parseFloat);
    return [Math.max(...all), one.tagName + "." + (one.getAttribute("class") || "") + part];
  })).sort((a, b) => b[0] - a[0])[0],

})
