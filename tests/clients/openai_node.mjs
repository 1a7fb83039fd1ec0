// Transcribes with OpenAI's client for Node: openai_node.mjs RECORDING. The environment has AKHAR_URL and AKHAR_KEY.
// Its files are sent again when they can be: those of `toFile` and `openAsBlob`, not a stream.
import assert from "node:assert/strict";
import { createReadStream, openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import OpenAI, { toFile } from "openai";

const [recording] = process.argv.slice(2);
const { AKHAR_URL, AKHAR_KEY: apiKey } = process.env;
const model = "gpt-transcribe";
const files = {
  toFile: async () => await toFile(readFile(recording), "recording.wav"),
  openAsBlob: async () => new File([await openAsBlob(recording)], "recording.wav"),
  createReadStream: () => createReadStream(recording),
};
let n = 0;
// A server that is busy once, and then passes everything on.
const busy = createServer(async (request, response) => {
  n += 1;
  const body = Buffer.concat(await request.toArray());
  if (n === 1) return response.writeHead(503, { "retry-after": "1" }).end();
  const { authorization, "content-type": type } = request.headers;
  const passed = await fetch(AKHAR_URL + request.url, {
    method: request.method,
    headers: { authorization, "content-type": type },
    body,
  });
  response.writeHead(passed.status, { "content-type": passed.headers.get("content-type") });
  response.end(Buffer.from(await passed.arrayBuffer()));
});
await new Promise((ready) => busy.listen(0, "127.0.0.1", ready));
for (const [name, file] of Object.entries(files)) {
  const client = new OpenAI({ apiKey, baseURL: `${AKHAR_URL}/v1` });
  const { text } = await client.audio.transcriptions.create({ model, file: await file() });
  assert(text.endsWith("।"), text);
  n = 0;
  const retrying = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${busy.address().port}/v1` });
  const again = await retrying.audio.transcriptions.create({ model, file: await file() }).catch((error) => error.status);
  if (name === "createReadStream") assert.deepEqual([again, n], [503, 1]);
  else assert.deepEqual([again.text, n], [text, 2], name);
}
busy.close();
