// Starts Debian's Chromium for tests of pages.
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** Where Debian's packages have it. scripts/setup.sh installs the first when none is there. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Keeps it from requests of its own, which fail or hang on a machine without a way out. */
const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Runs `use` in a new browser with a profile of its own and further `flags`, and ends the browser whatever happens. */
export async function inBrowser<T>(use: (browser: Browser) => Promise<T>, flags: string[] = []): Promise<T> {
  const executablePath = PROGRAMS.find((program) => existsSync(program));
  if (executablePath === undefined) throw new Error(`no Chromium at ${PROGRAMS.join(" or ")}: run \`make test\``);
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
  try {
    return await use(browser);
  } finally {
    await browser.close();
  }
}
