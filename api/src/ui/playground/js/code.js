// Shows a request as curl, Python and JavaScript: the same request as the page sent, with the key in a variable.
import { parts } from "./api.js";
import { base as here, t } from "./data.js";
import { copy, icon, make, save } from "./dom.js";

/** @typedef {import("./api.js").Call} Call */

/** @param {string} text */
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** @param {unknown} value */
const script = (value) => JSON.stringify(value);

/** A JSON value as Python writes it. @param {unknown} value @returns {string} */
function python(value) {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  const pairs = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${python(member)}`);
  return `{${pairs.join(", ")}}`;
}

/** Whether the request makes a job that is followed. @param {Call} call */
const isFollowed = (call) => call.headers?.["prefer"] === "respond-async";

/** @param {Call} call @param {string} base */
function asCurl(call, base) {
  const lines = [`curl ${shell(base + call.path)}`, `-H "Authorization: Bearer $KEY"`];
  if (call.method !== "GET" && call.method !== "POST") lines[0] += ` -X ${call.method}`;
  for (const [name, value] of Object.entries(call.headers ?? {})) lines.push(`-H ${shell(`${name}: ${value}`)}`);
  if (call.json) lines.push("-H 'content-type: application/json'", `-d ${shell(script(call.json))}`);
  for (const [name, value] of parts(call)) {
    lines.push(value instanceof File ? `-F ${shell(`${name}=@${value.name}`)}` : `-F ${shell(`${name}=${value}`)}`);
  }
  const text = lines.join(" \\\n  ");
  if (!isFollowed(call)) return text;
  return `${text}\n\n# with the id of the answer\ncurl -N ${shell(`${base}/v1/jobs/${call.job ?? "ID"}/events`)} \\\n  -H "Authorization: Bearer $KEY"`;
}

/** @param {Call} call @param {string} base */
function asPython(call, base) {
  const given = Object.entries(call.headers ?? {}).map(([name, value]) => `${script(name)}: ${script(value)}`);
  const headers = ['"Authorization": f"Bearer {os.environ[\'KEY\']}"', ...given].join(", ");
  const lines = ["import os", "import requests", ""];
  if (isFollowed(call)) lines.push(`base = ${script(base)}`);
  const target = isFollowed(call) ? `base + ${script(call.path)}` : script(base + call.path);
  const options = [target, `headers={${headers}}`];
  if (call.json) options.push(`json=${python(call.json)}`);
  const fields = Object.entries(call.fields ?? {});
  const files = fields.filter(([, value]) => value instanceof File);
  const others = fields.filter(([, value]) => !(value instanceof File));
  if (files.length > 0) {
    const opened = files.map(([name, value]) => `${script(name)}: open(${script(/** @type {File} */ (value).name)}, "rb")`);
    options.push(`files={${opened.join(", ")}}`);
  }
  if (others.length > 0) options.push(`data=${python(Object.fromEntries(others))}`);
  options.push("timeout=60");
  lines.push(`answer = requests.${call.method.toLowerCase()}(`, ...options.map((option) => `    ${option},`), ")");
  lines.push("answer.raise_for_status()");
  if (!isFollowed(call)) return [...lines, "print(answer.json())"].join("\n");
  lines.push(
    'events = requests.get(f"{base}/v1/jobs/{answer.json()[\'id\']}/events",',
    '    headers={"Authorization": f"Bearer {os.environ[\'KEY\']}"}, stream=True, timeout=60)',
    "for line in events.iter_lines():",
    "    print(line.decode())",
  );
  return lines.join("\n");
}

/** @param {Call} call @param {string} base */
function asJavaScript(call, base) {
  const lines = ["const key = process.env.KEY;"];
  const headers = ["Authorization: `Bearer ${key}`"];
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.push(`${name}: ${script(value)}`);
  if (call.json) headers.push('"content-type": "application/json"');
  if (call.fields) {
    if (Object.values(call.fields).some((value) => value instanceof File)) {
      lines.unshift('import { openAsBlob } from "node:fs";', "");
    }
    lines.push("const body = new FormData();");
    for (const [name, value] of parts(call)) {
      const given = value instanceof File ? `await openAsBlob(${script(value.name)}), ${script(value.name)}` : script(value);
      lines.push(`body.append(${script(name)}, ${given});`);
    }
  }
  lines.push(`const answer = await fetch(${script(base + call.path)}, {`, `  method: ${script(call.method)},`);
  lines.push(`  headers: { ${headers.join(", ")} },`);
  if (call.json) lines.push(`  body: JSON.stringify(${script(call.json)}),`);
  if (call.fields) lines.push("  body,");
  lines.push("});");
  if (!isFollowed(call)) return [...lines, "console.log(await answer.json());"].join("\n");
  lines.push(
    "const { id } = await answer.json();",
    `const events = await fetch(\`${base}/v1/jobs/\${id}/events\`, {`,
    "  headers: { Authorization: `Bearer ${key}` },",
    "});",
    "for await (const part of events.body.pipeThrough(new TextDecoderStream())) console.log(part);",
  );
  return lines.join("\n");
}

/** The languages, with what writes a request in them. */
export const LANGUAGES = /** @type {const} */ ([["curl", asCurl], ["Python", asPython], ["JavaScript", asJavaScript]]);
const CHOSEN = "akhar-code";

/**
 * A place of the page that shows a request as code.
 * @param {HTMLElement} place
 */
export function codePlace(place) {
  const pre = make("pre", { tabindex: 0, role: "region", "aria-label": t("code.title") });
  const saved = make("button", { type: "button", onclick: () => file && save(file.name, file) }, icon("save"), "");
  const copied = make("button", { type: "button", onclick: () => void copy(copied, pre.textContent ?? "", t("code.copied")) }, icon("copy"), t("code.copy"));
  const tabs = LANGUAGES.map(([name]) => make("button", { type: "button", onclick: () => choose(name) }, name));
  /** @type {Call | undefined} */
  let call;
  /** @type {File | undefined} the file that the code names */
  let file;
  const head = make("div", { class: "code-head" }, make("h2", {}, t("code.title")), make("div", { class: "code-tabs" }, ...tabs), saved, copied);

  /** @param {string} name */
  function choose(name) {
    sessionStorage.setItem(CHOSEN, name);
    refresh();
  }

  function refresh() {
    if (!call) return;
    const chosen = sessionStorage.getItem(CHOSEN) ?? "curl";
    const found = LANGUAGES.find(([name]) => name === chosen) ?? LANGUAGES[0];
    tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab.textContent === found[0])));
    pre.textContent = found[1](call, here);
    saved.hidden = file === undefined;
    if (file && saved.lastChild) saved.lastChild.textContent = t("code.file", { name: file.name });
    if (place.childElementCount === 0) place.append(make("section", { class: "code" }, head, pre));
  }

  return {
    /** Shows this request. @param {Call} next */
    show(next) {
      call = next;
      const files = Object.values(next.fields ?? {}).filter((value) => value instanceof File);
      file = /** @type {File | undefined} */ (files[0]);
      refresh();
    },
    /** Shows nothing. */
    clear() {
      call = undefined;
      place.replaceChildren();
    },
  };
}
