// What the page says when there is no question: why, and what one may do.
import { call } from "/page/api.js";
import { h, notice } from "/page/dom.js";

export function idleCard(state, why) {
  const { status, you } = state;
  const owner = you.role === "owner";
  if (owner && status.classes && status.classes.length < 2) return classesForm(state);
  const [heading, words] = state.offline ? OFFLINE : told(why || status.why);
  return h("div", { class: "idle" },
    h("h2", {}, heading),
    h("p", { class: "faint" }, words),
    owner && !state.offline && status.labels > 0 ? settingsForm(state) : null,
    h("div", { class: "row" },
      h("button", { class: "second", onclick: () => state.open("review") }, "Review answers"),
      h("button", { class: "second", onclick: () => state.open("report") }, "Report and download")));
}

const OFFLINE = ["The server cannot be reached", "Answers that you gave are kept in this browser and sent when it is back."];

// "Nothing to ask because the budget is used up. Raise it." has a heading and what one may do.
function told(why) {
  if (!why) return ["One moment", "The next question is being chosen."];
  const [first, ...rest] = why.replace(/^Nothing to ask because /, "").split(/(?<=\.)\s+/);
  return [first[0].toUpperCase() + first.slice(1).replace(/\.$/, ""), rest.join(" ")];
}

function settingsForm(state) {
  const { status } = state;
  const budget = h("input", { class: "field small", type: "number", min: "0", step: "1", id: "idle-budget", value: String((status.budget ?? status.labels) + 100) });
  const goal = h("input", { class: "field small", type: "text", id: "idle-goal", value: status.goal ?? "error<=0.05" });
  const set = async (changes) => {
    try {
      await call("PUT", "/api/v1/settings", changes);
      state.refresh();
    } catch (error) {
      notice(`${error.message} ${error.remedy ?? ""}`);
    }
  };
  return h("div", { class: "settings" },
    h("label", { class: "check", for: "idle-budget" }, "Budget"), budget,
    h("button", { class: "main", onclick: () => set({ budget: Number(budget.value) }) }, "Raise the budget"),
    h("label", { class: "check", for: "idle-goal" }, "Goal"), goal,
    h("button", { class: "second", onclick: () => set({ goal: goal.value }) }, "Set the goal"));
}

export function classesForm(state) {
  const input = h("input", { class: "field", type: "text", id: "new-classes", placeholder: "spam, ham", autocomplete: "off" });
  const add = async (event) => {
    event.preventDefault();
    const names = input.value.split(",").map((name) => name.trim()).filter(Boolean);
    try {
      if (names.length) await call("POST", "/api/v1/classes", { names });
      state.refresh();
    } catch (error) {
      notice(`${error.message} ${error.remedy ?? ""}`);
    }
  };
  const known = state.status.classes ?? [];
  return h("form", { class: "idle", onsubmit: add },
    h("h2", {}, known.length ? "One more class" : "Which classes are there?"),
    h("label", { class: "faint", for: "new-classes" }, known.length ? `There is ${known.join(", ")}; a question needs at least two.` : "Names, with commas between them. More can be added while labelling."),
    h("div", { class: "row" }, input, h("button", { class: "main", type: "submit" }, "Start")));
}
