// Uses the types that openapi-typescript has made, with openapi-fetch. The environment has AKHAR_URL and AKHAR_KEY.
import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./akhar.d.ts";

const [digit = "", recording = ""] = process.argv.slice(2);
const akhar = createClient<paths, "application/json" | "application/problem+json">({
  baseUrl: process.env.AKHAR_URL ?? "",
  headers: { Accept: "application/json", Authorization: `Bearer ${process.env.AKHAR_KEY}` },
});

function form(fields: object): FormData {
  const parts = new FormData();
  for (const [name, value] of Object.entries(fields)) parts.set(name, value instanceof Blob ? value : String(value));
  return parts;
}

/** A file. The command of openapi-typescript gives it the type of a text; `clients.md` shows how it gets that of a Blob. */
const file = async (path: string) => (await openAsBlob(path)) as unknown as string;

const digits = await akhar.POST("/v1/models/digit-recognition", {
  body: { file: await file(digit) },
  bodySerializer: form,
});
assert(digits.data && "predictions" in digits.data && digits.data.predictions[0]?.label === "੫");
const written = await akhar.POST("/v1/models/handwriting-generator", { body: { text: "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", seed: 7 } });
assert(written.data && "points" in written.data);
const submitted = await akhar.POST("/v1/models/speech-recognition", {
  params: { header: { Prefer: "respond-async", "Akhar-Label": "from=typescript" } },
  body: { file: await file(recording) },
  bodySerializer: form,
});
assert(submitted.data && "state" in submitted.data);
const path = { id: submitted.data.id };
const { data: job } = await akhar.GET("/v1/jobs/{id}", { params: { path, query: { wait: 60 } } });
assert.equal(job?.state, "succeeded");
const heard = await akhar.POST("/v1/audio/transcriptions", {
  body: { model: "speech-pa", file: await file(recording) },
  bodySerializer: form,
});
assert(heard.data && "text" in heard.data && heard.data.text.endsWith("।"));
