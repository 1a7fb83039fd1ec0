// Sends requests to the service with the key, and turns every failure into a problem that can be shown.
import { base, t } from "./data.js";
import { key, refused } from "./key.js";

/**
 * A request. `json` or `fields` is its body, and `job` the id of the job that it made.
 * @typedef {{method: string, path: string, headers?: Record<string, string>, json?: object,
 *   fields?: Record<string, string | File | string[]>, job?: string}} Call
 * @typedef {{title: string, detail?: string, status?: number, type?: string, request_id?: string, retryAfter?: number,
 *   errors?: {field: string, code: string, detail: string}[]}} ProblemDocument
 */

/** A request failed. */
export class Problem extends Error {
  /** @param {ProblemDocument} document */
  constructor(document) {
    super(document.title);
    this.document = document;
  }
}

/** The fields of a form one by one: one with a list is there for each member. @param {Call} call */
export function parts(call) {
  const all = Object.entries(call.fields ?? {});
  return all.flatMap(([name, value]) => [value].flat().map((one) => /** @type {[string, string | File]} */ ([name, one])));
}

/** @param {Call} call @param {string} secret @param {AbortSignal} [signal] */
function send(call, secret, signal) {
  const headers = new Headers({ ...call.headers, authorization: `Bearer ${secret}` });
  /** @type {RequestInit} */
  const init = { method: call.method, headers };
  if (signal) init.signal = signal;
  if (call.json !== undefined) {
    headers.set("content-type", "application/json");
    init.body = JSON.stringify(call.json);
  } else if (call.fields !== undefined) {
    const form = new FormData();
    for (const [name, value] of parts(call)) form.append(name, value);
    init.body = form;
  }
  return fetch(base + call.path, init);
}

/**
 * The response to a request, which has succeeded. Asks for a key if there is none, or if it does not work any more.
 * @param {Call} call @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function request(call, signal) {
  let secret = await key();
  let response = await reach(() => send(call, secret, signal));
  while (response.status === 401) {
    signal?.throwIfAborted(); // nobody waits for it: no key is asked for
    secret = await refused(secret);
    response = await reach(() => send(call, secret, signal));
  }
  if (response.ok) return response;
  throw new Problem(await read(response));
}

/** @param {() => Promise<Response>} attempt */
async function reach(attempt) {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof TypeError) throw new Problem({ title: t("problem.offline") });
    throw error; // it was aborted
  }
}

/** @param {Response} response @returns {Promise<ProblemDocument>} */
async function read(response) {
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  const retryAfter = Number(response.headers.get("retry-after")) || undefined;
  if (!isProblem) return { title: t("problem.answer", { status: response.status }), status: response.status };
  return { ...(await response.json()), retryAfter };
}
