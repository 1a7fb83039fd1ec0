// An on-screen Gurmukhi keyboard. Tab enters and leaves it, and the arrow keys move inside.
import { t } from "./data.js";
import { make } from "./dom.js";

const DOTTED_CIRCLE = "\u25cc";
const COLUMNS = 10;
const LETTERS = "ੳਅੲਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ";
const WITH_NUKTA = ["ਸ਼", "ਖ਼", "ਗ਼", "ਜ਼", "ਫ਼", "ਲ਼"];
const SIGNS = ["ਾ", "ਿ", "ੀ", "ੁ", "ੂ", "ੇ", "ੈ", "ੋ", "ੌ", "ੰ", "ਂ", "ੱ", "੍ਹ", "੍ਰ", "੍ਵ"];
const VOWELS = "ਆਇਈਉਊਏਐਓਔ";
const OTHERS = "।,?!-੦੧੨੩੪੫੬੭੮੯";

/** Puts a text in the place of what is selected. @param {HTMLTextAreaElement} area @param {string} text */
function insert(area, text) {
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Deletes what is selected, or the character before the cursor. @param {HTMLTextAreaElement} area */
function erase(area) {
  const { selectionStart: start, selectionEnd: end } = area;
  const from = start < end ? start : Math.max(0, start - ([...area.value.slice(0, start)].pop()?.length ?? 0));
  area.setRangeText("", from, end, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Fills `place` with the keys, which write into `area`. @param {HTMLElement} place @param {HTMLTextAreaElement} area */
export function keyboard(place, area) {
  /** @param {string} text @param {string} [kind] @param {() => void} [act] */
  const key = (text, kind, act) => {
    const shown = SIGNS.includes(text) ? DOTTED_CIRCLE + text : text;
    const button = make("button", { type: "button", class: kind, tabindex: -1, lang: act ? undefined : "pa" }, shown);
    button.addEventListener("pointerdown", (event) => event.preventDefault()); // the text keeps the focus and its cursor
    button.addEventListener("click", act ?? (() => insert(area, text)));
    return button;
  };
  const keys = [
    ...[...LETTERS].map((text) => key(text)),
    ...WITH_NUKTA.map((text) => key(text)),
    ...[...VOWELS].map((text) => key(text)),
    ...SIGNS.map((text) => key(text)),
    ...[...OTHERS].map((text) => key(text)),
    key(t("keys.space"), "space", () => insert(area, " ")),
    key(t("keys.enter"), "wide", () => insert(area, "\n")),
    key(t("keys.delete"), "wide", () => erase(area)),
  ];
  keys[0]?.setAttribute("tabindex", "0");
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", t("keys.name"));
  place.append(...keys);
  place.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
    const at = keys.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (step === undefined || at < 0) return;
    const next = keys[Math.min(keys.length - 1, Math.max(0, at + step))];
    event.preventDefault();
    keys[at]?.setAttribute("tabindex", "-1");
    next?.setAttribute("tabindex", "0");
    next?.focus();
  });
}
