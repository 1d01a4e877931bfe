/* What is shown: the report that came last, how its texts are sorted and filtered, which one is picked. */

const at = Object.fromEntries([...element.querySelectorAll("[data-ts]")].map((node) => [node.dataset.ts, node]));
const PAGE = 100;
const view = { report: null, csv: "", json: "", tests: [], sort: "line", down: false, filter: "", line: 1, shown: PAGE };

const best = (score) => (score.unit === "0..1" ? 4 : 2);   // digits after the point
const figure = (value, score) => (value === null ? "–" : value.toFixed(best(score)));
const named = (name) => view.report.scores.find((score) => score.name === name);
