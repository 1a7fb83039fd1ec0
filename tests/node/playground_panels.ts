// What somebody does on each panel of the playground. Each function returns what the panel showed.
import { readFile } from "node:fs/promises";
import type { Download, Page, Request } from "playwright-core";
import { faults } from "./faults.ts";
import { runCode } from "./playground_code.ts";

/** A visit to the playground. */
export type Visit = {
  page: Page;
  base: string;
  key: string;
  fixtures: string;
  isPhone: boolean;
  complain: (what: unknown) => void;
};

type Point = [number, number];

/** The letter ਕ, as parts of the pad's side. */
export const KA: Point[][] = [
  [[0.6, 0.36], [0.61, 0.39], [0.61, 0.49], [0.59, 0.58], [0.52, 0.64], [0.46, 0.69], [0.43, 0.72], [0.39, 0.71],
   [0.36, 0.69], [0.34, 0.65], [0.34, 0.6], [0.36, 0.56], [0.42, 0.55], [0.47, 0.58], [0.52, 0.62], [0.55, 0.66],
   [0.57, 0.71], [0.57, 0.76], [0.57, 0.8], [0.56, 0.83]],
  [[0.24, 0.33], [0.36, 0.33], [0.46, 0.33], [0.57, 0.34], [0.67, 0.34], [0.76, 0.34]],
];

async function check({ page, complain }: Visit): Promise<void> {
  for (const fault of await faults(page)) complain(fault);
}

async function open({ page }: Visit, panel: string): Promise<void> {
  await page.locator(`.sections a[href="/#${panel}"]`).click();
  await page.locator(`#panel-${panel}`).waitFor();
}

/** Draws strokes with the mouse, or with a finger. */
export async function stroke(page: Page, strokes: Point[][], isTouch: boolean): Promise<void> {
  const box = await page.locator("#pad").boundingBox();
  if (box === null) throw new Error("there is no pad");
  const at = ([x, y]: Point): Point => [box.x + x * box.width, box.y + y * box.height];
  const browser = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: Point[]) =>
    browser.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  for (const [first, ...rest] of strokes) {
    if (first === undefined) continue;
    if (isTouch) await touch("touchStart", [at(first)]);
    else await page.mouse.move(...at(first)).then(() => page.mouse.down());
    for (const point of rest) await (isTouch ? touch("touchMove", [at(point)]) : page.mouse.move(...at(point)));
    await (isTouch ? touch("touchEnd", []) : page.mouse.up());
  }
  await browser.detach();
}

/** The bytes of the body of the next request to an operation, when `act` is done. */
async function bodyOf(page: Page, act: () => Promise<void>): Promise<Buffer> {
  const [request] = await Promise.all([page.waitForRequest((one: Request) => one.url().includes("/v1/models/")), act()]);
  return request.postDataBuffer() ?? Buffer.alloc(0);
}

/** Waits until the best answer is this. */
async function best(page: Page, label: string): Promise<void> {
  await page.waitForFunction((expected) => document.querySelector("#best")?.textContent === expected, label);
}

export async function draw(visit: Visit): Promise<unknown> {
  const { page, fixtures, isPhone, key } = visit;
  await page.locator("#ghost").waitFor();
  await check(visit);
  await stroke(page, KA.slice(0, 1), isPhone);
  if (isPhone) {
    // No key yet: it is asked for, and what was drawn is recognised then.
    await page.locator("#key-dialog[open]").waitFor();
    await check(visit);
    await page.locator("#key").fill("ak_wrong");
    await page.keyboard.press("Enter");
    await page.locator("#key-error:not(:empty)").waitFor();
    await page.locator("#key").fill(key);
    await page.keyboard.press("Enter");
  }
  await page.locator("#bars li:not(.none)").first().waitFor();
  await stroke(page, KA.slice(1), isPhone);
  await best(page, "ਕ");
  const n = await page.locator("#bars li:not(.none)").count();
  await check(visit);
  await page.locator("#undo").click();
  await page.locator("#clear").click();
  await page.locator("#ghost").waitFor();

  // The keyboard alone: a long line down is ੧'s neighbour at best, but it is an answer.
  await page.locator("#pad").focus();
  for (const press of ["Space", ...Array<string>(12).fill("ArrowDown"), "Space"]) await page.keyboard.press(press);
  await page.locator("#bars li:not(.none)").first().waitFor();

  await page.locator('[name=kind][value="digit-recognition"]').focus();
  await page.keyboard.press("Space");
  await page.locator("#picture").setInputFiles(`${fixtures}/images/digit-5.png`);
  await best(page, "੫");
  const sent = await bodyOf(page, () => page.locator("#picture").setInputFiles(`${fixtures}/images/digit-3-photo.jpg`));
  await best(page, "੩");
  return { n, isSmall: sent.length < 16 * 1024, code: isPhone ? [] : await runCode(page, "draw") };
}

