// The parameters of handwriting: a slider for each number, with its unit and limits, and a swatch for each colour.
import { limits, t } from "./data.js";
import { draw, make } from "./dom.js";

const NUMBERS = ["page-width", "page-length", "line-space", "word-space", "char-space", "stroke-width"];

/** The colours of the ink, as the service draws them. @type {Record<string, string>} */
export const COLOURS = { black: "#1a1a1e", blue: "#1f3fa8", pink: "#d6408c", green: "#1e7f3c", yellow: "#d9a406", brown: "#6e4420" };

/**
 * Makes the sliders and swatches. Calls `changed` when one of them changes.
 * @param {HTMLElement} sliders @param {HTMLElement} swatches @param {(name: string) => void} changed
 */
export function parameters(sliders, swatches, changed) {
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  for (const name of NUMBERS) sliders.append(slider(name, inputs, changed));
  for (const [name, value] of Object.entries(COLOURS)) {
    const input = make("input", { type: "radio", name: "stroke-color", value: name, "aria-label": t(`color.${name}`), checked: name === "black" });
    input.addEventListener("change", () => changed("stroke-color"));
    const disc = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("circle", { cx: 12, cy: 12, r: 10.5 }), draw("circle", { cx: 12, cy: 12, r: 7.5, fill: value }));
    swatches.append(make("label", { title: t(`color.${name}`) }, input, disc));
  }
  /** @param {string} name @param {number} value */
  function set(name, value) {
    const input = inputs.get(name);
    if (!input) return;
    input.value = String(value);
    input.dispatchEvent(new Event("input"));
  }
  const colour = () => /** @type {HTMLInputElement} */ (swatches.querySelector(":checked")).value;
  return {
    colour,
    /** @param {string} name */
    number: (name) => Number(inputs.get(name)?.value),
    /** What differs from the defaults, as fields of a request. */
    fields() {
      /** @type {Record<string, number | string>} */
      const fields = {};
      for (const [name, input] of inputs) {
        if (Number(input.value) !== limits[name]?.default) fields[name] = Number(input.value);
      }
      if (colour() !== "black") fields["stroke-color"] = colour();
      return fields;
    },
    set,
    reset() {
      for (const name of inputs.keys()) set(name, limits[name]?.default ?? 0);
    },
  };
}

/** @param {string} name @param {Map<string, HTMLInputElement>} inputs @param {(name: string) => void} changed */
function slider(name, inputs, changed) {
  const { minimum, maximum, default: value } = limits[name] ?? { minimum: 0, maximum: 1, default: 0 };
  const step = name === "stroke-width" ? 0.5 : 5;
  const input = make("input", { type: "range", id: name, min: minimum, max: maximum, step, value });
  const output = make("output", { for: name });
  const refresh = () => {
    output.textContent = t("unit.px", { n: input.value });
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", refresh);
  input.addEventListener("change", () => changed(name));
  inputs.set(name, input);
  refresh();
  return make("div", { class: "slider" }, make("label", { for: name }, t(`parameter.${name}`)), output, input, make("small", {}, String(minimum)), make("small", {}, String(maximum)));
}
