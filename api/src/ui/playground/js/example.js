// The example of an operation: a form with its fields, the request as code, and the answer when it is run.
import { request } from "./api.js";
import { codePlace } from "./code.js";
import { t } from "./data.js";
import { make } from "./dom.js";
import { readable } from "./json.js";
import { clearProblem, showProblem } from "./problem.js";
import { exampleOf, resolve } from "./schema.js";

/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {{name: string, place: string, input: HTMLInputElement | HTMLTextAreaElement}} Field */

/** A picture of a character, as somebody could have drawn it. @param {string} character */
async function glyph(character) {
  const canvas = new OffscreenCanvas(160, 160);
  const brush = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  brush.fillStyle = "#fff";
  brush.fillRect(0, 0, 160, 160);
  brush.fillStyle = "#000";
  brush.font = "300 110px Anek";
  brush.textAlign = "center";
  brush.fillText(character, 80, 115);
  return canvas.convertToBlob({ type: "image/png" });
}

/** The file that is sent if none is chosen. @param {string} path @returns {Promise<File>} */
async function sampleFile(path) {
  if (path.endsWith("digit-recognition")) return new File([await glyph("੫")], "digit.png", { type: "image/png" });
  if (path.endsWith("alphabet-recognition")) return new File([await glyph("ਕ")], "letter.png", { type: "image/png" });
  const response = await fetch(new URL("./sample.mp3", import.meta.url));
  return new File([await response.blob()], "sample.mp3", { type: "audio/mpeg" });
}

/** The id of the newest job. */
async function newestJob() {
  const response = await request({ method: "GET", path: "/v1/jobs?limit=1" });
  return (await response.json()).jobs[0]?.id ?? "";
}

/** The fields of the form. @param {Schema} document @param {Schema} operation @returns {Field[]} */
function fieldsOf(document, operation) {
  /** @type {Field[]} */
  const fields = [];
  for (const { name, in: place, schema } of operation["parameters"] ?? []) {
    if (place === "header") continue;
    const given = resolve(document, schema);
    fields.push({ name, place, input: make("input", { placeholder: place === "path" ? "" : String(given["default"] ?? ""), spellcheck: "false" }) });
  }
  const [media, content] = Object.entries(operation["requestBody"]?.content ?? {})[0] ?? [];
  const schema = resolve(document, content?.schema);
  if (media === "application/json") {
    const input = make("textarea", { rows: 4, spellcheck: "false" });
    input.value = JSON.stringify(exampleOf(content, schema), null, 2);
    fields.push({ name: t("docs.body"), place: "json", input });
  }
  if (media === "multipart/form-data") {
    for (const [name, property] of Object.entries(schema["properties"] ?? {})) {
      const given = resolve(document, property);
      const isFile = given["format"] === "binary";
      const input = make("input", isFile ? { type: "file" } : { placeholder: String(given["default"] ?? ""), spellcheck: "false" });
      const isRequired = (schema["required"] ?? []).includes(name);
      if (!isFile && isRequired) input.value = String(given["enum"]?.[0] ?? schema["example"]?.[name] ?? "");
      fields.push({ name, place: isFile ? "file" : "form", input });
    }
  }
  return fields;
}

/**
 * The example of an operation.
 * @param {Schema} document @param {string} path @param {string} method @param {Schema} operation
 */
export function example(document, path, method, operation) {
  const fields = fieldsOf(document, operation);
  const codeAt = make("div");
  const code = codePlace(codeAt);
  const answer = make("div", { class: "stack" });
  const problem = make("div");
  const run = make("button", { class: "primary" }, t("docs.run"));
  const rows = fields.map(({ name, input }) => {
    input.id = `${operation["operationId"]}-${name}`;
    const hint = input.getAttribute("type") === "file" ? [make("p", { class: "hint" }, t("docs.sample"))] : [];
    return make("div", { class: "field" }, make("label", { for: input.id }, name), input, ...hint);
  });
  const form = make("form", { class: "stack" }, ...rows, make("div", {}, run));

  /** The request as the form has it. @param {boolean} isRun */
  async function call(isRun) {
    let target = path;
    const query = new URLSearchParams();
    /** @type {import("./api.js").Call} */
    const result = { method: method.toUpperCase(), path };
    /** @type {Record<string, string | File>} */
    const sent = {};
    for (const { name, place, input } of fields) {
      if (place === "path") {
        if (isRun && input.value === "") input.value = await newestJob();
        target = target.replace(`{${name}}`, input.value === "" ? "ID" : encodeURIComponent(input.value));
      } else if (place === "query" && input.value !== "") query.set(name, input.value);
      else if (place === "json") result.json = JSON.parse(input.value);
      else if (place === "form" && input.value !== "") sent[name] = input.value;
      else if (place === "file") sent[name] = /** @type {HTMLInputElement} */ (input).files?.[0] ?? (await sampleFile(path));
    }
    if (Object.keys(sent).length > 0) result.fields = sent;
    result.path = query.size > 0 ? `${target}?${query}` : target;
    return result;
  }

  const refresh = () => void call(false).then(code.show, () => {}); // JSON that is being typed is not complete
  form.addEventListener("input", refresh);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    run.disabled = true;
    try {
      const made = await call(true);
      code.show(made);
      answer.replaceChildren(await shown(await request(made)));
      clearProblem(problem);
    } catch (error) {
      answer.replaceChildren();
      showProblem(problem, error);
    } finally {
      run.disabled = false;
    }
  });
  refresh();
  return make("div", { class: "example stack" }, form, problem, answer, codeAt);
}

/** An answer as it can be seen. @param {Response} response */
async function shown(response) {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("image/")) return make("img", { src: URL.createObjectURL(await response.blob()), alt: t("docs.answer") });
  const text = await response.text();
  const body = type.startsWith("application/json") ? readable(JSON.parse(text)) : text;
  return make("pre", { class: "answer-text", tabindex: 0, role: "region", "aria-label": t("docs.answer") }, `${response.status} ${type}\n\n${body}`);
}
