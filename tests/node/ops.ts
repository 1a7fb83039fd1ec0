// Looks at the pages of operators in a browser, on a phone and on a large screen, light and dark. Prints what
// is wrong with them, and what the overview showed before and after a job was submitted, as one JSON object.
//
// The environment has BASE, the server's address, and KEY, a key of an operator. The arguments are paths of pages.
import type { BrowserContextOptions, Page } from "playwright-core";
import { inBrowser } from "./browser.ts";
import { faults } from "./faults.ts";

const { BASE = "", KEY = "" } = process.env;
const paths = process.argv.slice(2);

const looks: BrowserContextOptions[] = [
  { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
];

/** Signs in with the keyboard alone. */
async function signIn(page: Page): Promise<void> {
  await page.goto(`${BASE}/ops`);
  await page.locator("#key").focus();
  await page.keyboard.type(KEY);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${BASE}/ops`);
}

async function submit(): Promise<void> {
  const response = await fetch(`${BASE}/v1/models/handwriting-generator`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ text: "ਕਲਮ" }),
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
}

const found: string[] = [];
const waiting: (string | null)[] = [];
await inBrowser(async (browser) => {
  for (const look of looks) {
    const context = await browser.newContext(look);
    const page = await context.newPage();
    page.on("console", (message) => {
      // The page refuses to load a script or style, or the script fails.
      if (message.type() === "error") found.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => found.push(`${page.url()}: ${error}`));
    await page.goto(`${BASE}/ops/login`);
    found.push(...(await faults(page)));
    await signIn(page);
    const number = page.locator("#quick-waiting");
    await page.locator("#live:not([hidden])").waitFor();
    const before = await number.textContent();
    waiting.push(before);
    await submit();
    await page.waitForFunction((old) => document.querySelector("#quick-waiting")?.textContent !== old, before);
    waiting.push(await number.textContent());
    for (const path of ["/ops", ...paths]) {
      await page.goto(BASE + path);
      found.push(...(await faults(page)).map((fault) => `${path} at ${look.viewport?.width}: ${fault}`));
      await page.keyboard.press("Tab");
      const first = await page.evaluate(() => document.activeElement?.getAttribute("href"));
      if (first !== "#main") found.push(`${path}: Tab goes to ${first} first`);
    }
    await context.close();
  }
});
console.log(JSON.stringify({ found, waiting }));
