// What the server has put into the page: the texts in its language, and the limits of the fields.

/** @typedef {{minimum: number, maximum: number, default: number}} Limits */
/** @type {{code: string, texts: Record<string, string>, limits: Record<string, Limits>}} */
const data = JSON.parse(document.querySelector("#data")?.textContent ?? "{}");

/** What comes before the paths of the service, which may be served below another path, as this file is. */
export const base = new URL("../..", import.meta.url).href.slice(0, -1);

/** The language of the page. */
export const language = data.code;

/** The limits of the numbers of a handwriting request, as in the OpenAPI document. */
export const limits = data.limits;

/** A text that only some languages of the page have, where the service's own text is not in them. @param {string} name */
export const own = (name) => data.texts[name];

/** The names of such texts that begin so, without that beginning. @param {string} prefix */
export const ownNames = (prefix) =>
  Object.keys(data.texts).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));

/**
 * A text of the page, with its parts filled in.
 * @param {string} name
 * @param {Record<string, string | number>} [parts]
 */
export function t(name, parts = {}) {
  const text = data.texts[name] ?? name;
  return text.replace(/\{([a-z]+)\}/g, (whole, part) => String(parts[part] ?? whole));
}
