// An item as people see it: a text, a picture, or fields beside their names.
import { h } from "/page/dom.js";

const LONG = 700;
const SHORT = 90;

export function itemView(item) {
  if (item.text !== undefined) return textView(item.text);
  if (item.image !== undefined) return imageView(item);
  if (item.fields) return fieldsView(item.fields);
  if (item.vector) return fieldsView(Object.fromEntries(item.vector.slice(0, 40).map((value, at) => [`x${at + 1}`, value])));
  return textView(item.id);
}

function textView(text) {
  const size = text.length > LONG ? " long" : text.length < SHORT ? " short" : "";
  const scrolls = size === " long" ? { tabindex: "0", role: "group", "aria-label": "Text of the item" } : {};
  return h("div", { class: `item-text${size}`, ...scrolls }, text);
}

function imageView(item) {
  const image = h("img", { class: "item-image", src: item.image, alt: `Picture ${item.id}` });
  image.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth < 100));
  return image;
}

function fieldsView(fields) {
  return h("dl", { class: "fields" }, Object.entries(fields).map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)),
  ]));
}

export function metaView(item) {
  const meta = Object.entries(item.meta ?? {}).slice(0, 8);
  return h("div", { class: "meta" }, h("span", {}, item.id), meta.map(([name, value]) => h("span", {}, `${name} ${value}`)));
}

export function oneLine(item) {
  if (item.text !== undefined) return item.text;
  if (item.fields) return Object.entries(item.fields).map(([name, value]) => `${name}: ${value}`).join(" · ");
  return item.id;
}
