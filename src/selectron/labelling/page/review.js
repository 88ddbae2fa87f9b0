// Review: find items by their words, label what you find, correct, leave notes, look at slips.
import { call, newId } from "/page/api.js";
import { count, h, notice, percent, swatch } from "/page/dom.js";
import { oneLine } from "/page/item.js";

const STATES = [["all", "All items"], ["labelled", "Labelled"], ["unlabelled", "Without a label"], ["skipped", "Don't know"], ["noted", "With notes"]];

export class ReviewView {
  constructor(state) {
    this.state = state;
    this.root = document.getElementById("review");
    this.page = 1;
    this.kept = new Set(); // slips that were looked at and are right
    this.search = h("input", { type: "search", id: "search", "aria-label": "Search items", placeholder: "Search words", oninput: () => this.soon() });
    this.filter = h("select", { "aria-label": "Which items", onchange: () => this.load(1) }, STATES.map(([value, words]) => h("option", { value }, words)));
    this.order = h("select", { "aria-label": "Order", onchange: () => this.load(1) }, [["", "In their order"], ["most", "Most doubtful first"], ["least", "Least doubtful first"]].map(([value, words]) => h("option", { value }, words)));
    this.filter.value = "labelled";
    this.slips = h("div", { class: "slips" });
    this.heading = h("h2", {}, "Items");
    this.list = h("ul", { class: "rows" });
    this.more = h("button", { class: "second", hidden: true, onclick: () => this.load(this.page + 1) }, "Show more");
    this.root.replaceChildren(this.slips, h("div", { class: "page-head" }, this.heading), h("div", { class: "searchbar" }, this.search, this.filter, this.order), this.list, h("p", { class: "buttons" }, this.more));
  }

