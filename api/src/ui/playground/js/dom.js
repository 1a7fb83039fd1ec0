// Finds and makes elements.

/**
 * The element with this id. It is part of the page, so that it is always there.
 * @template {Element} [T=HTMLElement]
 * @param {string} id
 * @param {{ new(): T }} [_type] the type of the element
 * @returns {T}
 */
export function byId(id, _type) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element ${id}`);
  return /** @type {T} */ (/** @type {unknown} */ (found));
}

/**
 * A new element. Properties that are not attributes are set with `on…` (listeners) and `class`.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number | boolean | EventListener | undefined>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** A new element of a drawing. @param {string} name @param {Record<string, string | number>} attributes @param {Node[]} children */
export function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** An icon of the page. @param {string} name */
export const icon = (name) => draw("svg", { "aria-hidden": "true" }, draw("use", { href: `#i-${name}` }));

/** Gives the browser a file to save. @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Copies a text, and says so on the button for a moment.
 * @param {HTMLElement} button @param {string} text @param {string} copied
 */
export async function copy(button, text, copied) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copyBySelection(text);
  const label = button.lastChild;
  const before = label?.textContent ?? "";
  if (label === null || before === copied) return;
  label.textContent = copied;
  setTimeout(() => (label.textContent = before), 1500);
}

/** Copies where the browser has no clipboard for scripts: on http, on another machine. @param {string} text */
function copyBySelection(text) {
  const area = make("textarea", { class: "hidden", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Calls `open` with each file that is dropped on the element. @param {HTMLElement} element @param {(file: File) => void} open */
export function acceptDrop(element, open) {
  const mark = (/** @type {boolean} */ isOver) => element.classList.toggle("over", isOver);
  element.addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  element.addEventListener("dragleave", () => mark(false));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    const file = event.dataTransfer?.files[0];
    if (file) open(file);
  });
}

/** Calls `open` with the file that is chosen. @param {HTMLInputElement} input @param {(file: File) => void} open */
export function acceptFile(input, open) {
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = ""; // so that the same file can be chosen again
    if (file) open(file);
  });
}
