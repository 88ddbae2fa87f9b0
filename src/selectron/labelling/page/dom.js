// Elements, made one by one: whatever people wrote becomes text, never markup.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A length that follows a number: the policy of the page forbids style attributes, not CSSOM.
export function sized(element, property, value) {
  element.style.setProperty(property, value);
  return element;
}

export function percent(share, digits = 1) {
  if (share === null || share === undefined) return "–";
  const shown = 100 * share;
  return `${shown.toFixed(shown >= 99.95 || shown === 0 ? 0 : digits)}\u00a0%`;
}

// A share that somebody set, as they would write it.
export function plain(share) {
  return `${+(100 * share).toFixed(2)}\u00a0%`;
}

export function goalWords(goal) {
  const found = /^\s*(error|recall)\s*[<>]=\s*([\d.]+)\s*(%?)\s*$/.exec(goal ?? "");
  if (!found) return goal;
  const limit = plain(Number(found[2]) / (found[3] ? 100 : 1));
  return found[1] === "error" ? `an error of at most ${limit}` : `a recall of at least ${limit}`;
}

export function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

export function swatch(classes, name) {
  const at = classes.indexOf(name);
  return h("span", { class: `swatch c${at < 0 ? "x" : at % 10}`, "aria-hidden": "true" });
}

let noticeTimer = 0;
export function notice(text, action = null) {
  const box = document.getElementById("notices");
  box.replaceChildren(h("div", { class: "notice" }, h("span", {}, text), action));
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => box.replaceChildren(), 9000);
}
