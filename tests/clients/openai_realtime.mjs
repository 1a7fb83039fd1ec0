// Transcribes live with OpenAI's client for Node: openai_realtime.mjs RECORDING CERTIFICATE KEY. The environment has AKHAR_URL and
// AKHAR_KEY. The client connects with TLS, whatever its base URL, so a relay with the certificate and its key stands before the service.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { createServer } from "node:tls";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const [recording, cert, key] = await Promise.all(process.argv.slice(2, 5).map((path) => readFile(path)));
const { AKHAR_URL, AKHAR_KEY: apiKey } = process.env;
const { hostname, port } = new URL(AKHAR_URL);
const relay = createServer({ cert, key }, (socket) => {
  const service = connect(Number(port), hostname);
  socket.pipe(service).pipe(socket);
  for (const end of [socket, service]) end.on("error", () => {});
});
relay.listen(0, "localhost");
await once(relay, "listening");

const client = new OpenAI({ apiKey, baseURL: `https://localhost:${relay.address().port}/v1` });
const live = new OpenAIRealtimeWS({ intent: "transcription" }, client);
const closed = once(live.socket, "close");
live.on("error", (error) => assert.fail(error));
const texts = [];
live.on("conversation.item.input_audio_transcription.completed", ({ transcript }) => texts.push(transcript));
await once(live.socket, "open");
const input = { format: { type: "audio/pcm", rate: 16_000 }, transcription: { model: "gpt-live-transcribe", language: "pa" } };
live.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
const sound = Buffer.concat([recording.subarray(44), Buffer.alloc(32_000)]);
for (let at = 0; at < sound.length; at += 6400) {
  live.send({ type: "input_audio_buffer.append", audio: sound.toString("base64", at, at + 6400) });
}
live.send({ type: "input_audio_buffer.commit", final: true });
const [code] = await closed;
assert.equal(code, 1000);

const form = new FormData();
form.set("file", new File([recording], "recording.wav"));
const headers = { authorization: `Bearer ${apiKey}` };
const file = await fetch(`${AKHAR_URL}/v1/models/speech-recognition`, { method: "POST", headers, body: form });
assert.equal(texts.filter((text) => text !== "").join(" "), (await file.json()).transcription);
relay.close();
