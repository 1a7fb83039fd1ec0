// Shows why a request failed: what was wrong, in which field, and what to do.
import { Problem } from "./api.js";
import { t } from "./data.js";
import { icon, make } from "./dom.js";
import { NoKey } from "./key.js";

/** Takes a problem away. @param {HTMLElement} place */
export const clearProblem = (place) => place.replaceChildren();

/**
 * Shows an error at a place of the page. What somebody did on purpose (a newer request, a closed dialog) is no error.
 * @param {HTMLElement} place @param {unknown} error
 */
export function showProblem(place, error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  if (error instanceof NoKey) error = new Problem({ title: t("problem.key") });
  if (!(error instanceof Problem)) {
    console.error(error);
    error = new Problem({ title: String(error) });
  }
  const { title, detail, errors = [], retryAfter, type, request_id: id } = /** @type {Problem} */ (error).document;
  const box = make("div", { class: "problem", role: "alert" }, icon("alert"), make("strong", {}, title));
  if (errors.length > 0) {
    const items = errors.map(({ field, detail: reason }) => make("li", {}, make("code", {}, field), ` ${without(reason, field)}`));
    box.append(make("ul", {}, ...items));
  } else if (detail) {
    box.append(make("p", {}, detail));
  }
  if (retryAfter) box.append(make("p", {}, t("problem.retry", { s: retryAfter })));
  if (type?.startsWith("/problems/")) {
    const link = make("a", { href: type, target: "_blank", rel: "noopener" }, t("problem.more"));
    box.append(make("small", {}, link, id ? ` · ${t("problem.request", { id })}` : ""));
  }
  place.replaceChildren(box);
}

/** Details begin with the field's name, which is shown beside them. @param {string} reason @param {string} field */
function without(reason, field) {
  return reason.startsWith(`${field} `) ? reason.slice(field.length + 1) : reason;
}
