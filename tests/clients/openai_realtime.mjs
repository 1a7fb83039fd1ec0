// Transcribes live with OpenAI's client for Node: openai_realtime.mjs CERTIFICATE KEY RECORDING… (pa-….wav, en-….wav: one channel, 16
// bits, 16 kHz). The environment has AKHAR_URL and AKHAR_KEY. Prints how many texts are those of files with the same sound, and the
// others. The client connects with TLS, whatever its base URL, so a relay with the certificate and its key stands before the service.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { basename } from "node:path";
import { createServer } from "node:tls";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const [certPath, keyPath, ...recordings] = process.argv.slice(2);
const [cert, key] = await Promise.all([certPath, keyPath].map((path) => readFile(path)));
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

const transcribed = async (sound, language) => {
  const live = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  const closed = once(live.socket, "close");
  live.on("error", (error) => assert.fail(error));
  const texts = [];
  live.on("conversation.item.input_audio_transcription.completed", ({ transcript }) => texts.push(transcript));
  await once(live.socket, "open");
  const input = { format: { type: "audio/pcm", rate: 16_000 }, transcription: { model: "gpt-live-transcribe", language } };
  live.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  for (let at = 0; at < sound.length; at += 6400) {
    live.send({ type: "input_audio_buffer.append", audio: sound.toString("base64", at, at + 6400) });
  }
  live.send({ type: "input_audio_buffer.commit", final: true });
  const [code] = await closed;
  assert.equal(code, 1000);
  return texts.filter((text) => text !== "").join(" ");
};

const transcribedFile = async (header, sound, lang) => {
  const recording = Buffer.concat([header, sound]);
  recording.writeUInt32LE(recording.length - 8, 4);
  recording.writeUInt32LE(sound.length, 40);
  const form = new FormData();
  form.set("file", new File([recording], "recording.wav"));
  form.set("lang", lang);
  const headers = { authorization: `Bearer ${apiKey}` };
  const answer = await fetch(`${AKHAR_URL}/v1/models/speech-recognition`, { method: "POST", headers, body: form });
  assert.equal(answer.status, 200);
  return (await answer.json()).transcription;
};

let equal = 0;
for (const path of recordings) {
  const language = basename(path).slice(0, 2);
  const recording = await readFile(path);
  const [header, sound] = [recording.subarray(0, 44), Buffer.concat([recording.subarray(44), Buffer.alloc(32_000)])];
  const [live, file] = [await transcribed(sound, language), await transcribedFile(header, sound, language)];
  if (live === file) equal += 1;
  else console.log(`${basename(path)}: '${live}', file: '${file}'`);
}
console.log(`${equal} of ${recordings.length} equal`);
relay.close();
