// The report: what is known about the learner and the people, and the files to take away.
import { call } from "/page/api.js";
import { count, goalWords, h, notice, percent, sized, swatch } from "/page/dom.js";
import { oneLine } from "/page/item.js";

const FILES = [["jsonl", "JSONL"], ["csv", "CSV"], ["parquet", "Parquet"], ["prodigy", "Prodigy"], ["label-studio", "Label Studio"]];

export class ReportView {
  constructor(state) {
    this.state = state;
    this.root = document.getElementById("report");
  }

  heard() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.opened(), 500);
  }

  async opened() {
    try {
      const report = await call("GET", "/api/v1/report");
      const { status, you } = this.state;
      const boxes = [this.lede(report), perClass(report, status), confusion(report), agreement(report), disagreements(report), you.role === "owner" ? downloads() : null];
      if (you.role === "owner" && you.team) boxes.push(await this.accounts());
      this.root.replaceChildren(h("div", { class: "reports" }, boxes.filter(Boolean)));
    } catch (error) {
      notice(`${error.message} ${error.remedy ?? ""}`);
    }
  }

  lede(report) {
    const { status } = this.state;
    const { estimate } = report;
    const labels = `${count(status.labels, "label")} for ${count(status.items, "item")}.`;
    const error = estimate.audits
      ? [" The learner is wrong on ", h("strong", {}, percent(estimate.error)), ` of the items without a label, between ${percent(estimate.low)} and ${percent(estimate.high)} (95 % sure, at all times), measured on ${count(estimate.audits, "random item")}.`]
      : [" The error is not measured yet: no random item has been answered."];
    const goal = status.goal ? ` The goal, ${goalWords(status.goal)}, is ${status.reached ? "reached" : "not reached yet"}.` : "";
    return h("div", { class: "box full" }, h("p", { class: "lede" }, labels, ...error, goal));
  }

  async accounts() {
    const { people } = await call("GET", "/api/v1/accounts");
    const name = h("input", { class: "field small", id: "new-name", autocomplete: "off" });
    const password = h("input", { class: "field small", id: "new-password", type: "password", autocomplete: "new-password" });
    const role = h("select", { class: "field", id: "new-role" }, h("option", {}, "annotator"), h("option", {}, "owner"));
    const act = async (method, path, body) => {
      try {
        await call(method, path, body);
      } catch (error) {
        notice(`${error.message} ${error.remedy ?? ""}`);
      }
      this.opened();
    };
    return h("div", { class: "box full" }, h("h2", {}, "Accounts"),
      table(["name", "role", ""], people.map((person) => [person.name, person.role, h("button", { class: "quiet", onclick: () => act("DELETE", `/api/v1/accounts/${person.name}`) }, "remove")])),
      h("form", { class: "buttons", onsubmit: (event) => {
        event.preventDefault();
        act("POST", "/api/v1/accounts", { name: name.value.trim(), password: password.value, role: role.value });
      } },
        h("label", { class: "check", for: "new-name" }, "Name"), name,
        h("label", { class: "check", for: "new-password" }, "Password"), password,
        h("label", { class: "check", for: "new-role" }, "Role"), role,
        h("button", { class: "second", type: "submit" }, "Add or change")));
  }
}

function table(heads, rows, name = "", caption = null) {
  return h("table", { class: name }, caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, heads.map((head, at) => h(head ? "th" : "td", { scope: head ? "col" : null, class: at ? "" : "first" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => at ? (cell instanceof HTMLTableCellElement ? cell : h("td", {}, cell)) : h("th", { scope: "row" }, cell))))));
}

function perClass(report, status) {
  const rows = status.classes.map((name) => {
    const row = report.per_class[name] ?? {};
    return [h("span", { class: "check" }, swatch(status.classes, name), name), String(status.balance[name] ?? 0), String(row.audits ?? 0), percent(row.precision, 0), percent(row.recall, 0)];
  });
  return h("div", { class: report.confusion ? "box" : "box full", tabindex: "0", role: "group", "aria-label": "Each class" }, h("h2", {}, "Each class"), table(["class", "labels", "audits", "precision", "recall"], rows),
    h("p", {}, "Precision and recall are counted on the audits, which are drawn evenly."));
}

function confusion(report) {
  if (!report.confusion || !report.confusion.classes.length) return null;
  const { classes, counts } = report.confusion;
  const most = Math.max(1, ...counts.flat());
  const rows = counts.map((row, at) => [classes[at], ...row.map((n, to) => sized(h("td", { class: at === to ? "right" : "" }, String(n)), "--heat", n / most))]);
  return h("div", { class: "box", tabindex: "0", role: "group", "aria-label": "Confusion" }, h("h2", {}, "Confusion"), table(["", ...classes], rows, "confusion", "Answers of people in rows, guesses of the learner in columns, on the audits"));
}

function agreement(report) {
  const people = Object.entries(report.annotators);
  const { alpha, items } = report.agreement;
  const words = items
    ? `Krippendorff's alpha is ${alpha === null ? "not defined yet" : alpha.toFixed(2)} on ${count(items, "item")} that two people answered; 1 is full agreement, 0 is chance.`
    : "Nobody has answered the same item as somebody else yet. With an overlap, some items go to two people.";
  const rows = people.map(([name, row]) => [name, String(row.answers), String(row.skipped), String(row.compared), percent(row.agrees, 0), percent(row.reliability, 0)]);
  return h("div", { class: "box full", tabindex: "0", role: "group", "aria-label": "People" }, h("h2", {}, "People"), table(["annotator", "answers", "don't know", "compared", "agrees", "is right"], rows), h("p", {}, words));
}

function disagreements(report) {
  const rows = report.disagreements.filter((row) => !row.decided).slice(0, 10);
  if (!rows.length) return null;
  return h("div", { class: "box full" }, h("h2", {}, "Answers that differ"), table(["item", "answers"], rows.map((row) => [oneLine(row.item).slice(0, 120), row.answers.map((answer) => `${answer.annotator}: ${[answer.label].flat().join(", ")}`).join(" · ")])),
    h("p", {}, "Find the item under Review and correct it; the correction counts."));
}

function downloads() {
  return h("div", { class: "box full" }, h("h2", {}, "Take away"),
    h("div", { class: "buttons" }, FILES.map(([format, name]) => h("a", { class: "second", href: `/api/v1/export?format=${format}`, download: true }, name)), h("a", { class: "second", href: "/api/v1/model", download: true }, "Model")));
}
