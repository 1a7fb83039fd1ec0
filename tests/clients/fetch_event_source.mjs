// Follows a job with @microsoft/fetch-event-source, in Node with the parts of a page that it uses:
// fetch_event_source.mjs RECORDING. The environment has AKHAR_URL and AKHAR_KEY.
import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";

globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
const { fetchEventSource } = await import("@microsoft/fetch-event-source");

const [recording] = process.argv.slice(2);
const { AKHAR_URL, AKHAR_KEY } = process.env;
const headers = { Authorization: `Bearer ${AKHAR_KEY}` };
const form = new FormData();
form.set("file", await openAsBlob(recording));
const submitted = await fetch(`${AKHAR_URL}/v1/models/speech-recognition`, {
  method: "POST",
  headers: { ...headers, Prefer: "respond-async" },
  body: form,
});
const events = `${AKHAR_URL}/v1/jobs/${(await submitted.json()).id}/events`;

/** Follows a stream to its end. Returns the names of its events and how often it was asked for. */
async function follow(lastEventId, options) {
  const names = [];
  let n = 0;
  await fetchEventSource(events, {
    headers: lastEventId ? { ...headers, "last-event-id": lastEventId } : headers,
    fetch: (...request) => ((n += 1), fetch(...request)),
    onmessage({ event, data }) {
      JSON.parse(data);
      names.push(event);
    },
    ...options,
  }).catch((error) => names.push(error.message));
  return { names, n };
}

const followed = await follow();
assert.equal(followed.names.at(-1), "done");
assert.equal(followed.n, 1);

// After `done` the answer is a 204, which it takes for an error, and asks again.
let errors = 0;
const onerror = () => {
  errors += 1;
  if (errors === 3) throw new Error("stopped");
  return 1;
};
assert.deepEqual(await follow("end", { onerror }), { names: ["stopped"], n: 3 });

// What the page on jobs says stops it.
class Ended extends Error {}
const stopped = await follow("end", {
  async onopen(response) {
    if (response.status === 204) throw new Ended("ended");
  },
  onerror(error) {
    if (error instanceof Ended) throw error;
  },
});
assert.deepEqual(stopped, { names: ["ended"], n: 1 });