async function text(download: Promise<Download>): Promise<string> {
  return readFile(await (await download).path(), "utf8");
}

export async function write(visit: Visit): Promise<unknown> {
  const { page, isPhone } = visit;
  await open(visit, "write");
  await page.locator("#page path").first().waitFor(); // the example is written at once
  await check(visit);
  const area = page.locator("#text");
  await area.fill("");
  // With the keyboard alone, on the keyboard of the page.
  await page.locator("#keys-toggle").focus();
  for (const press of ["Enter", "Tab", "ArrowRight", "Enter"]) await page.keyboard.press(press);
  for (const press of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(press);
  const typed = await area.inputValue();
  await check(visit);
  await area.fill("ਪੰਜਾਬੀ");
  const body = await bodyOf(page, () => area.press("Tab").then(() => page.locator("#write-button").press("Enter")));
  await page.waitForFunction(() => document.querySelector("#page")?.getAttribute("aria-label")?.includes("ਪੰਜਾਬੀ"));
  const hand = () => page.evaluate(() => document.querySelector("#page-note")?.textContent);
  const first = await hand();
  await page.locator("#write-button").click();
  await page.waitForFunction((old) => document.querySelector("#page-note")?.textContent !== old, first);
  const wider = await bodyOf(page, () => page.locator("#page-width").press("ArrowRight"));
  const blue = await bodyOf(page, () => page.locator("[value=blue]").check({ force: true }));
  const code = isPhone ? [] : await runCode(page, "write");
  const svg = await text(Promise.all([page.waitForEvent("download"), page.locator("#save-svg").click()]).then(([file]) => file));
  const png = await text(Promise.all([page.waitForEvent("download"), page.locator("#save-png").click()]).then(([file]) => file));
  await area.fill("ਸਤਿ hello");
  await page.locator("#write-button").click();
  const refusal = await page.locator("#write-problem .problem li").textContent();
  if (!isPhone) await check(visit);
  return {
    typed,
    sent: JSON.parse(String(body)),
    width: JSON.parse(String(wider))["page-width"],
    color: JSON.parse(String(blue))["stroke-color"],
    files: [svg.startsWith("<svg") && svg.includes("<path"), png.slice(1, 4)],
    refusal: refusal?.includes("U+0068"),
    code,
  };
}

export async function speak(visit: Visit): Promise<unknown> {
  const { page, fixtures, isPhone } = visit;
  await open(visit, "speak");
  await check(visit);
  if (isPhone) {
    await page.locator("#sound").setInputFiles(`${fixtures}/audio/pa-two-sentences.wav`);
  } else {
    await page.locator("#record").press("Enter");
    await page.locator("#hypothesis:visible").waitFor();
    // The first sentence ends after 2.4 s.
    await page.waitForFunction(() => Number.parseInt(document.querySelector("#time")?.textContent ?? "60") < 57);
    await page.locator("#record").press("Enter");
  }
  await page.locator("#speak-tools").waitFor();
  const lines = page.locator("#lines textarea");
  const first = await lines.first().inputValue();
  const translation = await page.locator("#lines p").first().textContent();
  await check(visit);
  await page.locator("#lines button").first().press("Enter");
  await page.locator("#lines li.now").waitFor();
  const saved = async (id: string) => text(Promise.all([page.waitForEvent("download"), page.locator(id).click()]).then(([file]) => file));
  // The server's subtitles have the translation too, and those of an edited text are made by the page.
  const original = await saved("#save-srt");
  if (!original.includes(`${first}\n${translation}`)) visit.complain(`not the subtitles of the server: ${original}`);
  await lines.first().fill("ਮੇਰੀ ਲਿਖਤ");
  const files = [await saved("#save-srt"), await saved("#save-vtt")];
  const whole = await readFile(`${fixtures}/audio/pa-two-sentences.wav`);
  await page.locator("#sound").setInputFiles({ name: "cut.wav", mimeType: "audio/wav", buffer: whole.subarray(0, 90_000) });
  const warnings = [await page.locator("#speak-warnings li").first().textContent()];
  // English sent as Panjabi.
  await page.locator("#sound").setInputFiles(`${fixtures}/audio/en-weather.wav`);
  const doubt = await page.locator("#lines .doubt").first().textContent();
  // The shades lie behind the words of the text, and name them to who cannot see them.
  const shaded = page.locator("#lines li:has(.shade)").first();
  const [area, shade] = [shaded.locator("textarea"), shaded.locator(".shade")];
  const isBehind = (await area.inputValue()) === (await shade.textContent()) && (await area.getAttribute("aria-description"))?.includes((await shade.locator("mark").first().textContent()) ?? "–");
  const same = async (name: "x" | "y" | "width") => Math.abs(((await area.boundingBox())?.[name] ?? 0) - ((await shade.boundingBox())?.[name] ?? 9)) < 1;
  if (!isBehind || !(await same("x")) || !(await same("y")) || !(await same("width"))) visit.complain("the shades are not behind the words");
  if (!(await page.locator("#shade-hint").isVisible())) visit.complain("the shades are not explained");
  warnings.push(await page.locator("#speak-warnings li").first().textContent());
  await check(visit);
  const { options, code } = await withOptions(visit);
  await page.locator("#sound").setInputFiles(`${fixtures}/audio/SOURCE.md`);
  await page.locator("#speak-problem .problem").waitFor();
  const former = await page.locator("#speak-empty:visible, #speak-code section, #lines li, #speak-warnings li").count();
  if (former > 0) visit.complain("an error is shown with a former result");
  return { first, hasTranslation: translation !== "", files: files.map((file) => file.includes("ਮੇਰੀ ਲਿਖਤ") && file.includes("-->")), warnings, doubt, options, code };
}

/** A language that is detected, a script, key terms and channels. */
async function withOptions(visit: Visit): Promise<{ options: unknown; code: string[] }> {
  const { page, fixtures, isPhone } = visit;
  await page.locator("[name=lang][value=auto]").check({ force: true });
  await page.locator("#speak-more summary").press("Enter");
  await page.locator("#script").selectOption("latin");
  await page.locator("#keyterms").fill("ਨੰਗਲ\n\nਵਿੱਚ");
  await page.locator("#channels").check();
  await check(visit);
  const done = page.locator("#speak-done");
  const heard = async (name: string, text: string) => {
    await page.locator("#sound").setInputFiles(`${fixtures}/audio/${name}`);
    await page.waitForFunction((part) => document.querySelector("#lines textarea")?.getAttribute("lang") !== "" && [...document.querySelectorAll("textarea")].some(({ value }) => value.includes(part)), text);
    const line = page.locator("#lines textarea").first();
    const [found] = ((await done.textContent()) ?? "").split(/[.।]/u);
    return [await line.inputValue(), await line.getAttribute("lang"), await page.locator("#lines .channel").first().textContent(), found];
  };
  const options = [await heard("en-weather.wav", "weather"), await heard("pa-school.wav", "sakūla")];
  await check(visit);
  return { options, code: isPhone ? [] : await runCode(page, "speak") };
}

export async function jobs(visit: Visit): Promise<unknown> {
  const { page, isPhone } = visit;
  await open(visit, "jobs");
  await page.locator("#job-list li").first().waitFor();
  await check(visit);
  await page.locator("#job-list summary").first().press("Enter");
  await page.waitForFunction(() => document.querySelector("#job-list pre")?.textContent?.includes("succeeded"));
  return { isList: (await page.locator("#job-list li").count()) > 3, code: isPhone ? [] : await runCode(page, "jobs") };
}

export async function reference(visit: Visit): Promise<unknown> {
  const { page, base } = visit;
  await page.goto(`${base}/docs`);
  const operation = page.locator("section#digit-recognition");
  await operation.waitFor();
  await operation.locator("summary").first().press("Enter");
  await operation.locator("button.primary").click();
  const answer = await operation.locator(".answer-text").textContent();
  await check(visit);
  const size = page.viewportSize();
  for (const width of [320, 360]) {
    await page.setViewportSize({ width, height: 780 });
    await check(visit);
  }
  if (size) await page.setViewportSize(size);
  // What only operators use is at the end, until it is asked for.
  const apart = page.locator("#operations > details:last-child");
  const folded = [await apart.locator("section#admin-list-keys").isVisible(), await page.locator("#operations > section").last().getAttribute("id")];
  await page.goto(`${base}/docs#admin-list-keys`);
  await apart.locator("section#admin-list-keys").waitFor();
  await check(visit);
  return [answer?.slice(0, 20), ...folded];
}

/** Errors of each kind. */
export async function errors(visit: Visit): Promise<unknown> {
  const { page, base, fixtures } = visit;
  const bar = KA.slice(1);
  await page.goto(`${base}/#draw`);
  const problem = page.locator("#draw-problem .problem");
  const shown: Record<string, string | null> = {};
  await page.locator("#picture").setInputFiles(`${fixtures}/audio/SOURCE.md`);
  shown["no picture"] = await problem.textContent();
  await page.route("**/v1/models/**", (route) =>
    route.fulfill({
      status: 429,
      headers: { "content-type": "application/problem+json", "retry-after": "7" },
      body: JSON.stringify({ type: "/problems/quota-exceeded", title: "Too many requests", status: 429, detail: "d", request_id: "r" }),
    }),
  );
  // Each time one stroke, so that its request has ended when the problem is there.
  await stroke(page, bar, false);
  await page.locator("#draw-problem", { hasText: "Too many requests" }).waitFor();
  shown["quota"] = await problem.textContent();
  await check(visit);
  await page.unroute("**/v1/models/**");
  await page.route("**/v1/models/**", (route) => route.abort());
  await stroke(page, bar, false);
  await page.locator("#draw-problem", { hasText: "cannot be reached" }).waitFor();
  await page.unroute("**/v1/models/**");
  // Two panels send requests with a key that was revoked. The second is refused when the dialog is closed already: it asks for
  // no key again.
  await page.evaluate(() => sessionStorage.setItem("akhar-key", "ak_revoked"));
  const late = Promise.withResolvers<void>();
  await page.route("**/handwriting-generator", (route) => late.promise.then(() => route.continue()));
  await Promise.all([page.waitForRequest("**/handwriting-generator"), open(visit, "write")]); // writes the example
  await open(visit, "draw");
  await stroke(page, bar, false);
  await page.locator("#key-dialog[open]").waitFor();
  shown["key"] = await page.locator("#key-error").textContent();
  await page.keyboard.press("Escape");
  await page.locator("#draw-problem", { hasText: "A key is needed" }).waitFor();
  late.resolve();
  await page.locator("#write-problem", { hasText: "A key is needed" }).waitFor({ state: "attached" });
  await page.unroute("**/handwriting-generator");
  await page.evaluate((key) => sessionStorage.setItem("akhar-key", key), visit.key);
  await open(visit, "write");
  await page.locator("#page path").first().waitFor();
  await page.locator("#text").fill("hello");
  await page.locator("#write-button").click();
  await page.locator("#write-problem .problem").waitFor();
  // Nothing stands under a text that is not written.
  const left = [page.locator("#page path"), page.locator("#save-png:enabled"), page.locator("#page-note:not(:empty)")];
  shown["no text"] = `${await Promise.all(left.map((one) => one.count()))} ${await page.locator("#write-problem").textContent()}`;
  await open(visit, "speak");
  await page.locator("#sound").setInputFiles(`${fixtures}/audio/SOURCE.md`);
  await page.locator("#speak-problem .problem").waitFor();
  shown["no recording"] = await page.locator("#speak-problem .problem").textContent();
  return shown;
}
