// Segments as SRT and WebVTT.

/** @typedef {{word: string, confidence?: number}} Word */
/** @typedef {{start: number, end: number, transcription: string, translation?: string, channel?: number, words?: Word[]}} Segment */

/** @param {number} seconds @param {string} point before the milliseconds */
function time(seconds, point) {
  const ms = Math.round(seconds * 1000);
  const two = (/** @type {number} */ value) => String(Math.floor(value)).padStart(2, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}${String(ms % 1000).padStart(3, "0")}`;
}

/** A text as a cue has it: no empty lines, which would end it. @param {string} text */
const lines = (text) => text.trim().replace(/\n\s*\n/g, "\n");

/** @param {Segment[]} segments */
export function srt(segments) {
  return segments.map(({ start, end, transcription }, nth) => `${nth + 1}\n${time(start, ",")} --> ${time(end, ",")}\n${lines(transcription)}\n`).join("\n");
}

/** @param {Segment[]} segments */
export function vtt(segments) {
  const escaped = (/** @type {string} */ text) => lines(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const cues = segments.map(({ start, end, transcription }) => `${time(start, ".")} --> ${time(end, ".")}\n${escaped(transcription)}\n`);
  return ["WEBVTT\n", ...cues].join("\n");
}

/** Minutes and seconds, such as 1:05.2. @param {number} seconds */
export function clock(seconds) {
  const tenths = Math.round(seconds * 10);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}
