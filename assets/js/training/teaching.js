/* Teacher forcing: what is read and written at each position, its loss, p − y; free running beside it; one wrong token. */

let taught = null, wrong = null, at = 0, smoothing = 0;
const top_ = add(host, "div", "tr-row"), box = targetBox(top_, () => go());
button(top_, "teaching.go", () => go(), true);
const source = add(host, "p", "tr-quiet"), numbers = add(host, "p", "tr-numbers"), steps = add(host, "div", "tr-steps"), loss = add(host, "div"), detail = add(host, "div", "tr-columns"), after = add(host, "div"), beside = add(host, "div"), rules = add(host, "details");
slider(top_, "smoothing", 0, 0.5, 0.01, 0, (x) => { smoothing = x; draw(); }, (x) => x.toFixed(2));

let sent = {};
function go() { sent = targetOf(box); ask({ what: "teach", ...sent }); }

const smoothed = (k, from = taught) => (1 - smoothing) * from.nll[k] + smoothing * from.even[k];

function drawNumbers() {
  const plain = mean(Array.from(taught.nll)), soft = mean(taught.labels.map((_, k) => smoothed(k)));
  numbers.textContent = word("teaching.numbers", { loss: number(plain, 4), soft: number(soft, 4), perplexity: number(Math.exp(plain), 3), n: taught.labels.length, floor: number(floor(), 3) });
  source.replaceChildren(word("teaching.source") + " ", isolated(taught.text), " · " + taught.made);
}

/** The least a smoothed loss can be: the entropy of its target. */
function floor() {
  const rest = smoothing / taught.vocab, own = 1 - smoothing + rest;
  return smoothing ? -own * Math.log(own) - (taught.vocab - 1) * rest * Math.log(rest) : 0;
}

function drawSteps() {
  steps.replaceChildren(...taught.labels.map((text, k) => {
    const node = make("button", "tr-step" + (k === at ? " tr-chosen" : ""));
    node.type = "button";
    node.setAttribute("aria-pressed", k === at);
    const fed = add(node, "span", "tr-fed"), label = add(node, "span", "tr-label");
    fed.append(isolated((wrong ? wrong.fed : taught.fed)[k]));
    if (wrong && k === wrong.at) fed.classList.add("tr-wrong");
    label.append(isolated(text));
    add(node, "small", "", number(smoothed(k), 2));
    node.title = word("teaching.step", { n: k + 1 });
    node.onclick = () => { at = k; draw(); };
    return node;
  }));
}

function drawDetail() {
  detail.replaceChildren();
  const left = add(detail, "div"), right = add(detail, "div"), label = taught.ids[at], best = taught.best[at];
  const own = Math.exp(-taught.nll[at]), rows = best.some((one) => one[0] === label) ? best : [...best.slice(0, -1), [label, taught.labels[at], own]];
  add(left, "h4", "", word("teaching.chances", { n: at + 1 }));
  bars(left, rows.map(([id, text, p]) => [text, p, p.toFixed(4), id === label, id]), 1, false, (id) => tryWrong(id));
  add(left, "p", "tr-quiet", at + 1 < taught.labels.length ? word("teaching.pick") : word("teaching.last"));
  add(right, "h4", "", word("teaching.gradient"));
  bars(right, rows.map(([id, text, p]) => {
    const g = p - (id === label ? 1 - smoothing : 0) - smoothing / taught.vocab;
    return [text, g, signed(g, 4), id === label];
  }), 1, true);
  add(right, "p", "tr-quiet", word("teaching.gradient.note", { rank: taught.rank[at] + 1, v: whole(taught.vocab), n: taught.labels.length }));
}

/** The candidate is read next, in place of the true token of this position. */
function tryWrong(id) {
  if (at + 1 >= taught.labels.length || id === taught.ids[at]) return;
  ask({ what: "wrong", target: taught.target_, at: at + 1, id });
}

function drawLoss() {
  loss.replaceChildren();
  const series = [{ name: word("teaching.true"), points: Array.from(taught.nll, (_, k) => [k, smoothed(k)]) }];
  if (wrong) series.push({ name: word("teaching.wrong", { token: shown(wrong.token), n: wrong.at + 1 }), points: Array.from(wrong.nll, (y, k) => [k, y]) });
  lines(loss, series, { ticks: taught.labels, title: word("teaching.loss"), unit: word("teaching.unit"), picked: at, pick: (k) => { at = k; draw(); } });
  after.replaceChildren();
  if (!wrong) return;
  const change = (k) => wrong.nll[k] - taught.nll[k], rest = Array.from(wrong.nll.keys()).filter((k) => k >= wrong.at), hurt = rest.filter((k) => change(k) > 0.1);
  add(after, "p", "tr-sentence", word("teaching.bias", { token: shown(wrong.token), n: wrong.at + 1, first: number(change(wrong.at), 2), sum: number(rest.reduce((a, k) => a + change(k), 0), 2), hurt: hurt.length, rest: rest.length }));
  const line = add(after, "p", "tr-text-line", word("teaching.on") + " ");
  line.append(isolated(wrong.text));
  button(after, "teaching.back", () => { wrong = null; draw(); });
}

function drawBeside() {
  beside.replaceChildren();
  add(beside, "h4", "", word("teaching.free"));
  const free = taught.free, longest = Math.max(free.tokens.length, taught.labels.length);
  const rows = [["teaching.forced", taught.labels, taught.ids], ["teaching.running", free.tokens, free.ids]].map(([key, texts, ids]) => {
    const line = make("div", "tr-tokens");
    for (let k = 0; k < Math.min(longest, texts.length); k++) {
      const node = add(line, "span", free.diverges !== null && k === free.diverges ? "tr-token tr-wrong" : free.diverges !== null && k > free.diverges ? "tr-token tr-other" : "tr-token");
      node.append(isolated(texts[k]));
    }
    return [word(key), line];
  });
  beside.append(table([word("teaching.who"), word("teaching.tokens")], rows));
  add(beside, "p", "tr-sentence", taught.own ? word("teaching.own") : free.diverges === null ? word("teaching.same") : word("teaching.diverges", { n: free.diverges + 1 }));
}

function drawRules() {
  const open = rules.open;
  rules.replaceChildren(make("summary", "", word("teaching.rules")));
  rules.open = open;
  for (const { family, fed, labels } of taught.rules) {
    const name = word("family." + family) + (taught.family === family ? " · " + word("teaching.this") : "");
    rules.append(table([name, ...labels.map((_, k) => String(k + 1))], [[word("teaching.reads"), ...fed.map((t) => isolated(t))], [word("teaching.writes"), ...labels.map((t) => isolated(t))]]));
  }
  add(rules, "p", "tr-quiet", word("teaching.rules.note") + (taught.few ? " " + word("teaching.few") : ""));
}

function draw() {
  if (!taught) return;
  at = Math.min(at, taught.labels.length - 1);
  drawNumbers(); drawSteps(); drawLoss(); drawDetail(); drawBeside(); drawRules();
}

receive({
  taught: (value) => {
    taught = { ...value, nll: floats(value.nll), even: floats(value.even), target_: value.own ? "" : value.target };
    wrong = null;
    keepTarget(box, value, sent);
    at = value.free.diverges !== null && value.free.diverges < value.labels.length ? value.free.diverges : 0;
    if (value.notes.length) said.textContent = value.notes.join(" ");
    draw();
  },
  wrong: (value) => { wrong = { ...value, nll: floats(value.nll) }; draw(); },
});
go();
