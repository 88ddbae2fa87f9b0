// The learning curve: the error with its interval against labels, and the goal as a band.
import { percent, plain, svg } from "/page/dom.js";

const WIDTH = 320;
const HEIGHT = 132;
const LEFT = 38;
const BOTTOM = 20;
const TOP = 8;

export function curveView(points, goal, labels) {
  const top = niceTop(Math.max(0.04, goal ? 2 * goal : 0, ...points.map((point) => Math.min(1, 1.15 * point.error + 0.02))));
  const last = niceCount(Math.max(20, labels ?? 0, ...points.map((point) => point.labels)));
  const x = (n) => LEFT + (n / last) * (WIDTH - LEFT - 4);
  const y = (share) => TOP + (1 - Math.min(share, top) / top) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  for (let step = 0; step <= 4; step++) {
    const share = (top * step) / 4;
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - 4, y1: y(share), y2: y(share) }));
    if (step % 2 === 0) parts.push(text(LEFT - 6, y(share) + 4, `${+(100 * share).toFixed(1)}\u00a0%`, "end"));
  }
  for (const n of [0, last / 2, last]) parts.push(text(x(n), HEIGHT - 4, n === last ? `${n} labels` : String(n), n === 0 ? "start" : n === last ? "end" : "middle"));
  if (goal) parts.push(svg("rect", { class: "aim", x: LEFT, width: WIDTH - LEFT - 4, y: y(goal), height: y(0) - y(goal) }));
  if (points.length) parts.push(...drawn(points, x, y));
  if (goal) parts.push(svg("line", { class: "goal", x1: LEFT, x2: WIDTH - 4, y1: y(goal), y2: y(goal) }), text(WIDTH - 6, y(goal) - 4, `goal ${plain(goal)}`, "end", "goal-name"));
  const figure = svg("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, ...parts);
  figure.setAttribute("aria-label", words(points, goal));
  return figure;
}

function drawn(points, x, y) {
  const line = points.map((point) => `${x(point.labels).toFixed(1)},${y(point.error).toFixed(1)}`);
  const upper = points.map((point) => `${x(point.labels).toFixed(1)},${y(point.high).toFixed(1)}`);
  const lower = points.map((point) => `${x(point.labels).toFixed(1)},${y(point.low).toFixed(1)}`).reverse();
  const end = points[points.length - 1];
  return [
    svg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }),
    svg("polyline", { class: "line", points: line.join(" ") }),
    svg("circle", { class: "dot", cx: x(end.labels), cy: y(end.error), r: 4 }),
  ];
}

function words(points, goal) {
  if (!points.length) return "Learning curve: nothing measured yet";
  const [first, end] = [points[0], points[points.length - 1]];
  return `Learning curve: error ${percent(first.error)} at ${first.labels} labels, ${percent(end.error)} at ${end.labels}` + (goal ? `; the goal is ${percent(goal)}` : "");
}

function text(x, y, words_, anchor, name = "") {
  const element = svg("text", { x, y, "text-anchor": anchor, class: name });
  element.textContent = words_;
  return element;
}

function niceTop(share) {
  return [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1].find((top) => top >= share) ?? 1;
}

function niceCount(n) {
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 8, 10].map((times) => times * unit).find((last) => last >= n);
}
