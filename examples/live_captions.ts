// Prints what is said in a recording while the service transcribes it: node live_captions.ts RECORDING
//
// The environment has AKHAR_KEY, and AKHAR_URL unless the service is on this machine. Needs the package eventsource, and Node.js
// 22.18 or later, which runs TypeScript.
import { openAsBlob } from "node:fs";
import { EventSource } from "eventsource";

const service = process.env.AKHAR_URL ?? "http://127.0.0.1:8080";
const authorization = { Authorization: `Bearer ${process.env.AKHAR_KEY}` };

/** The path of the job that transcribes a recording. */
async function submit(recording: string): Promise<string> {
  const form = new FormData();
  form.set("file", await openAsBlob(recording));
  const headers = { ...authorization, Prefer: "respond-async" };
  const response = await fetch(`${service}/v1/models/speech-recognition`, { method: "POST", headers, body: form });
  if (!response.ok) throw new Error((await response.json()).detail);
  return response.headers.get("location") ?? "";
}

const job = await submit(process.argv[2] ?? "");
// It connects again by itself when the connection breaks, and goes on where it was.
const events = new EventSource(`${service}${job}/events`, {
  fetch: (url, { headers, ...options }) => fetch(url, { ...options, headers: { ...headers, ...authorization } }),
});
let attempt = "1";
events.addEventListener("segment", ({ data, lastEventId }) => {
  const { start, end, transcription } = JSON.parse(data);
  // The number before the point is that of the attempt. A new attempt begins with the first segment again.
  const [now = attempt] = lastEventId.split(".");
  if (now !== attempt) console.log("(once more)");
  attempt = now;
  console.log(`${start.toFixed(3)} ${end.toFixed(3)} ${transcription}`);
});
events.addEventListener("done", ({ data }) => {
  events.close();
  console.log(JSON.parse(data).state);
});
