// Uses every operation and a job through the types that generate.mjs writes. Prints what it got as one JSON object.
//
// The environment has BASE, the server's address, and KEY. The arguments are a picture of a digit, a picture of a letter
// and a recording.
import { openAsBlob } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./akhar.d.ts";

type Schemas = components["schemas"];

const [digit = "", letter = "", recording = ""] = process.argv.slice(2);
const akhar = createClient<paths, "application/json" | "application/problem+json">({
  baseUrl: process.env.BASE ?? "",
  headers: { Authorization: `Bearer ${process.env.KEY}`, Accept: "application/json" },
  // A file of a request's body becomes a part of a form.
  bodySerializer: (body) => (holdsFile(body) ? form(body) : JSON.stringify(body)),
});

function holdsFile(body: unknown): body is Record<string, unknown> {
  return typeof body === "object" && body !== null && "file" in body;
}

function form(fields: Record<string, unknown>): FormData {
  const parts = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    parts.set(name, value instanceof Blob ? value : String(value));
  }
  return parts;
}

/** The body of a response that is no problem. */
function body<T>(answer: { data?: T; error?: Schemas["Problem"] }): T {
  if (answer.data === undefined) throw new Error(answer.error?.detail ?? "no body");
  return answer.data;
}

/** The result of an operation that ended while its request waited. */
function result<T extends object>(answer: { data?: T | Schemas["Job"]; error?: Schemas["Problem"] }): T {
  const found = body(answer);
  if ("state" in found) throw new Error(`job ${found.id} has not ended`);
  return found;
}

async function recognised(path: "/v1/models/digit-recognition" | "/v1/models/alphabet-recognition", file: string) {
  const request = { file: await openAsBlob(file), "top-k": 2 };
  return result(await akhar.POST(path, { body: request })).predictions;
}

const handwriting = await akhar.POST("/v1/models/handwriting-generator", {
  body: { text: "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "page-width": 300, "with-image": true },
});
const speech = { file: await openAsBlob(recording), "with-timestamps": true, "with-translation": true };
const transcription = result(await akhar.POST("/v1/models/speech-recognition", { body: speech }));
const submitted = await akhar.POST("/v1/models/speech-recognition", {
  params: { header: { Prefer: "respond-async" } },
  body: speech,
});
const accepted = body(submitted);
if (!("state" in accepted)) throw new Error(`a job was expected, and ${submitted.response.status} came`);
const path = { id: accepted.id };
const job = body(await akhar.GET("/v1/jobs/{id}", { params: { path, query: { wait: 60 } } }));
const subtitles = await akhar.GET("/v1/jobs/{id}/result", {
  params: { path },
  headers: { Accept: "application/x-subrip" },
  parseAs: "text",
});
const listed = body(await akhar.GET("/v1/jobs", { params: { query: { operation: "speech-recognition" } } }));
const refused = await akhar.POST("/v1/models/digit-recognition", {
  body: { file: await openAsBlob(digit), "top-k": 6 },
});

console.log(
  JSON.stringify({
    digits: await recognised("/v1/models/digit-recognition", digit),
    letters: await recognised("/v1/models/alphabet-recognition", letter),
    handwriting: result(handwriting),
    transcription,
    job,
    subtitles: subtitles.data,
    listed: listed.jobs.map((listedJob) => listedJob.id),
    refused: { status: refused.response.status, errors: refused.error?.errors },
  }),
);
