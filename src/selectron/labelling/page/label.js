// The card: one question at a time, two more in hand, so that the next is there at once.
import { call, newId, Offline } from "/page/api.js";
import { h, notice, swatch } from "/page/dom.js";
import { itemView, metaView } from "/page/item.js";
import { idleCard } from "/page/idle.js";
import { onSwipe } from "/page/swipe.js";

const IN_HAND = 3; // the one on the screen and two ahead
const RECENT = 6;
const KEYED = 10; // more options than keys: people type the first letters
const MANY = 6;

// The key of each option: its place, or its name where the classes are digits themselves.
function keysOf(options) {
  if (options.every((name) => /^[0-9]$/.test(name))) return options;
  return options.map((_, at) => String((at + 1) % 10));
}

export class LabelView {
  constructor(state, outbox) {
    this.state = state;
    this.outbox = outbox;
    this.current = null;
    this.ahead = [];
    this.settled = new Set(); // questions answered here; the server may not know yet
    this.history = [];
    this.why = "";
    this.marked = new Set();
    this.guessing = false;
    this.fetching = false;
    this.card = document.getElementById("card");
    this.choices = document.getElementById("choices");
    this.acts = document.getElementById("acts");
    this.recent = document.getElementById("recent");
    this.drawActs();
    onSwipe(this.card, (right) => this.swiped(right));
  }

  // questions

  async refill() {
    if (!this.state.status.classes) return; // the first status brings them, and calls again
    if (this.fetching) {
      this.again = true;
      return;
    }
    if (this.current && this.ahead.length >= IN_HAND - 1) return;
    this.fetching = true;
    try {
      const reply = await call("GET", `/api/v1/next?n=${IN_HAND}`);
      this.take(reply);
    } catch (error) {
      if (!(error instanceof Offline)) this.why = `${error.message} ${error.remedy ?? ""}`;
      this.state.lost(error);
      if (!this.current) this.draw();
      setTimeout(() => this.refill(), 2000);
    } finally {
      this.fetching = false;
      if (this.again) {
        this.again = false;
        this.refill();
      }
    }
  }

  take(reply) {
    const known = new Set([this.current, ...this.ahead].filter(Boolean).map((one) => one.question));
    for (const question of reply.questions) {
      if (known.has(question.question) || this.settled.has(question.question) || this.outbox.has(question.question)) continue;
      this.ahead.push(question);
      if (question.item.image) new Image().src = question.item.image;
    }
    this.why = reply.why ?? "";
    if (!this.current) this.advance();
  }

  advance() {
    this.current = this.ahead.shift() ?? null;
    this.marked.clear();
    this.guessing = false;
    this.draw();
  }

  // acts

  send(label) {
    if (!this.current) return;
    const question = this.current;
    const id = newId();
    const body = { id, question: question.question, item: question.item.id, ...(label === null ? { skip: true } : { label }) };
    this.settled.add(question.question);
    this.history.push({ id, question, label, durable: false });
    this.outbox.add({ method: "POST", path: "/api/v1/answers", body });
    this.advance();
    this.drawRecent();
    if (!this.ahead.length) this.refill(); // otherwise when this answer is durable
  }

  choose(name) {
    if (!this.current) return;
    if (!this.state.status.multilabel) return this.send(name);
    if (!this.marked.delete(name)) this.marked.add(name);
    this.drawChoices();
  }

  sendMarked() {
    if (this.state.status.multilabel) this.send(this.current?.options.filter((name) => this.marked.has(name)) ?? []);
  }

  undo() {
    const last = this.history.pop();
    if (!last) return notice("There is nothing to undo in this window. Older answers are under Review.");
    this.outbox.add({ method: "DELETE", path: `/api/v1/answers/${last.id}` });
    this.show(last.question);
    this.drawRecent();
  }

  // Show a question again before the others in hand.
  show(question) {
    this.settled.delete(question.question);
    if (this.current) this.ahead.unshift(this.current);
    this.ahead.unshift(question);
    this.advance();
  }

  reveal() {
    if (!this.current) return;
    this.guessing = !this.guessing;
    this.draw();
  }

  durable(entry) {
    const row = this.history.find((one) => one.id === entry.body?.id);
    if (row) row.durable = true;
    this.drawRecent();
    this.refill(); // the server counted this question among those in hand until now
  }

