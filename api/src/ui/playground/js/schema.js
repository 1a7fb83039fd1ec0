// Reads schemas and answers of the OpenAPI document: follows references, and says in words what a value may be.
import { t } from "./data.js";

/** @typedef {Record<string, any>} Schema */

/** @param {Schema} document @param {Schema | undefined} schema @returns {Schema} */
export function resolve(document, schema = {}) {
  if (typeof schema["$ref"] === "string") {
    const [kind, name] = schema["$ref"].split("/").slice(-2);
    return resolve(document, document["components"][kind ?? ""][name ?? ""]);
  }
  const one = (schema["oneOf"] ?? schema["anyOf"] ?? schema["allOf"] ?? []).find((/** @type {Schema} */ option) => option["type"] !== "null");
  return schema["properties"] || schema["type"] || !one ? schema : { ...resolve(document, one), ...schema };
}

/** The type, and the limits of a value. @param {Schema} schema @param {boolean} isRequired */
export function constraints(schema, isRequired) {
  const type = schema["format"] === "binary" ? "file" : [schema["type"] ?? "object"].flat().filter((name) => name !== "null").join(", ");
  const parts = [type];
  if (isRequired) parts.push(t("docs.required"));
  if (schema["enum"]) parts.push(t("docs.choices", { values: schema["enum"].join(", ") }));
  const [min, max] = [schema["minimum"] ?? schema["minLength"], schema["maximum"] ?? schema["maxLength"]];
  if (min !== undefined && max !== undefined) parts.push(t("docs.range", { min, max }));
  if (schema["default"] !== undefined) parts.push(t("docs.default", { value: String(schema["default"]) }));
  return parts.join(" · ");
}

/** The examples of a body or answer. @param {Schema | undefined} content of one media type @param {Schema} schema */
export function exampleOf(content, schema) {
  const first = /** @type {Schema | undefined} */ (Object.values(content?.["examples"] ?? {})[0]);
  return content?.["example"] ?? first?.["value"] ?? schema["example"] ?? schema["examples"]?.[0];
}
