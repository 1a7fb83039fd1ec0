// Makes a photo or a picture small enough to send: fewer pixels and, if need be, less quality.
import { Problem } from "./api.js";
import { t } from "./data.js";

const SIDES = [640, 480, 360, 256, 160];
const QUALITIES = [0.85, 0.65, 0.45];

/**
 * The file as a JPEG of at most `maxBytes`, and the picture itself. A PNG or JPEG that is small enough stays as it is.
 * @param {File} file @param {number} maxBytes
 * @returns {Promise<{file: File, picture: ImageBitmap}>}
 */
export async function shrink(file, maxBytes) {
  const picture = await createImageBitmap(file).catch(() => {
    throw new Problem({ title: t("problem.picture"), detail: file.name });
  });
  if (file.size <= maxBytes && ["image/png", "image/jpeg"].includes(file.type)) return { file, picture };
  /** @type {Blob} */
  let blob = file;
  for (const side of SIDES) {
    for (const quality of QUALITIES) {
      blob = await jpeg(picture, side, quality);
      if (blob.size <= maxBytes) return { file: new File([blob], "photo.jpg", { type: "image/jpeg" }), picture };
    }
  }
  return { file: new File([blob], "photo.jpg", { type: "image/jpeg" }), picture };
}

/** @param {ImageBitmap} picture @param {number} side @param {number} quality */
function jpeg(picture, side, quality) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  const [width, height] = [picture.width, picture.height].map((length) => Math.max(1, Math.round(length * scale)));
  const canvas = new OffscreenCanvas(width ?? 1, height ?? 1);
  const brush = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  brush.fillStyle = "#fff"; // of transparent pixels
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.imageSmoothingQuality = "high";
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/jpeg", quality });
}
