// A pad to draw on: with a pen, a finger, the mouse, or the keyboard. Its strokes become a small PNG.

/** @typedef {{x: number, y: number}} Point in parts of the pad's side */

const PEN = 0.045; // of the pad's side
const STEP = 0.025; // of an arrow key
const SIDES = [320, 256, 192, 128];

/** @type {Record<string, Point>} */
const ARROWS = { ArrowUp: { x: 0, y: -STEP }, ArrowDown: { x: 0, y: STEP }, ArrowLeft: { x: -STEP, y: 0 }, ArrowRight: { x: STEP, y: 0 } };

/** @param {CanvasRenderingContext2D} brush @param {Point[]} stroke @param {number} side */
function drawStroke(brush, stroke, side) {
  brush.beginPath();
  stroke.forEach((point, nth) => {
    const next = stroke[nth + 1] ?? point;
    const [x, y] = [((point.x + next.x) / 2) * side, ((point.y + next.y) / 2) * side];
    if (nth === 0) brush.moveTo(point.x * side, point.y * side);
    brush.quadraticCurveTo(point.x * side, point.y * side, x, y);
  });
  brush.stroke();
}

/** @param {CanvasRenderingContext2D} brush @param {Point[][]} strokes @param {number} side @param {string} colour */
function drawAll(brush, strokes, side, colour) {
  brush.lineWidth = PEN * side;
  brush.lineCap = "round";
  brush.lineJoin = "round";
  brush.strokeStyle = colour;
  for (const stroke of strokes) drawStroke(brush, stroke, side);
}

/** @param {HTMLCanvasElement | OffscreenCanvas} canvas */
const brushOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** A number between 0 and 1. @param {number} value */
const inside = (value) => Math.min(1, Math.max(0, value));

export class Pad {
  /** @type {Point[][]} */
  #strokes = [];
  /** @type {Point[] | null} the stroke that is being drawn */
  #current = null;
  /** @type {ImageBitmap | null} a picture in the place of strokes */
  #picture = null;
  /** @type {Point | null} where the pen of the keyboard is */
  #cursor = null;
  #frame = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{changed: () => void, ended: () => void}} events the drawing changed; a stroke ended
   */
  constructor(canvas, events) {
    this.canvas = canvas;
    this.events = events;
    canvas.addEventListener("pointerdown", (event) => this.#begin(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", () => this.#end());
    canvas.addEventListener("pointercancel", () => this.#end());
    canvas.addEventListener("keydown", (event) => this.#press(event));
    canvas.addEventListener("blur", () => this.#lift());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#show());
  }

  get isEmpty() {
    return this.#strokes.length === 0 && this.#picture === null;
  }

  /** The drawing as a PNG: black on white, at most `maxBytes`. @param {number} maxBytes */
  async toPng(maxBytes) {
    let blob = new Blob();
    for (const side of SIDES) {
      const paper = new OffscreenCanvas(side, side);
      const brush = brushOf(paper);
      brush.fillStyle = "#fff";
      brush.fillRect(0, 0, side, side);
      drawAll(brush, this.#strokes, side, "#000");
      blob = await paper.convertToBlob({ type: "image/png" });
      if (blob.size <= maxBytes) break;
    }
    return blob;
  }

  undo() {
    if (this.#picture) this.#picture = null;
    else this.#strokes.pop();
    this.#changed();
  }

  clear() {
    [this.#strokes, this.#picture, this.#cursor, this.#current] = [[], null, null, null];
    this.#changed();
  }

  /** Shows a picture in the place of a drawing. @param {ImageBitmap} picture */
  setPicture(picture) {
    this.clear();
    this.#picture = picture;
    this.#changed();
  }

  /** @param {PointerEvent} event @returns {Point} */
  #point({ clientX, clientY }) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return { x: inside((clientX - left) / width), y: inside((clientY - top) / height) };
  }

  /** @param {PointerEvent} event */
  #begin(event) {
    if (!event.isPrimary || event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#picture = null;
    this.#cursor = null;
    this.#current = [this.#point(event)];
    this.#strokes.push(this.#current);
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#current || this.#cursor || !event.isPrimary) return;
    const events = event.getCoalescedEvents?.() ?? [];
    for (const one of events.length > 0 ? events : [event]) this.#current.push(this.#point(one));
    this.#show();
  }

  #end() {
    if (!this.#current || this.#cursor) return;
    this.#current = null;
    this.events.ended();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const arrow = ARROWS[event.key];
    if (arrow) {
      const from = this.#cursor ?? { x: 0.5, y: 0.3 };
      this.#cursor = { x: inside(from.x + arrow.x), y: inside(from.y + arrow.y) };
      this.#current?.push(this.#cursor);
    } else if (event.key === " ") {
      this.#cursor ??= { x: 0.5, y: 0.3 };
      if (this.#current) this.#lift();
      else this.#strokes.push((this.#current = [this.#cursor]));
      this.#picture = null;
      this.events.changed();
    } else {
      return;
    }
    event.preventDefault();
    this.#show();
  }

  /** Lifts the pen of the keyboard. */
  #lift() {
    if (!this.#current || !this.#cursor) return;
    this.#current = null;
    this.events.ended();
  }

  #changed() {
    this.#show();
    this.events.changed();
  }

  /** Draws everything before the next frame. */
  #show() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    const { width } = this.canvas;
    const brush = brushOf(this.canvas);
    const style = getComputedStyle(this.canvas);
    brush.clearRect(0, 0, width, width);
    if (this.#picture) {
      const { width: w, height: h } = this.#picture;
      const scale = width / Math.max(w, h);
      brush.drawImage(this.#picture, (width - w * scale) / 2, (width - h * scale) / 2, w * scale, h * scale);
    }
    drawAll(brush, this.#strokes, width, style.getPropertyValue("--ink"));
    if (this.#cursor) {
      const { x, y } = this.#cursor;
      brush.beginPath();
      brush.lineWidth = 3;
      brush.strokeStyle = style.getPropertyValue("--accent");
      brush.arc(x * width, y * width, this.#current ? 10 : 20, 0, 2 * Math.PI);
      brush.stroke();
    }
  }
}
