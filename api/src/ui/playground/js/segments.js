// The segments of a transcription: each can be played and edited, and is marked while it is heard.
import { t } from "./data.js";
import { make } from "./dom.js";
import { clock } from "./subtitles.js";

/** @typedef {import("./subtitles.js").Segment} Segment */

/** A word that is less likely right is shaded. */
const DOUBTED = 0.5;

export class Segments {
  /** @type {{segment: Segment, item: HTMLElement, area: HTMLTextAreaElement, note: HTMLElement}[]} */
  #rows = [];
  #frame = 0;
  languages = { text: "", translation: "" };

  /** @param {HTMLElement} list @param {HTMLAudioElement} player */
  constructor(list, player) {
    this.list = list;
    this.player = player;
    player.addEventListener("play", () => this.#follow());
    player.addEventListener("seeked", () => this.#mark());
    player.addEventListener("pause", () => cancelAnimationFrame(this.#frame));
  }

  /** The segments, with what was edited. @returns {Segment[]} */
  get all() {
    return this.#rows.map(({ segment, area }) => ({ ...segment, transcription: area.value }));
  }

  /** Whether the text of a segment is not the one that was recognised. */
  get isEdited() {
    return this.#rows.some(({ segment, area }) => area.value !== segment.transcription);
  }

  /** @param {{text: string, translation: string}} languages the tags of the text and of its translation */
  clear(languages) {
    this.languages = languages;
    this.#rows = [];
    this.list.replaceChildren();
  }

  /** Sets the languages when they are known. @param {{text: string, translation: string}} languages */
  speak(languages) {
    this.languages = languages;
    for (const { area, note } of this.#rows) {
      area.lang = languages.text;
      note.lang = languages.translation;
    }
  }

  /** @param {Segment} segment */
  add(segment) {
    const [start, end] = [clock(segment.start), clock(segment.end)];
    const play = make("button", { type: "button", "aria-label": t("speak.play", { time: start }), onclick: () => this.#play(segment) }, start);
    const area = make("textarea", { rows: 1, lang: this.languages.text, dir: "auto", spellcheck: "false", "aria-label": t("speak.edit", { start, end }) });
    area.value = segment.transcription;
    const note = make("p", { lang: this.languages.translation, dir: "auto" }, segment.translation ?? "");
    note.hidden = !segment.translation;
    const item = make("li", {}, play, area, note);
    if (segment.channel !== undefined) item.append(make("small", { class: "channel" }, t("speak.channel", { nth: segment.channel })));
    area.addEventListener("input", () => grow(area));
    this.list.append(item);
    grow(area);
    this.#rows.push({ segment, item, area, note });
  }

  /** Sets all segments when the job has ended. @param {Segment[]} segments */
  set(segments) {
    segments.forEach((segment, nth) => {
      const row = this.#rows[nth];
      if (!row) return this.add(segment);
      row.segment = segment;
      row.note.textContent = segment.translation ?? "";
      row.note.hidden = !segment.translation;
    });
  }

  /**
   * Says beside each segment which of its texts are probably wrong.
   * @param {{text: "transcription" | "translation", start: number, end: number}[]} parts of the recording
   */
  doubt(parts) {
    for (const { segment, item } of this.#rows) {
      const here = parts.filter(({ start, end }) => start <= segment.start && segment.end <= end);
      item.append(...here.map(({ text }) => make("small", { class: "doubt" }, t(`speak.doubt.${text}`))));
    }
  }

  /** Shades the words that are more likely wrong than right, until their segment is edited. Returns whether there are any. */
  shade() {
    const shaded = this.#rows.map(({ segment: { words = [] }, item, area }) => {
      const isDoubted = (/** @type {{confidence?: number}} */ { confidence = 1 }) => confidence < DOUBTED;
      const doubted = words.filter(isDoubted).map(({ word }) => word);
      if (doubted.length === 0 || area.value !== words.map(({ word }) => word).join(" ")) return false;
      const parts = words.flatMap((word, nth) => [nth > 0 ? " " : "", isDoubted(word) ? make("mark", {}, word.word) : word.word]);
      const shade = make("div", { class: "shade", lang: this.languages.text, dir: "auto", "aria-hidden": "true" }, ...parts);
      area.setAttribute("aria-description", t("speak.shaded", { words: doubted.join(", ") }));
      area.addEventListener("input", () => {
        shade.remove();
        area.removeAttribute("aria-description");
      });
      item.prepend(shade);
      return true;
    });
    return shaded.includes(true);
  }

  /** @param {Segment} segment */
  #play(segment) {
    this.player.currentTime = segment.start;
    void this.player.play();
  }

  #follow() {
    this.#mark();
    this.#frame = requestAnimationFrame(() => this.#follow());
  }

  #mark() {
    const now = this.player.currentTime;
    for (const { segment, item } of this.#rows) {
      const isNow = now >= segment.start && now < segment.end;
      if (item.classList.contains("now") !== isNow) item.classList.toggle("now", isNow);
    }
  }
}

/** Makes the area as tall as its text, in browsers that do not do it by style. @param {HTMLTextAreaElement} area */
function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}
