// JSON for people.

/** A value as indented text, without what is too long to read: pictures, and the coordinates of strokes. @param {unknown} value */
export function readable(value) {
  return JSON.stringify(value, short, 2).replace(/"(\[…[0-9]+\])"/g, "$1");
}

/** @param {string} name @param {unknown} value */
function short(name, value) {
  if (typeof value === "string" && value.length > 400) return `${value.slice(0, 40)}…`;
  if ((name === "x" || name === "y") && Array.isArray(value)) return `[…${value.length}]`;
  return value;
}
