// Speaks on the playground, with sessions of live transcription that are played here.
import type { Page, WebSocketRoute } from "playwright-core";
import type { Visit } from "./playground_panels.ts";

/** A session that the page has opened. */
class Session {
  /** The type of the first event that the page has sent. */
  readonly first = Promise.withResolvers<string>();
  readonly #socket: WebSocketRoute;

  constructor(socket: WebSocketRoute) {
    this.#socket = socket;
    socket.onMessage((text) => this.first.resolve(JSON.parse(String(text)).type));
  }

  say(type: string, event: object = {}): void {
    this.#socket.send(JSON.stringify({ type, ...event }));
  }

  create(): void {
    this.say("session.created", { session: { id: `sess_${"0".repeat(32)}` } });
  }
}

/** A page that speaks. `record` presses the button and returns the session that begins. */
type Speaking = { page: Page; record: () => Promise<Session> };

/** What the page sends first, and what it shows when a session fails. */
export async function live({ page: visited, base, key, complain }: Visit): Promise<unknown> {
  const page = await visited.context().newPage();
  page.on("pageerror", complain);
  let opened = Promise.withResolvers<Session>();
  await page.routeWebSocket(/\/v1\/realtime\?/, (socket) => opened.resolve(new Session(socket)));
  await page.addInitScript((secret) => sessionStorage.setItem("akhar-key", secret), key);
  await page.goto(`${base}/#speak`);
  const record = async () => {
    opened = Promise.withResolvers();
    await page.locator("#record").press("Enter");
    return opened.promise;
  };
  const there = { page, record };
  const shown = { first: await speakEarly(there), refusal: await refuse(there) };
  await page.close();
  return shown;
}

/** There is sound before there is a session. */
async function speakEarly({ page, record }: Speaking): Promise<unknown> {
  const session = await record();
  await page.waitForFunction(() => Number.parseInt(document.querySelector("#time")?.textContent ?? "60") < 59);
  session.create();
  return session.first.promise;
}

/** The service refuses what is asked for, of a session and of an upload. */
async function refuse({ page, record }: Speaking): Promise<unknown> {
  await page.reload();
  await page.locator("#speak-more summary").press("Enter");
  await page.locator("#keyterms").fill(Array<string>(101).fill("ਨੰਗਲ").join("\n"));
  const session = await record();
  session.create();
  session.say("akhar.hypothesis", { text: "ਨੰਗਲ" });
  await page.locator("#hypothesis:visible").waitFor();
  session.say("error", { error: { type: "invalid_request_error", message: "too many" } });
  await page.locator("#hypothesis").waitFor({ state: "hidden" });
  await page.locator("#record").press("Enter");
  return page.locator("#speak-problem .problem").textContent();
}
