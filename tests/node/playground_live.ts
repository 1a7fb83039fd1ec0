// Speaks on the playground, with sessions of live transcription that are played here.
import type { Page, WebSocketRoute } from "playwright-core";
import type { Visit } from "./playground_panels.ts";

/** A session that the page has opened. */
class Session {
  /** The type of the first event that the page has sent. */
  readonly first = Promise.withResolvers<string>();
  /** The page has sent that the sound is over. */
  readonly ended = Promise.withResolvers<void>();
  readonly #socket: WebSocketRoute;

  constructor(socket: WebSocketRoute) {
    this.#socket = socket;
    socket.onMessage((text) => {
      const event = JSON.parse(String(text));
      this.first.resolve(event.type);
      if (event.final) this.ended.resolve();
    });
  }

  say(type: string, event: object = {}): void {
    this.#socket.send(JSON.stringify({ type, ...event }));
  }

  create(): void {
    this.say("session.created", { session: { id: `sess_${"0".repeat(32)}` } });
  }

  complete(transcript: string): void {
    this.say("conversation.item.input_audio_transcription.completed", { start: 0, end: 1, transcript });
  }
}

/** A page that speaks. `record` presses the button and returns the session that begins. */
type Speaking = { page: Page; fixtures: string; record: () => Promise<Session> };

/** What the page sends first, and what it shows when a session fails and when recordings follow each other. */
export async function live({ page: visited, base, key, fixtures, complain }: Visit): Promise<unknown> {
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
  const there = { page, fixtures, record };
  const shown = { chosen: await chooseFile(there), again: await recordAgain(there), refusal: await refuse(there) };
  await page.close();
  return shown;
}

/** There is sound before there is a session, and a file is chosen during the recording. */
async function chooseFile({ page, fixtures, record }: Speaking): Promise<unknown> {
  const session = await record();
  await page.waitForFunction(() => Number.parseInt(document.querySelector("#time")?.textContent ?? "60") < 59);
  session.create();
  const first = await session.first.promise;
  await page.locator("#sound").setInputFiles(`${fixtures}/audio/en-weather.wav`);
  await page.locator("#record[aria-pressed=false]").waitFor();
  session.complete("ਪੁਰਾਣੀ");
  await page.locator("#speak-tools").waitFor();
  return [first, await page.locator("#lines li").count()];
}

/** A recording begins before the text of the one before is there. */
async function recordAgain({ page, record }: Speaking): Promise<unknown> {
  const before = await record();
  before.create();
  await page.locator("#record").press("Enter");
  await before.ended.promise;
  const session = await record();
  before.complete("ਪੁਰਾਣੀ");
  session.create();
  session.complete("ਨਵੀਂ");
  await page.locator("#lines li").first().waitFor();
  const lines = await page.locator("#lines textarea").evaluateAll((areas) => areas.map((area) => (area as HTMLTextAreaElement).value));
  return [lines, await page.locator("#progress").isVisible()];
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
