// The start: who is here, what the status is, which view is open, and which key does what.
import { call, Offline } from "/page/api.js";
import { h, notice } from "/page/dom.js";
import { classesForm } from "/page/idle.js";
import { LabelView } from "/page/label.js";
import { Outbox } from "/page/outbox.js";
import { drawPanel } from "/page/panel.js";
import { ReviewView } from "/page/review.js";
import { ReportView } from "/page/report.js";

const VIEWS = ["label", "review", "report"];
const byId = (id) => document.getElementById(id);

const state = {
  status: {},
  you: { name: "", role: "annotator" },
  offline: false,
  view: "label",
  open: openView,
  addClass,
  setSlips,
  lost: (error) => setOffline(error instanceof Offline),
  // Settings or classes changed: questions in hand have the old ones.
  async refresh() {
    byId("help").close();
    setStatus(await call("GET", "/api/v1/status"));
    label.ahead = [];
    if (label.current) label.current.options = [...state.status.classes];
    label.drawn = null;
    label.draw();
    label.refill();
  },
};

const outbox = new Outbox({
  told: ({ waiting, online }) => setSaved(waiting, online),
  durable: (entry) => label.durable(entry),
  refused: (entry, error) => label.refused(entry, error),
});
const label = new LabelView(state, outbox);
const views = { label, review: new ReviewView(state), report: new ReportView(state) };

function setSaved(waiting, online) {
  const saved = byId("saved");
  saved.dataset.state = !online || state.offline ? "offline" : waiting ? "waiting" : "saved";
  if (outbox.signedOut && waiting) saved.textContent = "signed out";
  else if (saved.dataset.state === "offline") saved.textContent = waiting ? `offline, ${waiting} kept here` : "offline";
  else saved.textContent = waiting ? "saving" : "✓ all saved";
}

function setOffline(offline) {
  if (state.offline === offline) return;
  state.offline = offline;
  setSaved(outbox.waiting.length, outbox.online);
  if (!label.current) label.draw();
  if (!offline) {
    outbox.flush();
    label.refill();
  }
}

function setStatus(status) {
  const before = state.status;
  state.status = { ...status };
  if (status.you) state.you = status.you;
  setOffline(false);
  drawPanel(byId("side"), state);
  if (!label.current) label.draw();
  const news = before.labels !== status.labels || before.items !== status.items || before.why !== status.why;
  if (news && !label.current) label.refill();
  if (news && state.view !== "label") views[state.view].heard?.();
}

function setSlips(slips) {
  byId("slip-count").textContent = String(slips);
  byId("slip-count").hidden = !slips;
}

function openView(name) {
  state.view = VIEWS.includes(name) ? name : "label";
  for (const view of VIEWS) {
    const chosen = view === state.view;
    byId(view).hidden = !chosen;
    byId(`tab-${view}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${view}`).tabIndex = chosen ? 0 : -1;
  }
  document.title = `${state.view[0].toUpperCase()}${state.view.slice(1)} · selectron`;
  if (location.hash.slice(1) !== state.view) history.replaceState(null, "", state.view === "label" ? "/" : `#${state.view}`);
  views[state.view].opened?.();
}

function addClass() {
  const dialog = byId("help");
  dialog.replaceChildren(classesForm({ ...state, status: { ...state.status } }), h("button", { class: "quiet", onclick: () => dialog.close() }, "Close"));
  dialog.querySelector("h2").id = "help-title";
  dialog.showModal();
}

function showHelp() {
  const dialog = byId("help");
  const row = (keys, words) => [h("dt", {}, keys.map((key) => h("kbd", {}, key))), h("dd", {}, words)];
  dialog.replaceChildren(
    h("h2", { id: "help-title" }, "Keys"),
    h("dl", { class: "keys" },
      row(["1", "…", "9", "0"], "choose a class"),
      row(["a", "x"], "accept, reject, where there are two classes"),
      row(["space"], "don't know"),
      row(["u", "⌫"], "undo the last answer"),
      row(["g"], "show or hide the learner's guess"),
      row(["⏎"], "send, where an item may have several labels"),
      row(["?"], "these keys")),
    h("p", { class: "faint" }, "With more than ten classes, type the first letters, move with the arrows and press Enter; Esc leaves the box, and the other keys work again. Keys rest while you type. On a touch screen, with two classes, swipe the card to the right to accept and to the left to reject."),
    h("button", { class: "main", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { target } = event;
  if (target.closest?.("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
  // A button that the keyboard reached keeps its own keys.
  if ((event.key === " " || event.key === "Enter") && target.closest?.("button, a, [role=tab], summary")?.matches(":focus-visible")) return;
  if (event.key === "?") {
    event.preventDefault();
    showHelp();
  } else if (state.view === "label" && !event.repeat && label.key(event)) {
    event.preventDefault();
  }
}

function onTabKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const at = (VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length;
  openView(VIEWS[at]);
  byId(`tab-${VIEWS[at]}`).focus();
}

function listen() {
  const source = new EventSource("/api/v1/events");
  source.addEventListener("status", (event) => setStatus(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    setOffline(true);
    if (source.readyState === EventSource.CLOSED) firstStatus().then(listen); // signed out, or a restart
  });
  source.addEventListener("open", () => setOffline(false));
}

async function start() {
  for (const view of VIEWS) byId(`tab-${view}`).addEventListener("click", () => openView(view));
  document.querySelector(".tabs").addEventListener("keydown", onTabKey);
  document.addEventListener("keydown", onKey);
  byId("help-button").addEventListener("click", showHelp);
  byId("sign-out").addEventListener("click", signOut);
  addEventListener("offline", () => setOffline(true));
  addEventListener("online", () => setOffline(false));
  addEventListener("hashchange", () => openView(location.hash.slice(1)));
  try {
    await outbox.open();
  } catch {
    notice("This browser keeps nothing for this page: answers given while offline would be lost.");
  }
  await firstStatus();
  byId("who").textContent = state.you.team ? state.you.name : "";
  byId("sign-out").hidden = !state.you.team;
  openView(location.hash.slice(1));
  label.draw();
  label.refill();
  listen();
}

async function firstStatus() {
  try {
    setStatus(await call("GET", "/api/v1/status"));
  } catch (error) {
    if (error.status === 401) location.replace("/");
    setOffline(true);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await firstStatus();
  }
}

async function signOut() {
  if (outbox.waiting.length) return notice("Some answers are not saved yet; wait until they are.");
  await call("DELETE", "/api/v1/session").catch(() => {});
  return location.replace("/login");
}

start();
