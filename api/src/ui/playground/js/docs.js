// The API's documentation: shows the OpenAPI document that the service answers with.
import "./key.js";
import { base, language, t } from "./data.js";
import { byId, make } from "./dom.js";
import { example } from "./example.js";
import { constraints, resolve } from "./schema.js";

/** @typedef {import("./schema.js").Schema} Schema */

/** The tags of what only operators use. */
const OPERATORS = ["admin", "operations"];

/** A text with code in backticks. @param {string} text @returns {(Node | string)[]} */
function prose(text) {
  return text.split("`").map((part, nth) => (nth % 2 === 1 ? make("code", {}, part) : part));
}

/** A table of fields. @param {string} title @param {[string, string, string][]} rows name, constraints and meaning */
function table(title, rows) {
  if (rows.length === 0) return [];
  const lines = rows.map(([name, limits, meaning]) =>
    make("tr", {}, make("th", { scope: "row" }, make("code", {}, name), make("small", {}, limits)), make("td", {}, ...prose(meaning))),
  );
  const head = make("tr", {}, make("th", { scope: "col", lang: language }, t("docs.name")), make("th", { scope: "col", lang: language }, t("docs.meaning")));
  return [make("table", { "aria-label": title }, make("thead", { class: "hidden" }, head), make("tbody", {}, ...lines))];
}

/** What is shown on request. @param {string} title @param {() => Node[]} content made when it is first shown */
function folded(title, content) {
  const details = make("details", {}, make("summary", { lang: language }, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...content());
  });
  return details;
}

/** @param {Schema} document @param {string} path @param {string} method @param {Schema} operation */
function section(document, path, method, operation) {
  const parameters = (operation["parameters"] ?? []).map((/** @type {Schema} */ one) => {
    const schema = resolve(document, one["schema"]);
    return [one["name"], constraints(schema, one["required"] === true), one["description"] ?? ""];
  });
  const content = /** @type {Schema | undefined} */ (Object.values(operation["requestBody"]?.content ?? {})[0]);
  const body = resolve(document, content?.["schema"]);
  const fields = Object.entries(body["properties"] ?? {}).map(([name, property]) => {
    const schema = resolve(document, property);
    return [name, constraints(schema, (body["required"] ?? []).includes(name)), property["description"] ?? schema["description"] ?? ""];
  });
  const answers = Object.entries(operation["responses"]).map(([status, given]) => {
    const answer = resolve(document, /** @type {Schema} */ (given));
    return [status, Object.keys(answer["content"] ?? {}).join(", "), answer["description"] ?? ""];
  });
  const route = make("p", { class: "route" }, make("b", { class: method }, method.toUpperCase()), make("code", {}, path));
  return make(
    "section",
    { id: operation["operationId"], "aria-labelledby": `${operation["operationId"]}-title` },
    make("h2", { id: `${operation["operationId"]}-title` }, ...prose(operation["summary"])),
    route,
    make("p", {}, ...prose(operation["description"] ?? "")),
    ...table(t("docs.body"), /** @type {[string, string, string][]} */ (fields)),
    folded(t("docs.example"), () => [example(document, path, method, operation)]),
    ...(parameters.length > 0 ? [folded(t("docs.parameters"), () => table(t("docs.parameters"), parameters))] : []),
    folded(t("docs.answers"), () => table(t("docs.answers"), /** @type {[string, string, string][]} */ (answers))),
  );
}

/** @param {Schema} document */
function show(document) {
  const all = Object.entries(document["paths"]).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: /** @type {Schema} */ (operation) })),
  );
  const tags = /** @type {Schema[]} */ (document["tags"]);
  const parts = tags.map(({ name, description }) => {
    const tagged = all.filter(({ operation }) => operation["tags"].includes(name));
    const links = tagged.map(({ operation }) => make("li", {}, make("a", { href: `#${operation["operationId"]}` }, operation["operationId"])));
    const sections = tagged.map(({ path, method, operation }) => section(document, path, method, operation));
    const isShown = tagged.length > 0;
    return {
      isForOperators: OPERATORS.includes(name),
      contents: isShown ? [make("p", {}, name), make("ul", {}, ...links)] : [],
      sections: isShown ? [make("p", { class: "tag" }, description), ...sections] : [],
    };
  });
  const [operators, callers] = [true, false].map((which) => parts.filter(({ isForOperators }) => isForOperators === which));
  const apart = (/** @type {Node[]} */ nodes) => make("details", { class: "operators" }, make("summary", { lang: language }, t("docs.operators")), make("div", {}, ...nodes));
  byId("contents").replaceChildren(...(callers ?? []).flatMap((part) => part.contents), apart((operators ?? []).flatMap((part) => part.contents)));
  byId("operations").replaceChildren(...(callers ?? []).flatMap((part) => part.sections), apart((operators ?? []).flatMap((part) => part.sections)));
}

/** Shows the operation that the address names. */
function showNamed() {
  const named = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const folded = named?.closest("details");
  if (folded) folded.open = true;
  named?.scrollIntoView();
}

const link = byId("docs-link");
link.setAttribute("aria-current", "page");
show(await (await fetch(`${base}/openapi.json`)).json());
// The browser looked for the place that the address names before there was one.
showNamed();
addEventListener("hashchange", showNamed);
