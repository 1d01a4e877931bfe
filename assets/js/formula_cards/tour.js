/* The foundations page as a tour: its prerequisite map is the way around, one item at a time, a question at the end of each. */

const SPOTS = [[0, 1], [1, 0], [1, 2], [2, 2], [4, 2], [3, 3], [5, 1.5], [6, 2], [3, 1.3], [3, 0.2], [6, 0.6], [7, 1.3]];   // column, row of each item
const SVG = "http://www.w3.org/2000/svg", WIDE = 147, HIGH = 62, BOX = [136, 40];

function svg(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function drawMap() {
  const place = (k) => [SPOTS[k][0] * WIDE + 4, SPOTS[k][1] * HIGH + 4];
  const map = svg("svg", { viewBox: "0 0 " + (7 * WIDE + BOX[0] + 8) + " " + (3 * HIGH + BOX[1] + 8), role: "group", "aria-label": word("map") });
  map.style.width = 7 * WIDE + BOX[0] + 8 + "px";
  for (const [k, one] of course.items.entries()) for (const from of one.needs) {
    const [x, y] = place(from), [u, v] = place(k), a = x + BOX[0], b = y + BOX[1] / 2, c = v + BOX[1] / 2, way = (a + u) / 2;
    map.append(svg("path", { d: u > a ? "M" + [a, b] + "C" + [way, b, way, c, u, c] : "M" + [x + BOX[0] / 2, v > y ? y + BOX[1] : y] + "L" + [u + BOX[0] / 2, v > y ? v : v + BOX[1]], class: "fc-edge", "data-to": k, "data-from": from }));
  }
  course.items.forEach((one, k) => {
    const [x, y] = place(k), group = svg("g", { class: "fc-stop", "data-item": k, tabindex: 0, role: "button", transform: "translate(" + [x, y] + ")" });
    const title = word("title." + one.id), [first, second] = halved(title);
    group.setAttribute("aria-label", k + ". " + title);
    group.append(svg("rect", { width: BOX[0], height: BOX[1], rx: 7 }), svg("text", { x: BOX[0] / 2, y: second ? 16 : 24 }, k + " · " + first));
    if (second) group.append(svg("text", { x: BOX[0] / 2, y: 31 }, second));
    group.addEventListener("click", () => visit(k));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); visit(k); }
      const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: 11 }[event.key];
      if (to >= 0 && to < 12) { event.preventDefault(); visit(to); at.map.querySelector('[data-item="' + to + '"]').focus(); }
    });
    map.append(group);
  });
  at.map.append(map);
  ((window.twoStacks ||= {}).tables ||= []).push({ at: at.map, table: () => ({ title: word("map"), columns: [word("map.needs")], rows: course.items.map((one, k) => k + ". " + word("title." + one.id)), cell: (k) => course.items[k].needs.join(", ") || "–" }) });
}

/** A title on two lines where one is too short. */
function halved(title) {
  const words = title.split(" ");
  if (title.length <= 13 || words.length < 2) return [title, ""];
  let cut = 1;
  while (cut < words.length - 1 && words.slice(0, cut + 1).join(" ").length <= 13) cut++;
  return [words.slice(0, cut).join(" "), words.slice(cut).join(" ")];
}

function drawTour() {
  drawMap();
  for (const [k, one] of course.items.entries()) {
    const card = cardOf(one), answer = make("p", "fc-answer", word("answer." + k)), why = make("p", "fc-why", word("why." + k));
    card.node.querySelector("h4").prepend(k + ". ");
    card.formula.before(why);
    const quiz = make("div", "fc-quiz"), reveal = button("ts-text-button", word("reveal"), () => {
      answer.hidden = !answer.hidden;
      reveal.setAttribute("aria-expanded", String(!answer.hidden));
      reveal.textContent = word(answer.hidden ? "reveal" : "hide");
      if (!answer.hidden) state.revealed.add(k);
      progress();
    });
    reveal.setAttribute("aria-expanded", "false");
    answer.hidden = true;
    quiz.append(make("b", "", word("question")), " ", make("span", "", word("question." + k)), " ", reveal, answer);
    const steps = make("div", "fc-steps");
    if (k > 0) steps.append(button("ts-text-button", "← " + word("title.item." + (k - 1)), () => visit(k - 1)));
    if (k < 11) steps.append(button("ts-text-button fc-next", word("title.item." + (k + 1)) + " →", () => visit(k + 1)));
    card.node.append(quiz, steps);
    at.items.append(card.node);
  }
  visit(0, true);
}

function progress() {
  write(at.progress, word("progress", { n: state.revealed.size, of: course.items.length }));
  at.map.querySelectorAll(".fc-stop").forEach((node, k) => node.classList.toggle("fc-done", state.revealed.has(k)));
}

/** Show item k; what it stands on is marked on the map. */
function visit(k) {
  state.item = k;
  const needs = new Set();
  for (const todo = [k]; todo.length;) for (const from of course.items[todo.pop()].needs) if (!needs.has(from)) { needs.add(from); todo.push(from); }
  course.items.forEach((one, n) => { cards.get(one.id).node.hidden = n !== k; });
  at.map.querySelectorAll(".fc-stop").forEach((node, n) => {
    node.classList.toggle("fc-at", n === k);
    node.classList.toggle("fc-needed", needs.has(n));
    node.setAttribute("aria-current", n === k ? "step" : "false");
  });
  at.map.querySelectorAll(".fc-edge").forEach((edge) => edge.classList.toggle("fc-needed", (+edge.dataset.to === k || needs.has(+edge.dataset.to)) && needs.has(+edge.dataset.from)));
  progress();
  const [x] = SPOTS[k], map = at.map;
  map.scrollLeft = x * WIDE + BOX[0] / 2 - map.clientWidth / 2;   // on a phone the map is wider than the page
}
