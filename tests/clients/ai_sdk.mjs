// Transcribes with Vercel's AI SDK: ai_sdk.mjs RECORDING. The environment has AKHAR_URL and AKHAR_KEY.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe as transcribe } from "ai";

const [recording] = process.argv.slice(2);
const openai = createOpenAI({ baseURL: `${process.env.AKHAR_URL}/v1`, apiKey: process.env.AKHAR_KEY });
for (const name of ["gpt-transcribe", "gpt-4o-transcribe", "whisper-1"]) {
  const { text } = await transcribe({ model: openai.transcription(name), audio: await readFile(recording) });
  assert(text.endsWith("।"), `${name}: ${text}`);
}
