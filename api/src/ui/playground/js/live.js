// Transcribes the microphone while somebody speaks, over a socket.
import { base } from "./data.js";
import { key } from "./key.js";

/** @typedef {import("./subtitles.js").Segment} Segment */

/** The rate of the sound that is sent, in hertz. */
const RATE = 24_000;
/** The samples that are sent at a time: 0.1 s. */
const PIECE = 2400;

/** What the service says when it does not do all that is asked for. */
const FAILURES = ["error", "conversation.item.input_audio_transcription.failed"];

/** Samples of a rate as those of `RATE`, each the mean of those that it covers. @param {number} rate */
function resampler(rate) {
  const step = rate / RATE;
  /** @type {number[]} */
  let waiting = [];
  let at = 0; // where the next sample begins in those that wait
  return (/** @type {Float32Array} */ samples) => {
    waiting.push(...samples);
    const made = [];
    for (; at + step <= waiting.length; at += step) {
      const covered = waiting.slice(Math.floor(at), Math.max(Math.floor(at) + 1, Math.floor(at + step)));
      made.push(covered.reduce((sum, sample) => sum + sample, 0) / covered.length);
    }
    waiting = waiting.slice(Math.floor(at));
    at -= Math.floor(at);
    return made;
  };
}

/** Samples as base64 of 16-bit PCM. @param {number[]} samples */
function encoded(samples) {
  const bytes = new DataView(new ArrayBuffer(2 * samples.length));
  samples.forEach((sample, nth) => bytes.setInt16(2 * nth, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true));
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}

/**
 * Begins a session. `hypothesis` gets what the open utterance may become, and `segment` each that is over. `push` takes sound at a
 * rate. `end` says when all text is there, and returns the id of the job, or null if the session has failed.
 * @param {object} transcription what is asked for
 * @param {{hypothesis: (text: string) => void, segment: (segment: Segment) => void}} heard
 * @param {AbortSignal} signal ends the session, and nothing more is heard
 */
export function listen(transcription, heard, signal) {
  /** @type {object[]} */
  const early = []; // what is sent before there is a session
  /** @type {WebSocket | null} */
  let socket = null;
  let [job, isOver] = ["", false];
  /** @param {object} event */
  const send = (event) => {
    if (isOver) return;
    if (job === "") early.push(event);
    else socket?.send(JSON.stringify(event));
  };
  send({ type: "session.update", session: { audio: { input: { transcription } }, include: ["akhar.hypothesis"] } });

  /** @param {any} event */
  const take = (event) => {
    if (event.type === "session.created") {
      job = event.session.id.replace(/^sess_(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
      for (const waiting of early.splice(0)) send(waiting);
    } else if (event.type === "akhar.hypothesis") {
      heard.hypothesis(event.text);
    } else if (event.type === "conversation.item.input_audio_transcription.completed") {
      heard.hypothesis("");
      const { start, end, transcript, translation, words } = event;
      if (transcript !== "") heard.segment({ start, end, transcription: transcript, translation, words });
    } else if (FAILURES.includes(event.type)) {
      over(false);
    }
  };
  /** @type {(isDone: boolean) => void} */
  let resolve;
  /** Whether all text is there, when the session is over. @type {Promise<boolean>} */
  const closed = new Promise((settle) => (resolve = settle));
  /** @param {boolean} isDone */
  const over = (isDone) => {
    if (isOver) return;
    isOver = true;
    socket?.close();
    heard.hypothesis("");
    resolve(isDone);
  };
  signal.addEventListener("abort", () => over(false));
  const connect = async () => {
    const url = new URL(`${base}/v1/realtime?intent=transcription`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const secret = await key();
    if (isOver) return;
    socket = new WebSocket(url, ["realtime", `openai-insecure-api-key.${secret}`]);
    socket.onmessage = ({ data }) => take(JSON.parse(data));
    socket.onclose = ({ code }) => over(code === 1000);
  };
  connect().catch(() => over(false)); // the upload says why

  /** @type {ReturnType<typeof resampler> | null} */
  let resample = null;
  /** @type {number[]} */
  let piece = [];
  const flush = () => {
    if (piece.length > 0) send({ type: "input_audio_buffer.append", audio: encoded(piece.splice(0)) });
  };
  return {
    /** @param {Float32Array} samples @param {number} rate */
    push(samples, rate) {
      resample ??= resampler(rate);
      piece.push(...resample(samples));
      if (piece.length >= PIECE) flush();
    },
    async end() {
      flush();
      send({ type: "input_audio_buffer.commit", final: true });
      return (await closed) ? job : null;
    },
  };
}
