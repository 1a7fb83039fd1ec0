// The panel with the caller's recent jobs, which follows those that have not ended.
import { request } from "./api.js";
import { codePlace } from "./code.js";
import { language, t } from "./data.js";
import { byId, icon, make } from "./dom.js";
import { follow } from "./events.js";
import { readable } from "./json.js";
import { NoKey } from "./key.js";
import { clearProblem, showProblem } from "./problem.js";

/** @type {Record<string, string>} */
const ICONS = { "alphabet-recognition": "draw", "digit-recognition": "draw", "handwriting-generator": "write", "speech-recognition": "speak", translation: "write" };
const N_JOBS = 12;
const N_FOLLOWED = 5; // an account may have few streams
const REFRESH_MS = 5000; // finds jobs that other programs submit

/** @typedef {{id: string, operation: string, state: string, created_at: string, started_at: string | null,
 *   ended_at: string | null, transcribed_s?: number}} Job */

const time = new Intl.DateTimeFormat(language === "pa" ? "pa-IN-u-nu-latn" : undefined, { timeStyle: "medium", hourCycle: "h23" });
const hasEnded = (/** @type {Job} */ job) => job.ended_at !== null;

export function startJobs() {
  const list = byId("job-list");
  const place = byId("jobs-problem");
  const code = codePlace(byId("jobs-code"));
  /** @type {Map<string, ReturnType<typeof row>>} */
  const rows = new Map();
  /** @type {Map<string, AbortController>} */
  const followed = new Map();
  let timer = 0;
  let isShown = false;

  async function refresh() {
    clearTimeout(timer);
    const call = { method: "GET", path: `/v1/jobs?limit=${N_JOBS}` };
    try {
      const response = await request(call);
      /** @type {{jobs: Job[]}} */
      const { jobs } = await response.json();
      if (!isShown) return;
      show(jobs);
      code.show(call);
      clearProblem(place);
    } catch (error) {
      showProblem(place, error);
      if (error instanceof NoKey) return;
    }
    if (isShown) timer = setTimeout(() => void refresh(), REFRESH_MS);
  }

  /** @param {Job[]} jobs */
  function show(jobs) {
    byId("jobs-empty").hidden = jobs.length > 0;
    for (const job of jobs) {
      const known = rows.get(job.id);
      if (known) known.show(job);
      else rows.set(job.id, row(job, place));
    }
    const items = jobs.flatMap(({ id }) => rows.get(id)?.item ?? []);
    if (items.some((item, nth) => list.children[nth] !== item) || items.length !== list.childElementCount) {
      for (const item of [...list.children]) if (!items.includes(/** @type {HTMLLIElement} */ (item))) item.remove();
      items.forEach((item, nth) => list.children[nth] !== item && list.insertBefore(item, list.children[nth] ?? null));
    }
    for (const job of jobs.filter((one) => !hasEnded(one)).slice(0, N_FOLLOWED)) void track(job);
  }

  /** @param {Job} job */
  async function track(job) {
    if (followed.has(job.id)) return;
    const controller = new AbortController();
    followed.set(job.id, controller);
    try {
      for await (const { name, data } of follow(job.id, controller.signal)) {
        if (name === "state") rows.get(job.id)?.show({ ...job, state: data.state }, data.place);
        else if (name === "progress") rows.get(job.id)?.show({ ...job, state: "running", transcribed_s: data.transcribed_s });
        else if (name === "done") rows.get(job.id)?.show(data);
      }
    } catch {
      // The list is read again soon.
    } finally {
      followed.delete(job.id);
    }
  }

  return {
    /** @param {boolean} shown */
    setShown(shown) {
      isShown = shown;
      clearTimeout(timer);
      if (shown) return void refresh();
      for (const controller of followed.values()) controller.abort();
    },
  };
}

/** A job in the list. @param {Job} job @param {HTMLElement} place for problems */
function row(job, place) {
  const state = make("span");
  const about = make("small");
  const note = make("small");
  const document = make("pre", { tabindex: 0, role: "region", "aria-label": t("jobs.open") });
  const cancel = make("button", { type: "button", class: "cancel", onclick: () => void stop() }, t("jobs.cancel"));
  const details = make("details", {}, make("summary", {}, icon(ICONS[job.operation] ?? "jobs"), make("b", {}, t(`jobs.${job.operation}`)), state, about, note), document, cancel);
  const item = make("li", {}, details);
  let ended = job.ended_at;

  /** @param {Job} now @param {number} [nth] its place in the queue */
  function show(now, nth) {
    state.className = `state ${now.state}`;
    state.textContent = t(`jobs.${now.state}`);
    about.textContent = time.format(new Date(now.created_at));
    note.textContent = lasted(now) || (nth === undefined ? "" : t("jobs.place", { place: nth }));
    cancel.hidden = hasEnded(now);
    if (now.ended_at !== ended && details.open) void open();
    ended = now.ended_at;
  }

  async function open() {
    try {
      const response = await request({ method: "GET", path: `/v1/jobs/${job.id}` });
      document.textContent = readable(await response.json());
    } catch (error) {
      showProblem(place, error);
    }
  }

  async function stop() {
    try {
      const response = await request({ method: "DELETE", path: `/v1/jobs/${job.id}` });
      // A job that has just ended is deleted.
      if (response.status === 204) item.remove();
      else show(await response.json());
    } catch (error) {
      showProblem(place, error);
    }
  }

  details.addEventListener("toggle", () => details.open && void open());
  show(job);
  return { item, show };
}

/** @param {Job} job */
function lasted(job) {
  if (job.ended_at === null) return job.transcribed_s === undefined ? "" : `${job.transcribed_s.toFixed(0)} s`;
  return t("jobs.took", { ms: Math.round(Date.parse(job.ended_at) - Date.parse(job.created_at)) });
}
