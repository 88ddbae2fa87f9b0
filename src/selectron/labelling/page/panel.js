// The side: numbers that mean something, as the server sends them.
import { count, goalWords, h, percent, sized, swatch } from "/page/dom.js";
import { curveView } from "/page/curve.js";

const FEWEST_AUDITS = 5; // with fewer, the curve would jump from 0 to 100 %

export function drawPanel(side, state) {
  const { status } = state;
  if (status.labels === undefined) return;
  side.replaceChildren(...[recallBox(status), errorBox(status), labelsBox(status), classesBox(state), peopleBox(status)].filter(Boolean));
}

export function goalLimit(status) {
  const found = /^\s*error\s*<=\s*([\d.]+)\s*(%?)\s*$/.exec(status.goal ?? "");
  return found ? Number(found[1]) / (found[2] ? 100 : 1) : null;
}

function errorBox(status) {
  const { estimate } = status;
  const goal = goalLimit(status);
  const points = (status.curve ?? []).filter((point) => point.audits >= FEWEST_AUDITS);
  const known = estimate && estimate.audits > 0;
  const figure = known
    ? h("div", { class: "figure" }, h("strong", {}, percent(estimate.error)), h("span", {}, `${percent(estimate.low)} to ${percent(estimate.high)}`))
    : h("div", { class: "figure" }, h("span", {}, "Not measured yet"));
  return h("div", { class: "box" }, h("h2", {}, "Error, 95\u00a0% sure at all times"), figure,
    points.length ? curveView(points, goal, status.labels) : null, h("p", status.reached ? { class: "reached" } : {}, errorWords(status, known)));
}

function errorWords(status, known) {
  if (status.reached) return `The goal, ${goalWords(status.goal)}, is reached.`;
  if (!known) return "Some items are drawn at random to measure it; the first of them come soon.";
  const { outlook, estimate } = status;
  const audits = `Measured on ${count(estimate.audits, "random item")}.`;
  const ahead = outlook ? ` The next ${outlook.labels} labels should bring ${percent(outlook.low)} to ${percent(outlook.high)}.` : " After a few more of them it says what the next 25 labels should bring.";
  return audits + ahead + (status.goal ? ` The goal is ${goalWords(status.goal)}.` : "");
}

function recallBox(status) {
  if (!status.recall) return null;
  const { recall, low, found } = status.recall;
  return h("div", { class: "box" }, h("h2", {}, `Recall of ${status.positive}`),
    h("div", { class: "figure" }, h("strong", {}, percent(recall)), h("span", {}, `at least ${percent(low)}`)),
    h("p", status.reached ? { class: "reached" } : {}, `${count(found, "item")} found. The goal is ${goalWords(status.goal)}${status.reached ? ", and it is reached" : ""}.`));
}

function labelsBox(status) {
  const budget = status.budget ?? null;
  const of = budget === null ? `of ${count(status.items, "item")}` : `of a budget of ${budget.toLocaleString("en")}`;
  const share = Math.min(1, status.labels / Math.max(1, budget ?? status.items));
  return h("div", { class: "box" }, h("h2", {}, "Labels"),
    h("div", { class: "figure" }, h("strong", {}, status.labels.toLocaleString("en")), h("span", {}, of)),
    h("div", { class: "meter", role: "progressbar", "aria-label": "Labels given", "aria-valuenow": String(Math.round(100 * share)), "aria-valuemin": "0", "aria-valuemax": "100" }, sized(h("i"), "--share", `${100 * share}%`)),
    budget === null ? null : h("p", {}, `${count(status.items, "item")} in all${status.skipped ? `, ${status.skipped} that nobody knew` : ""}.`));
}

function classesBox(state) {
  const { classes = [], balance = {} } = state.status;
  const total = classes.reduce((sum, name) => sum + (balance[name] ?? 0), 0);
  const legend = [...classes].sort((one, other) => (balance[other] ?? 0) - (balance[one] ?? 0)).slice(0, 12);
  return h("div", { class: "box" }, h("h2", {}, "Classes"),
    total ? h("div", { class: "stack", "aria-hidden": "true" }, classes.map((name, at) => balance[name] ? sized(h("i", { class: `c${at % 10}` }), "--n", balance[name]) : null)) : null,
    h("ul", { class: "legend" }, legend.map((name) => h("li", {}, swatch(classes, name), name, " ", h("b", {}, String(balance[name] ?? 0))))),
    classes.length > legend.length ? h("p", {}, `and ${classes.length - legend.length} more`) : null,
    state.you.role === "owner" ? h("button", { class: "quiet", onclick: () => state.addClass() }, "+ add a class") : null);
}

function peopleBox(status) {
  const people = Object.entries(status.annotators ?? {}).filter(([, row]) => (row.answers ?? 0) > 0);
  if (people.length < 2) return null;
  return h("div", { class: "box" }, h("h2", {}, "People"),
    h("ul", { class: "legend" }, people.map(([name, row]) => h("li", {}, name, " ", h("b", {}, String(row.answers))))));
}
