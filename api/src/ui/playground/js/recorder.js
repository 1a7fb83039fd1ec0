// Records the microphone, and shows how loud it is.
import { Problem } from "./api.js";
import { t } from "./data.js";
import { MAX_S, resample, wavFile } from "./wav.js";

const CONSTRAINTS = { audio: { channelCount: 1, echoCancellation: false, noiseSuppression: true, autoGainControl: true } };

/** @returns {Promise<MediaStream>} */
async function microphone() {
  if (!isSecureContext || !navigator.mediaDevices) throw new Problem({ title: t("problem.insecure") });
  return navigator.mediaDevices.getUserMedia(CONSTRAINTS).catch((error) => {
    throw new Problem({ title: t("problem.microphone"), detail: String(error.message ?? "") });
  });
}

/**
 * Starts to record. `heard` is called with the seconds so far and how loud the last part is, from 0 to 1. `full` is called
 * when the longest time is over. `sound` gets each part with its rate. `stop` returns the recording.
 * @param {(seconds: number, loudness: number) => void} heard @param {() => void} full
 * @param {(samples: Float32Array, rate: number) => void} sound
 */
export async function record(heard, full, sound) {
  const stream = await microphone();
  const context = new AudioContext();
  await context.resume(); // some browsers start it only when somebody has pressed something
  await context.audioWorklet.addModule(new URL("./tap.js", import.meta.url));
  const tap = new AudioWorkletNode(context, "tap", { numberOfOutputs: 0 });
  /** @type {Float32Array[]} */
  const parts = [];
  let n = 0;
  tap.port.onmessage = ({ data }) => {
    if (n >= MAX_S * context.sampleRate) return;
    parts.push(data);
    n += data.length;
    sound(data, context.sampleRate);
    const power = data.reduce((/** @type {number} */ sum, /** @type {number} */ sample) => sum + sample * sample, 0) / data.length;
    heard(n / context.sampleRate, Math.min(1, Math.max(0, 1 + Math.log10(power + 1e-9) / 4)));
    if (n >= MAX_S * context.sampleRate) full();
  };
  new MediaStreamAudioSourceNode(context, { mediaStream: stream }).connect(tap);
  return {
    async stop() {
      tap.port.onmessage = null;
      for (const track of stream.getTracks()) track.stop();
      const rate = context.sampleRate;
      await context.close();
      const samples = new Float32Array(Math.min(n, MAX_S * rate));
      let at = 0;
      for (const part of parts) {
        samples.set(part.subarray(0, samples.length - at), at);
        at += part.length;
      }
      return wavFile(await resample(samples, rate), "recording.wav");
    },
  };
}

/** A strip that shows how loud the last seconds were. @param {HTMLCanvasElement} canvas */
export function meter(canvas) {
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const n = 56;
  /** @type {number[]} */
  let levels = [];
  let frame = 0;
  const show = () => {
    frame = 0;
    const style = getComputedStyle(canvas);
    const { width, height } = canvas;
    brush.clearRect(0, 0, width, height);
    for (let nth = 0; nth < n; nth++) {
      const level = levels[levels.length - n + nth] ?? 0;
      const tall = Math.max(5, level * height);
      brush.fillStyle = style.getPropertyValue(level > 0 ? "--accent" : "--line");
      brush.beginPath();
      brush.roundRect((nth * width) / n + 2, (height - tall) / 2, width / n - 4, tall, 3);
      brush.fill();
    }
  };
  const soon = () => (frame ||= requestAnimationFrame(show));
  let [loudest, heard] = [0, 0];
  soon();
  return {
    /** @param {number} level */
    add(level) {
      loudest = Math.max(loudest, level);
      heard += 1;
      if (heard % 14 !== 0) return; // a bar for about 40 ms
      levels = [...levels.slice(-n), loudest];
      loudest = 0;
      soon();
    },
    clear() {
      levels = [];
      soon();
    },
  };
}
