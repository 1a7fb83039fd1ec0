// The API key: asked once, kept in the tab, or handed over by the link that `akhar serve` prints.
import { base, t } from "./data.js";
import { byId } from "./dom.js";

const STORED = "akhar-key";
const dialog = byId("key-dialog", HTMLDialogElement);
const input = byId("key", HTMLInputElement);
const error = byId("key-error");

/** Somebody who uses the page closed the dialog without a key. */
export class NoKey extends Error {}

/** The key of this tab. @returns {string | null} */
export const storedKey = () => sessionStorage.getItem(STORED);

/** @param {string | null} key */
function store(key) {
  if (key === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, key);
  show();
}

function show() {
  byId("key-button").dataset["state"] = storedKey() === null ? "none" : "set";
}

/** @type {Promise<string> | null} the dialog that is open */
let asking = null;

/**
 * Asks for a key that works. Rejects with `NoKey` if the dialog is closed.
 * @param {string} [reason] why it is asked again
 * @returns {Promise<string>}
 */
export function askKey(reason = "") {
  asking ??= ask(reason).finally(() => (asking = null));
  return asking;
}

/** @param {string} reason @returns {Promise<string>} */
function ask(reason) {
  input.value = "";
  say(reason);
  byId("key-forget").hidden = storedKey() === null;
  dialog.showModal();
  let isOpen = true;
  return new Promise((resolve, reject) => {
    const form = byId("key-form", HTMLFormElement);
    form.onsubmit = async (event) => {
      event.preventDefault();
      const key = input.value.trim();
      const isRight = await works(key);
      if (!isOpen) return; // the dialog was closed meanwhile
      if (!isRight) return say(t("key.wrong"));
      store(key);
      dialog.close();
      resolve(key);
    };
    byId("key-cancel").onclick = () => dialog.close();
    byId("key-forget").onclick = () => {
      store(null);
      dialog.close();
    };
    dialog.onclose = () => {
      isOpen = false;
      reject(new NoKey()); // does nothing if there is a key
    };
  });
}

/** @param {string} text */
function say(text) {
  error.textContent = text;
  if (text === "") input.removeAttribute("aria-invalid");
  else input.setAttribute("aria-invalid", "true");
}

/** Whether the service knows this key. If it cannot be asked, the next request says why. @param {string} key */
async function works(key) {
  if (!/^[\x21-\x7e]+$/.test(key)) return false; // not a header
  try {
    const response = await fetch(`${base}/v1/jobs?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    return response.status !== 401;
  } catch {
    return true;
  }
}

/** The key of this tab, which is asked for if there is none. */
export async function key() {
  await handedOver;
  return storedKey() ?? (await askKey());
}

/**
 * A key was refused: asks for another. Requests that run at the same time are refused together, and one of them asks. A request
 * whose refusal comes later takes the key that was given then, or rejects with `NoKey` if none was given.
 * @param {string} secret the key that was refused
 */
export async function refused(secret) {
  const stored = storedKey();
  if (stored === secret) store(null);
  else if (stored !== null) return stored;
  else if (asking === null) throw new NoKey();
  return askKey(t("key.wrong"));
}

/** Takes the key that a link of the terminal stands for. The link works once, and the address does not keep it. */
async function handOver() {
  const token = /^#key=([0-9A-Za-z]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  history.replaceState(null, "", location.pathname);
  try {
    const response = await fetch(`${base}/playground/key`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (response.ok) store((await response.json()).key);
    else if (storedKey() === null) void askKey(t("key.old-link")).catch(() => {});
  } catch {
    // The service stopped. The next request says so.
  }
}

/** Settled when a link of the terminal is exchanged, or there is none. */
export const handedOver = handOver();

show();
byId("key-button").addEventListener("click", () => void askKey().catch(() => {}));
