// Turns sound into a file that the service takes: wav, one channel, 16 bits, 16 kHz.
import { Problem } from "./api.js";
import { t } from "./data.js";

/** The rate of the files, in hertz. */
export const RATE = 16_000;
/** The most bytes of a file. */
export const MAX_BYTES = 2 * 1024 * 1024;
/** The longest recording, in seconds: its file has at most `MAX_BYTES`. */
export const MAX_S = 60;

/**
 * Samples at 16 kHz as a file.
 * @param {Float32Array} samples @param {string} name
 */
export function wavFile(samples, name) {
  const bytes = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  /** @param {number} at @param {string} text */
  const write = (at, text) => [...text].forEach((character, nth) => bytes.setUint8(at + nth, character.charCodeAt(0)));
  write(0, "RIFF");
  bytes.setUint32(4, 36 + 2 * samples.length, true);
  write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true); // PCM
  bytes.setUint16(22, 1, true); // channels
  bytes.setUint32(24, RATE, true);
  bytes.setUint32(28, 2 * RATE, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  write(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, nth) => {
    bytes.setInt16(44 + 2 * nth, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true);
  });
  return new File([bytes.buffer], name, { type: "audio/wav" });
}

/**
 * Samples of another rate at 16 kHz.
 * @param {Float32Array<ArrayBuffer>} samples @param {number} rate
 */
export async function resample(samples, rate) {
  if (samples.length === 0) return samples;
  const sound = new AudioBuffer({ length: samples.length, sampleRate: rate });
  sound.copyToChannel(samples, 0);
  return mixed(sound);
}

/** A sound as one channel at 16 kHz. @param {AudioBuffer} sound */
async function mixed(sound) {
  const offline = new OfflineAudioContext(1, Math.max(1, Math.ceil(sound.duration * RATE)), RATE);
  const source = new AudioBufferSourceNode(offline, { buffer: sound });
  source.connect(offline.destination);
  source.start();
  return (await offline.startRendering()).getChannelData(0);
}

/**
 * A file that the service takes. An mp3 or wav that is small enough stays as it is; others are decoded by the browser.
 * @param {File} file
 */
export async function acceptable(file) {
  if (file.size <= MAX_BYTES && /\.(mp3|wav)$/i.test(file.name)) return file;
  const context = new OfflineAudioContext(1, 1, RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer()).catch(() => {
    throw new Problem({ title: t("problem.sound"), detail: file.name });
  });
  if (sound.duration > MAX_S) throw new Problem({ title: t("problem.long"), detail: file.name });
  return wavFile(await mixed(sound), file.name.replace(/\.[^.]*$/, "") + ".wav");
}
