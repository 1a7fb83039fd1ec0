// Follows a job over Server-Sent Events. EventSource cannot send a key, so the stream is read with fetch.
import { Problem, request } from "./api.js";
import { t } from "./data.js";

const PAUSE_MS = 1000;
const MAX_BROKEN = 5; // connections that break without an event

/** @typedef {{id: string, name: string, data: any}} JobEvent */

/** The events of one connection. @param {Response} response @returns {AsyncGenerator<JobEvent>} */
async function* read(response) {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
        const data = fields.get("data");
        if (data !== undefined) yield { id: fields.get("id") ?? "", name: fields.get("event") ?? "message", data: JSON.parse(data) };
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/**
 * The events of a job until it has ended. Connects again when a connection breaks, and continues after the last event.
 * @param {string} job @param {AbortSignal} signal
 * @returns {AsyncGenerator<JobEvent>}
 */
export async function* follow(job, signal) {
  let [last, nBroken] = ["", 0];
  while (!signal.aborted) {
    try {
      /** @type {Record<string, string>} */
      const headers = last === "" ? { accept: "text/event-stream" } : { accept: "text/event-stream", "last-event-id": last };
      const response = await request({ method: "GET", path: `/v1/jobs/${job}/events`, headers }, signal);
      for await (const event of read(response)) {
        if (event.id) last = event.id;
        nBroken = 0;
        yield event;
        if (event.name === "done") return;
      }
    } catch (error) {
      const isPermanent = error instanceof Problem && error.document.status !== undefined && error.document.status < 500;
      if (signal.aborted || isPermanent) throw error;
    }
    nBroken += 1;
    if (nBroken > MAX_BROKEN) throw new Problem({ title: t("problem.broken") });
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
