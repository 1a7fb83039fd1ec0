// Predictions as bars: the likeliest first.
import { make } from "./dom.js";
import { language } from "./data.js";

const percent = new Intl.NumberFormat(language === "pa" ? "pa-IN-u-nu-latn" : "en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @typedef {{label: string, score: number}} Prediction */

/** A list that shows `n` predictions. @param {HTMLElement} list @param {number} n */
export function bars(list, n) {
  const rows = Array.from({ length: n }, () => {
    const parts = { label: make("b", { lang: "pa" }), bar: make("div"), score: make("span", { class: "score" }) };
    const item = make("li", { class: "none" }, parts.label, make("div", { class: "track", "aria-hidden": "true" }, parts.bar), parts.score);
    return { item, ...parts };
  });
  list.append(...rows.map(({ item }) => item));
  return {
    /** @param {Prediction[]} predictions */
    show(predictions) {
      rows.forEach(({ item, label, bar, score }, nth) => {
        const prediction = predictions[nth];
        item.classList.toggle("none", prediction === undefined);
        label.textContent = prediction?.label ?? "";
        score.textContent = prediction ? percent.format(prediction.score) : "";
        bar.style.setProperty("--part", String(prediction?.score ?? 0));
      });
    },
  };
}
