// Shows why a request failed: what was wrong, in which field, and what to do.
import { Problem } from "./api.js";
import { base, own, t } from "./data.js";
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
  const name = own(`problem.type.${type?.split("/").pop()}`);
  const box = make("div", { class: "problem", role: "alert" }, icon("alert"), make("strong", {}, name ?? title));
  if (errors.length > 0) {
    box.append(make("ul", {}, ...errors.map((error) => make("li", {}, make("code", {}, error.field), " ", ...reason(error)))));
  } else if (detail) {
    box.append(make("p", name ? { lang: "en" } : {}, detail));
  }
  if (retryAfter) box.append(make("p", {}, t("problem.retry", { s: retryAfter })));
  if (type?.startsWith("/problems/")) {
    const link = make("a", { href: base + type, target: "_blank", rel: "noopener" }, t("problem.more"));
    box.append(make("small", {}, link, id ? ` · ${t("problem.request", { id })}` : ""));
  }
  place.replaceChildren(box);
}

/** What is wrong with a field, whose name is shown before it. @param {{field: string, code: string, detail: string}} error */
function reason({ field, code, detail }) {
  const exact = detail.startsWith(`${field} `) ? detail.slice(field.length + 1) : detail;
  const said = own(`problem.code.${code}`);
  return said ? [said, " ", make("small", { lang: "en" }, detail)] : [exact];
}
