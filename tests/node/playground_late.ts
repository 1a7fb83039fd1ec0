// Answers that come when the playground shows something else already.
import type { Page, Route } from "playwright-core";
import type { Visit } from "./playground_panels.ts";

/** A job that runs. */
const JOB = { id: "01a22366-fd85-7754-b0ea-6cf91ebfc5f5", operation: "speech-recognition", state: "running", created_at: "2026-01-01T00:00:00Z", started_at: null, ended_at: null };

type Held = { url: string; begin: () => Promise<unknown>; meanwhile: () => Promise<unknown>; answer?: (route: Route) => Promise<void> };

/** Begins what sends a request, and holds its answer until something else is done. */
async function hold(page: Page, { url, begin, meanwhile, answer = (route) => route.continue() }: Held): Promise<void> {
  const release = Promise.withResolvers<void>();
  await page.route(url, (route) => release.promise.then(() => answer(route)), { times: 1 });
  await Promise.all([page.waitForRequest(url), begin()]);
  await meanwhile();
  await Promise.all([page.waitForResponse(url), release.resolve()]);
  await page.evaluate(async () => void (await (await fetch("/openapi.json")).text())); // the page has the answer before this one
}

/** What is shown after them. */
export async function late({ page: visited, base, key, fixtures, complain }: Visit): Promise<unknown> {
  const page = await visited.context().newPage();
  page.on("pageerror", complain);
  await page.goto(`${base}/#draw`);
  const stored = await closeDialog(page, key);
  await page.evaluate((secret) => sessionStorage.setItem("akhar-key", secret), key);
  const shown = { stored, best: await choosePictures(page, fixtures), button: await typeOn(page, base), nStreams: await leaveJobs(page, base) };
  await page.close();
  return shown;
}

/** The dialog is closed before it is known whether its key works. */
async function closeDialog(page: Page, key: string): Promise<unknown> {
  await page.locator("#key-button").click();
  await page.locator("#key").fill(key);
  await hold(page, { url: "**/v1/jobs?limit=1", begin: () => page.keyboard.press("Enter"), meanwhile: () => page.keyboard.press("Escape") });
  return page.evaluate(() => sessionStorage.getItem("akhar-key"));
}

/** A picture is chosen while the browser still reads the one before. */
async function choosePictures(page: Page, fixtures: string): Promise<unknown> {
  await page.evaluate(() => {
    const read = globalThis.createImageBitmap;
    const slow = async (source: ImageBitmapSource) => {
      globalThis.createImageBitmap = read;
      const picture = await read(source);
      await new Promise((resolve) => addEventListener("late", resolve, { once: true }));
      return picture;
    };
    globalThis.createImageBitmap = slow as typeof read;
  });
  await page.locator('[name=kind][value="digit-recognition"]').check({ force: true });
  await page.locator("#picture").setInputFiles(`${fixtures}/images/digit-0.png`);
  await page.locator("#picture").setInputFiles(`${fixtures}/images/digit-5.png`);
  await page.locator("#best", { hasText: "੫" }).waitFor();
  await page.evaluate(() => new Promise((resolve) => dispatchEvent(new Event("late")) && requestAnimationFrame(resolve)));
  return page.locator("#best").textContent();
}

/** Another text is typed, and another width is chosen, while a text is written. */
async function typeOn(page: Page, base: string): Promise<unknown> {
  const meanwhile = () => page.locator("#text").fill("ਸਤਿ").then(() => page.locator("#page-width").press("ArrowRight"));
  await hold(page, { url: "**/handwriting-generator", begin: () => page.goto(`${base}/#write`), meanwhile });
  await page.locator("#page path").first().waitFor();
  const [label, size] = await Promise.all(["aria-label", "viewBox"].map((name) => page.locator("#page").getAttribute(name)));
  if (label?.includes("ਸਤਿ") || !size?.startsWith("0 0 550 ")) throw new Error(`a page is shown as another: ${label} ${size}`);
  return page.locator("#write-button").textContent();
}

/** The panel of jobs is left before the list is there. */
async function leaveJobs(page: Page, base: string): Promise<unknown> {
  let nStreams = 0;
  page.on("request", (request) => void (nStreams += Number(request.url().endsWith("/events"))));
  await hold(page, {
    url: "**/v1/jobs?limit=12",
    begin: () => page.goto(`${base}/#jobs`),
    meanwhile: () => page.goto(`${base}/#draw`),
    answer: (route) => route.fulfill({ json: { jobs: [JOB] } }),
  });
  return nStreams;
}