  refused(entry, error) {
    this.history = this.history.filter((one) => one.id !== entry.body?.id);
    this.drawRecent();
    notice(`${error.message} ${error.remedy}`);
    this.refill();
  }

  key(event) {
    const { key } = event;
    if (key === "u" || key === "Backspace") return this.undo(), true;
    if (!this.current) return false;
    const options = this.current.options;
    if (/^[0-9]$/.test(key) && options.length <= KEYED) {
      const at = keysOf(options).indexOf(key);
      if (at >= 0) this.press(options[at]);
      return true;
    }
    if (key === " ") return this.send(null), true;
    if (key === "g") return this.reveal(), true;
    if (key === "Enter" && this.state.status.multilabel) return this.sendMarked(), true;
    if (key === "a" || key === "x") return this.acceptOrReject(key === "a"), true;
    return false;
  }

  // Prodigy's keys: with two classes, accept is the positive one; with several labels, accept sends.
  acceptOrReject(accept) {
    const { options } = this.current;
    if (this.state.status.multilabel) return accept ? this.sendMarked() : this.send([]);
    if (options.length !== 2) return notice("a and x answer questions with two classes; use the numbers here.");
    const positive = Math.max(0, options.indexOf(this.state.status.positive ?? options[0]));
    return this.press(options[accept ? positive : 1 - positive]);
  }

  // On a touch screen: to the right accepts, to the left rejects, where there are two classes.
  swiped(right) {
    if (this.current?.options.length === 2 && !this.state.status.multilabel) this.acceptOrReject(right);
  }

  press(name) {
    const button = [...this.choices.children].find((child) => child.dataset.name === name);
    button?.classList.add("hit");
    setTimeout(() => button?.classList.remove("hit"), 120);
    this.choose(name);
  }

  // drawing

  draw() {
    const question = this.current;
    document.body.dataset.question = question?.question ?? "";
    if (!question) return this.drawIdle();
    this.idleKey = null;
    this.acts.hidden = false;
    const { reason } = question;
    this.card.replaceChildren(
      h("div", { class: "card-head" }, h("h2", { class: "ask" }, this.state.status.question ?? "Which class is it?"), h("span", { class: "faint" }, question.question.replace(/^q/, "question "))),
      h("div", { class: "card-body", "aria-live": "polite", "data-item": question.item.id }, itemView(question.item)),
      metaView(question.item),
      h("div", { class: "why" }, h("span", { class: `tag ${reason.kind}` }, reason.kind), h("span", {}, h("b", {}, "Why this one: "), reason.text), this.guessView(question)),
    );
    this.drawChoices();
  }

  // Draw the idle card only when it says something new: somebody may be typing in it.
  drawIdle() {
    const { status, offline, you } = this.state;
    const key = JSON.stringify([this.why || status.why, offline, you.role, status.budget, status.goal, status.reached, status.classes, status.labels > 0]);
    if (key === this.idleKey) return;
    this.idleKey = key;
    this.card.replaceChildren(idleCard(this.state, this.why));
    this.choices.replaceChildren();
    this.drawn = null;
    this.acts.hidden = true;
  }

  guessView(question) {
    if (!this.guessing) return null;
    const guess = [question.guess ?? []].flat();
    return h("span", { class: "guess" }, guess.length ? `The learner says ${guess.join(", ")}` : "The learner has no guess yet");
  }

  drawChoices() {
    const { options } = this.current;
    if (options.length > KEYED) return this.drawPicker(options);
    const sameAsBefore = this.drawn === options.join("\n") && this.choices.children.length >= options.length;
    if (!sameAsBefore) {
      this.drawn = options.join("\n");
      const keys = keysOf(options);
      this.choices.classList.toggle("many", options.length > MANY);
      this.choices.replaceChildren(...options.map((name, at) => this.choiceButton(name, at, keys[at])), ...this.moreButtons());
    }
    const multilabel = this.state.status.multilabel;
    const guess = this.guessing ? [this.current.guess ?? []].flat() : [];
    for (const button of this.choices.querySelectorAll("[data-name]")) {
      if (multilabel) button.setAttribute("aria-pressed", String(this.marked.has(button.dataset.name)));
      button.classList.toggle("likely", guess.includes(button.dataset.name));
    }
    return undefined;
  }

