// Answers on their way to the disk. Each waits in IndexedDB until the server has it, so closing the
// tab or losing the network loses nothing. The id is made here: sending twice counts once.
import { call, Refused } from "/page/api.js";

const WAITS = [250, 500, 1000, 2000, 4000, 8000];

function promised(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Outbox {
  // `told` hears {waiting, online} whenever it changes; `durable` and `refused` hear of each call.
  constructor({ told, durable, refused }) {
    this.name = "selectron";
    this.told = told;
    this.durable = durable;
    this.refused = refused;
    this.waiting = [];
    this.online = true;
    this.failures = 0;
    this.sending = false;
    this.timer = 0;
  }

  async open() {
    const request = indexedDB.open(this.name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("calls", { keyPath: "n", autoIncrement: true });
    this.db = await promised(request);
    this.waiting = await promised(this.calls("readonly").getAll());
    addEventListener("online", () => this.flush());
    this.flush();
  }

  calls(mode) {
    return this.db.transaction("calls", mode, { durability: "strict" }).objectStore("calls");
  }

  // Keep a call, then send it. The order of calls is the order of people's acts.
  async add(entry) {
    this.waiting.push(entry);
    this.tell();
    entry.kept = promised(this.calls("readwrite").add({ method: entry.method, path: entry.path, body: entry.body }));
    entry.n = await entry.kept;
    this.flush();
  }

  has(question) {
    return this.waiting.some((entry) => entry.body?.question === question);
  }

  tell() {
    this.told({ waiting: this.waiting.length, online: this.online });
  }

  // Only one tab sends at a time.
  async flush() {
    if (this.sending || !this.db) return;
    this.sending = true;
    clearTimeout(this.timer);
    try {
      if (navigator.locks) await navigator.locks.request(this.name, () => this.send());
      else await this.send();
    } finally {
      this.sending = false;
    }
    this.tell();
    if (this.waiting.length && !this.timer) this.flush();
  }

  async send() {
    this.timer = 0;
    while (this.waiting.length) {
      const entry = this.waiting[0];
      if (entry.kept) await entry.kept;
      const refusal = await call(entry.method, entry.path, entry.body).then(() => null, (error) => error);
      if (refusal && (!(refusal instanceof Refused) || refusal.temporary || refusal.status === 401)) return this.later(refusal);
      // Out of the outbox first: whatever goes wrong with showing it, the next entry is not this one.
      await this.done(entry);
      if (refusal) this.refused(entry, refusal);
      else this.durable(entry);
    }
  }

  async done(entry) {
    await promised(this.calls("readwrite").delete(entry.n));
    this.waiting.shift();
    this.online = true;
    this.failures = 0;
    this.tell();
  }

  later(error) {
    this.online = false;
    const wait = WAITS[Math.min(this.failures++, WAITS.length - 1)];
    this.timer = setTimeout(() => this.flush(), Math.max(wait, 1000 * (error.retryAfter ?? 0)));
    this.signedOut = error.status === 401;
  }
}
