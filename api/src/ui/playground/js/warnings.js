// What a job says about its result, in the language of the page.
import { own, ownNames, t } from "./data.js";
import { make } from "./dom.js";

/** @typedef {{text: "transcription" | "translation", start: number, end: number}} Part of a recording */

/** The names of the texts for the service's sentences, which are these sentences. */
const SAID = "warning.said.";
/** How the service's sentences about parts that are probably wrong begin. */
const DOUBT = "low confidence: ";

/**
 * The warnings of a job. One that the page has no text for is shown as the service says it.
 * @param {{warnings?: string[], probably_wrong?: Part[]}} job
 */
export function warningsOf({ warnings = [], probably_wrong: parts = [] }) {
  const isOwn = own("warning.doubt.part") !== undefined;
  const said = warnings.filter((warning) => !isOwn || !warning.startsWith(DOUBT)).map(translated);
  return isOwn ? [...said, ...doubts(parts).map((text) => make("li", {}, text))] : said;
}

/** @param {string} warning */
function translated(warning) {
  for (const name of ownNames(SAID)) {
    const said = new RegExp(`^${pattern(name)}$`).exec(warning);
    if (said) return make("li", {}, t(SAID + name, said.groups ?? {})); // a sentence without parts has no groups
  }
  return make("li", { lang: "en" }, warning);
}

/** A regular expression for a sentence with parts such as `{n}`. @param {string} sentence */
const pattern = (sentence) => sentence.replace(/[.()]/g, "\\$&").replace(/\{([a-z]+)\}/g, "(?<$1>.+)");

/** A sentence for each text that is probably wrong somewhere. @param {Part[]} parts */
function doubts(parts) {
  return /** @type {const} */ (["transcription", "translation"]).flatMap((text) => {
    const of = parts.filter((part) => part.text === text);
    const named = of.map(({ start, end }) => t("warning.doubt.part", { start: start.toFixed(1), end: end.toFixed(1) }));
    return of.length > 0 ? [t(`warning.doubt.${text}`, { parts: named.join(", ") })] : [];
  });
}