  choiceButton(name, at, key) {
    return h("button", { class: `choice c${at}`, "data-name": name, onclick: (event) => {
      if (event.detail > 0) event.currentTarget.blur(); // after a mouse, space means "don't know" again
      this.choose(name);
    } }, h("kbd", { "aria-hidden": "true" }, key), h("span", { class: "swatch", "aria-hidden": "true" }), name);
  }

  moreButtons() {
    if (!this.state.status.multilabel) return [];
    return [h("button", { class: "main", onclick: () => this.sendMarked() }, "Send  ⏎")];
  }

  // More options than keys: a box to type in, arrows to move, Enter to choose.
  drawPicker(options) {
    this.drawn = null;
    const { classes } = this.state.status;
    const guess = this.guessing ? [this.current.guess ?? []].flat() : [];
    const ordered = [...options].sort((one, other) => guess.includes(other) - guess.includes(one));
    const list = h("div", { class: "pick-list", role: "listbox", id: "pick-list", "aria-label": "Classes", "aria-multiselectable": String(Boolean(this.state.status.multilabel)) });
    const input = h("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "pick-list", "aria-label": "Class: type its first letters", placeholder: "Type the first letters, then Enter", autocomplete: "off", id: "pick" });
    let at = 0;
    let shown = [];
    const fill = () => {
      const typed = input.value.trim().toLowerCase();
      const starts = ordered.filter((name) => name.toLowerCase().startsWith(typed));
      const has = ordered.filter((name) => !starts.includes(name) && name.toLowerCase().includes(typed));
      shown = [...starts, ...has];
      at = Math.min(at, Math.max(0, shown.length - 1));
      list.replaceChildren(...shown.map((name, n) => {
        const color = `c${classes.indexOf(name) % 10}`;
        return h("div", { role: "option", id: `pick-${n}`, class: `${color}${this.marked.has(name) ? " chosen" : ""}`, "aria-selected": String(n === at), onclick: () => this.pickOne(name) }, h("span", { class: "swatch", "aria-hidden": "true" }), name);
      }));
      input.setAttribute("aria-activedescendant", shown.length ? `pick-${at}` : "");
      list.children[at]?.scrollIntoView({ block: "nearest" });
    };
    input.addEventListener("input", () => { at = 0; fill(); });
    input.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1 };
      if (event.key in steps) at = (at + steps[event.key] + shown.length) % Math.max(1, shown.length);
      else if (event.key === "Enter" && this.state.status.multilabel && !input.value) return this.sendMarked();
      else if (event.key === "Enter" && shown.length) return this.pickOne(shown[at]);
      else if (event.key === "Escape") return input.blur();
      else return undefined;
      event.preventDefault();
      return fill();
    });
    this.choices.replaceChildren(h("div", { class: "pick" }, input, list, ...this.moreButtons()));
    fill();
    if (!document.querySelector("dialog[open]") && !document.getElementById("label").hidden) input.focus({ preventScroll: true });
  }

  pickOne(name) {
    this.choose(name);
  }

  drawActs() {
    const act = (key, words, does) => h("button", { class: "quiet", onclick: (event) => {
      if (event.detail > 0) event.currentTarget.blur();
      does();
    } }, h("kbd", { "aria-hidden": "true" }, key), words);
    this.acts.replaceChildren(
      act("space", "don't know", () => this.send(null)),
      act("u", "undo", () => this.undo()),
      act("g", "show the guess", () => this.reveal()),
    );
  }

  drawRecent() {
    const { classes } = this.state.status;
    const rows = this.history.slice(-RECENT).reverse();
    this.recent.replaceChildren(...(rows.length ? ["Just now", ...rows.map((row) => {
      const names = row.label === null ? "don't know" : [row.label].flat().join(", ") || "none";
      return h("button", { class: "chip", "data-durable": row.durable, title: "Change this answer", "aria-label": `Change the answer ${names}${row.durable ? ", saved" : ""}`, onclick: () => this.change(row) },
        swatch(classes, [row.label].flat()[0]), h("span", {}, names), h("span", { class: "tick", "aria-hidden": "true" }, row.durable ? "✓" : "…"));
    })] : []));
  }

  // Change a recent answer: take it back and ask again.
  change(row) {
    this.history = this.history.filter((one) => one !== row);
    this.outbox.add({ method: "DELETE", path: `/api/v1/answers/${row.id}` });
    this.show(row.question);
    this.drawRecent();
  }
}