  opened() {
    this.load(1);
    this.loadSlips();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.search.value && this.filter.value === "labelled") this.filter.value = "all"; // who searches looks for new ones
      this.load(1);
    }, 180);
  }

  async load(page) {
    const query = new URLSearchParams({ state: this.filter.value, q: this.search.value, page: String(page) });
    if (this.order.value) query.set("doubt", this.order.value);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const reply = await call("GET", `/api/v1/items?${query}`);
      if (turn !== this.turn) return; // a later search was quicker
      const rows = reply.items.map((row) => this.row(row));
      this.page = page;
      if (page === 1) this.list.replaceChildren(...rows);
      else this.list.append(...rows);
      this.heading.textContent = count(reply.total, "item");
      if (!reply.total) this.list.replaceChildren(h("li", { class: "faint" }, this.search.value ? "No item has all these words. Try fewer, or another filter." : "No item is in this state yet."));
      this.more.hidden = reply.page >= reply.pages;
    } catch (error) {
      notice(`${error.message} ${error.remedy ?? ""}`);
    }
  }

  async loadSlips() {
    const report = await call("GET", "/api/v1/report").catch(() => ({ slips: [] }));
    const rows = report.slips.filter((row) => !this.kept.has(row.item.id) && String(row.guess) !== String(row.label));
    this.state.setSlips(rows.length);
    this.slips.replaceChildren(...(rows.length ? [
      h("div", { class: "page-head" }, h("h2", {}, "Possible slips"), h("span", { class: "faint" }, "Answers that the learner doubts. Nothing changes by itself.")),
      h("ul", { class: "rows" }, rows.slice(0, 6).map((row) => this.slip(row))),
    ] : []));
  }

  slip(row) {
    const guess = [row.guess ?? []].flat().join(", ") || "none";
    const given = [row.label].flat().join(", ");
    const keep = () => {
      this.kept.add(row.item.id);
      this.loadSlips();
    };
    return h("li", { class: "box rowcard" }, this.content(row),
      h("div", { class: "set" },
        h("span", { class: "faint" }, `The learner gives it ${percent(1 - row.doubt, 0)}`),
        h("div", { class: "buttons" },
          h("button", { class: "second", onclick: keep }, `Keep ${given}`),
          h("button", { class: "second", onclick: () => this.label(row, row.guess) }, `Change to ${guess}`))));
  }

  content(row) {
    const text = h("div", { class: "text" }, oneLine(row.item));
    const picture = row.item.image ? h("img", { src: row.item.image, alt: `Picture ${row.item.id}`, loading: "lazy" }) : null;
    const people = [...new Set(row.answers.map((answer) => answer.annotator))].join(", ");
    const labels = row.label === null ? [] : [row.label].flat();
    return h("div", {}, picture ?? text,
      h("div", { class: "under" },
        labels.map((name) => h("span", { class: "check" }, swatch(this.state.status.classes, name), name)),
        h("span", {}, row.item.id), people ? h("span", {}, `by ${people}`) : null,
        row.answers.some((answer) => answer.corrected) ? h("span", {}, "corrected") : null,
        text.textContent.length > 220 && !picture ? h("button", { class: "quiet", onclick: () => text.classList.toggle("open") }, "whole text") : null),
      row.notes.map((note) => h("div", { class: "under" }, `“${note.text}” – ${note.annotator}`)));
  }

  row(row) {
    const note = h("input", { class: "field", type: "text", maxlength: "10000", "aria-label": `Note on ${row.item.id}`, placeholder: "A note for others" });
    const form = h("form", { class: "note", hidden: true, onsubmit: (event) => {
      event.preventDefault();
      this.note(row, note.value);
    } }, note, h("button", { class: "second", type: "submit" }, "Save"));
    const toggle = h("button", { class: "quiet", "aria-expanded": "false", onclick: () => {
      form.hidden = !form.hidden;
      toggle.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) note.focus();
    } }, "note");
    return h("li", { class: "box rowcard", "data-item": row.item.id }, this.content(row), h("div", { class: "set" }, this.setter(row), toggle), form);
  }

  setter(row) {
    const { classes, multilabel } = this.state.status;
    if (multilabel) return this.checks(row, classes);
    const options = classes.map((name) => h("option", { value: name }, name));
    if (row.label === null) options.unshift(h("option", { value: "", selected: true }, row.state === "skipped" ? "don't know" : "no label"));
    const select = h("select", { "aria-label": `Label of ${row.item.id}`, onchange: () => select.value && this.label(row, select.value) }, options);
    select.value = row.label ?? "";
    return select;
  }

  checks(row, classes) {
    const chosen = new Set(row.label ?? []);
    return h("fieldset", {}, h("legend", { class: "sr" }, `Labels of ${row.item.id}`), classes.map((name) => h("label", { class: "check" },
      h("input", { type: "checkbox", checked: chosen.has(name), onchange: (event) => {
        if (event.target.checked) chosen.add(name);
        else chosen.delete(name);
        this.label(row, classes.filter((one) => chosen.has(one)));
      } }), swatch(classes, name), name)));
  }

  // An item with an answer is corrected; one without is labelled as found.
  async label(row, label) {
    const answer = row.answers.find((one) => one.label !== null);
    const id = answer?.id ?? newId();
    const done = answer
      ? await this.act("PUT", `/api/v1/answers/${id}`, { label })
      : await this.act("POST", "/api/v1/answers", { id, item: row.item.id, label });
    if (!done) return;
    const given = { id, annotator: this.state.you.name, ...answer, label, corrected: Boolean(answer) };
    this.redraw({ ...row, label, state: "labelled", answers: [given, ...row.answers.filter((one) => one !== answer)] });
    this.loadSlips();
  }

  async note(row, text) {
    if (await this.act("POST", "/api/v1/notes", { item: row.item.id, text })) {
      this.redraw({ ...row, notes: [...row.notes, { text, annotator: this.state.you.name }] });
    }
  }

  // Only the row that changed is drawn again: somebody may be typing in another.
  redraw(row) {
    const before = this.list.querySelector(`[data-item="${CSS.escape(row.item.id)}"]`);
    if (!before) return;
    const after = this.row(row);
    const chose = before.contains(document.activeElement);
    before.replaceWith(after);
    if (chose) after.querySelector("select, input")?.focus();
  }

  async act(method, path, body) {
    try {
      await call(method, path, body);
      notice("Saved.");
      return true;
    } catch (error) {
      notice(`${error.message} ${error.remedy ?? ""}`);
      this.load(1);
      return false;
    }
  }
}
