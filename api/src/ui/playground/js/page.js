// A page of handwriting: draws the strokes in the order and at the pace of the pen.
import { draw } from "./dom.js";

/** @typedef {{x: number[][], y: number[][]}} Points */
/** @typedef {{width: number, colour: string}} Pen */

const POINTS_PER_MS = 0.55; // the points of a stroke are evenly spaced in time
const LONGEST_MS = 6000;

/** The outline of the first `n` points of a stroke. @param {number[]} xs @param {number[]} ys @param {number} n */
function outline(xs, ys, n) {
  let path = `M${xs[0]} ${ys[0]}`;
  for (let i = 1; i < n; i++) path += `L${xs[i]} ${ys[i]}`;
  return path;
}

export class Page {
  /** @type {Points} */
  #points = { x: [], y: [] };
  /** @type {SVGElement[]} */
  #paths = [];
  #frame = 0;

  /** @param {SVGSVGElement} svg */
  constructor(svg) {
    this.svg = svg;
  }

  get nStrokes() {
    return this.#points.x.length;
  }

  get nPoints() {
    return this.#points.x.reduce((sum, xs) => sum + xs.length, 0);
  }

  /** The size of a page, on which nothing is written. @param {number} width @param {number} length */
  setSize(width, length) {
    this.svg.setAttribute("viewBox", `0 0 ${width} ${length}`);
  }

  /** Sets what is written. @param {Points} points @param {number} width @param {number} length of a page @param {number} nPages */
  set(points, width, length, nPages) {
    cancelAnimationFrame(this.#frame);
    this.#points = points;
    this.setSize(width, length * nPages);
    this.svg.style.setProperty("--pages", String(nPages));
    const edges = Array.from({ length: nPages - 1 }, (_, nth) => (nth + 1) * length);
    this.#paths = points.x.map((xs, nth) => draw("path", { d: outline(xs, points.y[nth] ?? [], xs.length) }));
    this.svg.replaceChildren(...edges.map((y) => draw("line", { x1: 0, x2: width, y1: y, y2: y })), ...this.#paths);
  }

  /** @param {Pen} pen */
  setPen({ width, colour }) {
    this.svg.setAttribute("stroke-width", String(width));
    this.svg.setAttribute("stroke", colour);
  }

  /** Draws the strokes again, one after another. */
  replay() {
    cancelAnimationFrame(this.#frame);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const { x, y } = this.#points;
    const pace = Math.max(POINTS_PER_MS, this.nPoints / LONGEST_MS);
    for (const path of this.#paths) path.setAttribute("d", "");
    let [nth, started] = [0, performance.now()];
    const advance = (/** @type {number} */ now) => {
      let due = Math.max(0, now - started) * pace;
      while (nth < x.length) {
        const [xs, ys] = [x[nth] ?? [], y[nth] ?? []];
        this.#paths[nth]?.setAttribute("d", outline(xs, ys, Math.max(1, Math.min(xs.length, Math.floor(due)))));
        if (due < xs.length) break;
        due -= xs.length;
        started += xs.length / pace;
        nth += 1;
      }
      if (nth < x.length) this.#frame = requestAnimationFrame(advance);
    };
    this.#frame = requestAnimationFrame(advance);
  }

  /** The page as a file of its own. */
  toSvg() {
    const [, , width = "", height = ""] = (this.svg.getAttribute("viewBox") ?? "").split(" ");
    const { x, y } = this.#points;
    const paths = x.map((xs, nth) => draw("path", { d: outline(xs, y[nth] ?? [], xs.length) }));
    const pen = Object.fromEntries(["stroke", "stroke-width"].map((name) => [name, this.svg.getAttribute(name) ?? ""]));
    const root = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round", ...pen }, ...paths);
    return new Blob([new XMLSerializer().serializeToString(root)], { type: "image/svg+xml" });
  }
}
