// The panel that writes a text by hand.
import { request } from "./api.js";
import { codePlace } from "./code.js";
import { limits, t } from "./data.js";
import { byId, save } from "./dom.js";
import { keyboard } from "./keyboard.js";
import { Page } from "./page.js";
import { COLOURS, parameters } from "./parameters.js";
import { clearProblem, showProblem } from "./problem.js";
import { storedKey } from "./key.js";

const MAX_CHARACTERS = 100;
const PAUSE_MS = 350; // after the last change of a parameter

export function startWrite() {
  const area = byId("text", HTMLTextAreaElement);
  const place = byId("write-problem");
  const code = codePlace(byId("write-code"));
  const page = new Page(byId("page", SVGSVGElement));
  const form = parameters(byId("sliders"), byId("swatches"), changed);
  let running = new AbortController();
  let png = "";
  let pause = 0;

  function showPen() {
    page.setPen({ width: form.number("stroke-width"), colour: COLOURS[form.colour()] ?? "" });
  }

  /** Takes off the page what stands on it, which is not the text any more. */
  function blank() {
    page.set({ x: [], y: [] }, form.number("page-width"), form.number("page-length"), 1);
    byId("page").setAttribute("aria-label", t("write.page"));
    byId("page-note").textContent = "";
    byId("write-button").textContent = t("write.button");
    for (const id of ["replay", "save-png", "save-svg"]) byId(id, HTMLButtonElement).disabled = true;
  }

  /** @param {string} name of a parameter */
  function changed(name) {
    showPen();
    if (page.nStrokes === 0) return page.setSize(form.number("page-width"), form.number("page-length"));
    clearTimeout(pause);
    pause = setTimeout(() => void write(name !== "stroke-width" && name !== "stroke-color"), PAUSE_MS);
  }

  /** Writes the text, in a hand of its own. @param {boolean} isReplayed */
  async function write(isReplayed) {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const text = area.value;
    const [width, length] = [form.number("page-width"), form.number("page-length")];
    const call = {
      method: "POST",
      path: "/v1/models/handwriting-generator",
      headers: { accept: "application/json" },
      json: { text, ...form.fields(), "with-image": true },
    };
    byId("page").classList.add("waiting");
    try {
      const started = performance.now();
      const response = await request(call, signal);
      const { points, image } = await response.json();
      if (signal.aborted) return;
      png = image;
      const nPages = Number(response.headers.get("akhar-pages") ?? 1);
      page.set(points, width, length, nPages);
      showPen();
      if (isReplayed) page.replay();
      byId("page").setAttribute("aria-label", t("write.written", { text }));
      const written = t("write.note", { strokes: page.nStrokes, points: page.nPoints, ms: Math.round(performance.now() - started) });
      byId("page-note").textContent = nPages > 1 ? `${t("write.pages", { n: nPages })} · ${written}` : written;
      byId("write-button").textContent = t(area.value === text ? "write.again" : "write.button");
      for (const id of ["replay", "save-png", "save-svg"]) byId(id, HTMLButtonElement).disabled = false;
      code.show(call);
      area.removeAttribute("aria-invalid");
      clearProblem(place);
    } catch (error) {
      if (signal.aborted) return; // a newer request says what is wrong
      blank();
      code.clear();
      showProblem(place, error);
      if (place.textContent?.includes("text")) area.setAttribute("aria-invalid", "true");
    } finally {
      if (!signal.aborted) byId("page").classList.remove("waiting");
    }
  }

  function count() {
    byId("text-count").textContent = t("write.count", { n: [...area.value.normalize("NFC")].length, max: MAX_CHARACTERS });
  }

  keyboard(byId("keys"), area);
  byId("keys-toggle").addEventListener("click", ({ currentTarget }) => {
    const isShown = byId("keys").toggleAttribute("hidden");
    /** @type {HTMLElement} */ (currentTarget).setAttribute("aria-expanded", String(!isShown));
  });
  area.addEventListener("input", () => {
    count();
    byId("write-button").textContent = t("write.button");
  });
  byId("write-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void write(true);
  });
  byId("reset").addEventListener("click", () => {
    form.reset();
    changed("reset");
  });
  byId("replay").addEventListener("click", () => page.replay());
  byId("save-svg").addEventListener("click", () => save("page.svg", page.toSvg()));
  byId("save-png").addEventListener("click", () => {
    const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
    save("page.png", new Blob([bytes], { type: "image/png" }));
  });
  form.set("page-length", limits["page-length"]?.minimum ?? 0); // enough for the example
  count();
  changed("");
  return {
    /** Writes the example when the panel is first seen, if there is a key. @param {boolean} isShown */
    setShown(isShown) {
      if (isShown && page.nStrokes === 0 && storedKey() !== null) void write(true);
    },
  };
}
