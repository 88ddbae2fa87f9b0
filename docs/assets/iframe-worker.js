// Browsers refuse to start a Worker from file://. The search needs one, so a page that was opened
// from a folder runs the worker's script in a hidden frame, which may do the same work.
if (location.protocol === "file:") {
  const prelude = `
    self.postMessage = data => parent.postMessage(data, "*");
    self.importScripts = (...urls) => urls.reduce(
      (before, url) => before.then(() => new Promise((loaded, failed) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: loaded, onerror: failed });
        document.body.append(script);
      })),
      Promise.resolve(),
    );`;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise(loaded => { this.frame.onload = loaded; });
      this.hear = event => {
        if (event.source !== this.frame.contentWindow) return;
        const heard = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(heard);
        if (this.onmessage) this.onmessage(heard);
      };
      addEventListener("message", this.hear);
      document.body.append(this.frame);
      const inner = this.frame.contentWindow.document;
      inner.open();
      inner.write(`<body><script>${prelude}</scr` + `ipt><script src="${url}"></scr` + `ipt></body>`);
      inner.close();
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(
        new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      removeEventListener("message", this.hear);
      this.frame.remove();
    }
  };
}
