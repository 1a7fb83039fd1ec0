// Uses the playground in a browser, as people do: every panel with the mouse, with touch and with the keyboard. Prints what is
// wrong with it, and what it showed, as one JSON object.
//
// The environment has BASE, the address of the server, KEY, a key, LINK, the link that `akhar serve` printed, and PYTHON, the path
// of a Python with the package requests. The first argument is the folder of the fixtures. The second is `desktop` (a large
// screen, light, in English), `phone` (a phone, dark, in Panjabi), `measure`, which prints how quick the page is and how large, or
// `pictures` with a folder, to which it writes pictures of all panels.
import type { BrowserContextOptions } from "playwright-core";
import { inBrowser } from "./browser.ts";
import { late } from "./playground_late.ts";
import { live } from "./playground_live.ts";
import { measure } from "./playground_measure.ts";
import { pictures } from "./playground_pictures.ts";
import { draw, errors, jobs, reference, speak, write, type Visit } from "./playground_panels.ts";

const { BASE = "", KEY = "", LINK = "" } = process.env;
const [fixtures = "", mode, folder = ""] = process.argv.slice(2);

const looks: Record<"desktop" | "phone", BrowserContextOptions> = {
  desktop: { viewport: { width: 1440, height: 900 }, colorScheme: "light", locale: "en" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "pa", hasTouch: true, isMobile: true },
};

/** The microphone hears a recording of ours, once. */
const FLAGS = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  `--use-file-for-fake-audio-capture=${fixtures}/audio/pa-two-sentences.wav%noloop`,
];

/** Uses everything. The key is handed over by the link on the desktop, and typed on the phone. */
async function visit(name: "desktop" | "phone"): Promise<void> {
  const found: string[] = [];
  const shown: Record<string, unknown> = {};
  await inBrowser(async (browser) => {
    const context = await browser.newContext({ ...looks[name], acceptDownloads: true, permissions: ["microphone"] });
    const page = await context.newPage();
    const complain = (what: unknown) => found.push(`${name} ${page.url()}: ${what}`);
    page.on("pageerror", complain);
    // The browser refuses a script or a style. Requests that fail on purpose are not counted.
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("Failed to load resource")) complain(message.text());
    });
    const there: Visit = { page, base: BASE, key: KEY, fixtures, isPhone: name === "phone", complain };
    if (name === "desktop") {
      await page.goto(LINK);
      await page.waitForFunction(() => sessionStorage.getItem("akhar-key") !== null);
      shown["handedOver"] = [(await page.evaluate(() => sessionStorage.getItem("akhar-key"))) === KEY, page.url()];
      const late = await (await browser.newContext()).newPage();
      await late.goto(LINK);
      await late.locator("#key-dialog[open]").waitFor();
      shown["usedLink"] = await late.locator("#key-error").textContent();
    } else {
      await page.goto(`${BASE}/`);
    }
    Object.assign(shown, { draw: await draw(there), write: await write(there), speak: await speak(there) });
    Object.assign(shown, { jobs: await jobs(there), reference: await reference(there) });
    if (name === "desktop") Object.assign(shown, { errors: await errors(there), live: await live(there), late: await late(there) });
    await context.close();
  }, FLAGS);
  console.log(JSON.stringify({ found, shown }));
}

if (mode === "measure") await inBrowser((browser) => measure(browser, BASE, KEY));
else if (mode === "pictures") await inBrowser((browser) => pictures(browser, BASE, KEY, fixtures, folder));
else await visit(mode === "phone" ? "phone" : "desktop");
