// The panel that recognises a drawn letter or digit.
import { request } from "./api.js";
import { bars } from "./bars.js";
import { codePlace } from "./code.js";
import { t } from "./data.js";
import { acceptDrop, acceptFile, byId } from "./dom.js";
import { Pad } from "./ink.js";
import { shrink } from "./picture.js";
import { clearProblem, showProblem } from "./problem.js";

const MAX_BYTES = 15 * 1024;
const N_PREDICTIONS = 5;

export function startDraw() {
  const place = byId("draw-problem");
  const code = codePlace(byId("draw-code"));
  const answer = bars(byId("bars"), N_PREDICTIONS);
  const pad = new Pad(byId("pad", HTMLCanvasElement), { changed, ended: () => void recognise(drawing) });
  /** @type {AbortController} of the request that is running */
  let running = new AbortController();
  /** @type {AbortController} of the file that is being opened */
  let opening = new AbortController();
  /** @type {(() => Promise<File>) | null} what was recognised last */
  let last = null;

  const drawing = async () => new File([await pad.toPng(MAX_BYTES)], "drawing.png", { type: "image/png" });
  const kind = () => /** @type {HTMLInputElement} */ (document.querySelector("[name=kind]:checked")).value;

  function changed() {
    opening.abort();
    byId("undo", HTMLButtonElement).disabled = pad.isEmpty;
    byId("clear", HTMLButtonElement).disabled = pad.isEmpty;
    byId("ghost").hidden = !pad.isEmpty;
    if (pad.isEmpty) forget();
  }

  function forget() {
    running.abort();
    last = null;
    empty();
    clearProblem(place);
  }

  function empty() {
    answer.show([]);
    byId("best").textContent = "\u00a0";
    byId("best-note").textContent = t("draw.empty");
    code.clear();
  }

  /** @param {() => Promise<File>} make the picture to recognise */
  async function recognise(make) {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    last = make;
    try {
      const file = await make();
      signal.throwIfAborted();
      const call = { method: "POST", path: `/v1/models/${kind()}`, fields: { file, "top-k": String(N_PREDICTIONS) } };
      const started = performance.now();
      const response = await request(call, signal);
      const { predictions } = await response.json();
      if (signal.aborted) return;
      answer.show(predictions);
      byId("best").textContent = predictions[0].label;
      byId("best-note").textContent = t("draw.sent", { bytes: (file.size / 1024).toFixed(1), ms: Math.round(performance.now() - started) });
      code.show(call);
      clearProblem(place);
    } catch (error) {
      if (signal.aborted) return;
      empty();
      showProblem(place, error);
    }
  }

  /** @param {File} file */
  async function open(file) {
    opening.abort();
    opening = new AbortController();
    const { signal } = opening;
    try {
      const { file: small, picture } = await shrink(file, MAX_BYTES);
      if (signal.aborted) return; // another file, or a drawing
      pad.setPicture(picture);
      await recognise(async () => small);
    } catch (error) {
      if (!signal.aborted) showProblem(place, error);
    }
  }

  byId("undo").addEventListener("click", () => {
    pad.undo();
    if (!pad.isEmpty) void recognise(drawing);
  });
  byId("clear").addEventListener("click", () => pad.clear());
  for (const choice of document.querySelectorAll("[name=kind]")) {
    choice.addEventListener("change", () => {
      const glyph = byId("ghost").firstElementChild;
      const isDigit = kind() === "digit-recognition";
      byId("draw-title").textContent = t(isDigit ? "draw.title.digit" : "draw.title");
      if (glyph) glyph.textContent = isDigit ? "੫" : "ਕ";
      if (last) void recognise(last);
    });
  }
  acceptFile(byId("picture", HTMLInputElement), (file) => void open(file));
  acceptDrop(byId("pad-paper"), (file) => void open(file));
}
