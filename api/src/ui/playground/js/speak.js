// The panel that transcribes speech.
import { Problem, request } from "./api.js";
import { codePlace } from "./code.js";
import { t } from "./data.js";
import { acceptDrop, acceptFile, byId, copy, save } from "./dom.js";
import { follow } from "./events.js";
import { listen } from "./live.js";
import { clearProblem, showProblem } from "./problem.js";
import { meter, record } from "./recorder.js";
import { Segments } from "./segments.js";
import { srt, vtt } from "./subtitles.js";
import { warningsOf } from "./warnings.js";
import { acceptable, MAX_S } from "./wav.js";

/** The languages of texts in each script, as tags. @type {Record<string, string>} */
const PANJABI = { gurmukhi: "pa", latin: "pa-Latn", shahmukhi: "pa-Arab" };

/** The recording that comes with the page. */
async function sample() {
  const response = await fetch(new URL("./sample.mp3", import.meta.url));
  return new File([await response.blob()], "sample.mp3", { type: "audio/mpeg" });
}

export function startSpeak() {
  const place = byId("speak-problem");
  const code = codePlace(byId("speak-code"));
  const player = byId("player", HTMLAudioElement);
  const segments = new Segments(byId("lines"), player);
  const levels = meter(byId("meter", HTMLCanvasElement));
  /** @type {{stop: () => Promise<File>} | null} */
  let recording = null;
  /** The session of the recording. @type {ReturnType<typeof listen> | null} */
  let session = null;
  let isStarting = false;
  let running = new AbortController();
  /** The last job, whose result has subtitles. */
  let job = "";
  const lang = () => /** @type {HTMLInputElement} */ (document.querySelector("[name=lang]:checked")).value;
  const script = byId("script", HTMLSelectElement);
  const keyterms = byId("keyterms", HTMLTextAreaElement);

  /** The tags of the language of the text and of its translation. While it is not detected, the text has none. @param {string} language */
  function tags(language) {
    const panjabi = PANJABI[script.value] ?? "pa";
    return language === "auto" ? { text: "", translation: "" } : { text: language === "pa" ? panjabi : "en", translation: language === "pa" ? "en" : panjabi };
  }

  /** @param {string} text @param {number} [part] of the work, if it is known */
  function progress(text, part) {
    byId("progress").hidden = text === "";
    byId("progress-note").textContent = text;
    const bar = byId("progress-bar");
    /** @type {HTMLElement} */ (bar.firstElementChild).style.setProperty("--part", String(part ?? 0));
    if (part === undefined) bar.removeAttribute("aria-valuenow");
    else bar.setAttribute("aria-valuenow", String(Math.round(part * 100)));
  }

  /** Ends what runs for another recording, and removes what was shown of it. */
  function clear() {
    running.abort();
    running = new AbortController();
    void recording?.stop();
    [recording, session] = [null, null];
    showRecording();
    clearProblem(place);
    progress("");
    for (const id of ["speak-tools", "lines-hint", "shade-hint", "speak-empty"]) byId(id).hidden = true;
    code.clear();
    player.pause();
    player.hidden = true;
    segments.clear(tags(lang()));
    warn([]);
    hypothesis("");
    byId("said").textContent = "";
  }

  /** What is being said. @param {string} text */
  function hypothesis(text) {
    const open = byId("hypothesis");
    open.hidden = text === "";
    open.lang = tags(lang()).text;
    open.textContent = text;
  }

  /** What is asked for in a form, but the file. */
  function asked() {
    /** @type {Record<string, string | string[]>} */
    const fields = { "with-translation": String(byId("translate", HTMLInputElement).checked) };
    if (byId("figures", HTMLInputElement).checked) fields["format"] = "written";
    if (script.value !== "gurmukhi") fields["script"] = script.value;
    return fields;
  }

  function terms() {
    return keyterms.value.split("\n").map((term) => term.trim()).filter((term) => term !== "");
  }

  /** Begins a session for what is recorded. @param {AbortSignal} signal */
  function begin(signal) {
    const { "with-translation": translates, ...fields } = asked();
    const transcription = { ...fields, "with-translation": translates === "true", language: lang(), keywords: terms() };
    const segment = (/** @type {import("./subtitles.js").Segment} */ ended) => {
      segments.add(ended);
      byId("said").textContent = ended.transcription;
    };
    return listen(transcription, { hypothesis, segment }, signal);
  }

  /** @param {Promise<File>} made the recording, when it is ready @param {ReturnType<typeof listen>} [live] its session */
  async function transcribe(made, live) {
    if (!live) clear();
    const { signal } = running;
    progress(t("speak.preparing"));
    byId("progress").scrollIntoView({ block: "nearest" });
    try {
      const file = await made;
      signal.throwIfAborted();
      if (player.src) URL.revokeObjectURL(player.src);
      player.src = URL.createObjectURL(file);
      player.hidden = false;
      const started = performance.now();
      const ended = await live?.end();
      signal.throwIfAborted();
      if (ended) {
        job = ended;
        const response = await request({ method: "GET", path: `/v1/jobs/${job}` }, signal);
        segments.clear(tags(lang()));
        finish(await response.json(), (performance.now() - started) / 1000);
      } else {
        segments.clear(tags(lang())); // the session has failed
        await run(file, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      showProblem(place, error);
    } finally {
      if (!signal.aborted) byId("progress").hidden = true;
    }
  }

  /** @param {File} file @param {AbortSignal} signal */
  async function run(file, signal) {
    /** @type {Record<string, string | File | string[]>} */
    const fields = { file, lang: lang(), "with-timestamps": "true", "with-words": "true", "with-confidence": "true", ...asked() };
    const withTranslation = fields["with-translation"] === "true";
    if (byId("channels", HTMLInputElement).checked) fields["channels"] = "split";
    if (terms().length > 0) fields["keyterms"] = terms();
    const call = { method: "POST", path: "/v1/models/speech-recognition", headers: { prefer: "respond-async" }, fields };
    progress(t("speak.sending", { kb: Math.ceil(file.size / 1024) }));
    const started = performance.now();
    const response = await request(call, signal);
    const { id } = await response.json();
    job = id;
    code.show({ ...call, job });
    progress(t("speak.starting"), 0);
    let attempt = "1";
    for await (const event of follow(id, signal)) {
      if (event.id && event.id !== "end" && event.id.split(".")[0] !== attempt) {
        attempt = event.id.split(".")[0] ?? "";
        segments.clear(tags(lang())); // another attempt begins at the first segment
      }
      if (event.name === "state") {
        const { state, place: nth } = event.data;
        progress(state === "queued" ? t("speak.waiting", { place: nth ?? "…" }) : t("speak.running"), 0);
      } else if (event.name === "progress") {
        const [done, all] = [event.data.transcribed_s, player.duration];
        const isDone = done >= all - 0.1;
        const text = isDone && withTranslation ? t("speak.translating") : t("speak.transcribed", { s: done.toFixed(0), of: all.toFixed(0) });
        progress(text, Math.min(1, done / all));
      } else if (event.name === "segment") {
        segments.add(event.data);
      } else if (event.name === "done") {
        finish(event.data, (performance.now() - started) / 1000);
      }
    }
  }

  /** @param {any} ended the job @param {number} took seconds */
  function finish(ended, took) {
    if (ended.state !== "succeeded") throw new Problem(ended.error ?? { title: t(`jobs.${ended.state}`) });
    segments.speak(tags(ended.result.language ?? lang()));
    segments.set(ended.result.timestamps);
    segments.doubt(ended.probably_wrong ?? []);
    byId("shade-hint").hidden = !segments.shade();
    warn(warningsOf(ended));
    const isEmpty = ended.result.timestamps.length === 0;
    byId("speak-empty").hidden = !isEmpty;
    byId("speak-say").hidden = true;
    byId("speak-empty-note").textContent = t("speak.nothing");
    byId("speak-tools").hidden = isEmpty;
    byId("lines-hint").hidden = isEmpty;
    const length = player.duration > 0 ? player.duration : ended.transcribed_s;
    const found = ended.result.language === undefined ? "" : `${t(`speak.found.${ended.result.language}`)} `;
    byId("speak-done").textContent = found + t("speak.took", { s: length.toFixed(1), took: took.toFixed(1) });
  }

  /** What the job says about its result, such as which parts are probably wrong. @param {HTMLElement[]} warnings */
  function warn(warnings) {
    byId("speak-warnings").replaceChildren(...warnings);
  }

  function showRecording() {
    const isOn = recording !== null;
    const button = byId("record");
    button.setAttribute("aria-pressed", String(isOn));
    byId("record-note").textContent = t(isOn ? "speak.recording" : "speak.hint");
    if (!isOn) heard(0, 0);
  }

  async function toggle() {
    if (recording) {
      const made = recording.stop();
      const live = session;
      [recording, session] = [null, null];
      showRecording();
      return transcribe(made, live ?? undefined);
    }
    if (isStarting) return;
    isStarting = true;
    levels.clear();
    clear();
    const { signal } = running;
    try {
      const begun = await record(heard, () => void toggle(), (samples, rate) => session?.push(samples, rate));
      if (signal.aborted) return void begun.stop(); // a file was chosen meanwhile
      [recording, session] = [begun, begin(signal)];
      showRecording();
    } catch (error) {
      if (!signal.aborted) showProblem(place, error);
    } finally {
      isStarting = false;
    }
  }

  /** @param {number} seconds @param {number} loudness */
  function heard(seconds, loudness) {
    levels.add(loudness);
    const left = t("speak.left", { s: Math.max(0, Math.ceil(MAX_S - seconds)) });
    if (byId("time").textContent !== left) byId("time").textContent = left;
  }

  byId("record").addEventListener("click", () => void toggle());
  acceptFile(byId("sound", HTMLInputElement), (file) => void transcribe(acceptable(file)));
  acceptDrop(byId("recorder"), (file) => void transcribe(acceptable(file)));
  for (const choice of document.querySelectorAll("[name=lang]")) {
    choice.addEventListener("change", () => {
      for (const note of document.querySelectorAll("#panel-speak [data-for]")) {
        const { dataset } = /** @type {HTMLElement} */ (note);
        /** @type {HTMLElement} */ (note).hidden = lang() !== "auto" && dataset["for"] !== lang();
      }
    });
  }
  heard(0, 0);
  byId("sample").addEventListener("click", () => void transcribe(sample()));
  const copied = byId("copy-text");
  copied.addEventListener("click", () => {
    void copy(copied, segments.all.map(({ transcription }) => transcription).join("\n"), t("speak.copied"));
  });

  /**
   * Saves subtitles: those of the server, whose lines are short, unless the text was edited.
   * @param {string} name @param {string} type @param {typeof srt} write
   */
  async function saveSubtitles(name, type, write) {
    const call = { method: "GET", path: `/v1/jobs/${job}/result`, headers: { accept: type } };
    const own = new Blob([write(segments.all)], { type });
    save(name, segments.isEdited ? own : await request(call).then((response) => response.blob(), () => own)); // the job may be gone
  }

  byId("save-srt").addEventListener("click", () => void saveSubtitles("speech.srt", "application/x-subrip", srt));
  byId("save-vtt").addEventListener("click", () => void saveSubtitles("speech.vtt", "text/vtt", vtt));
}
