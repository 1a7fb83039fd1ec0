// Takes pictures of all panels of the playground, on a phone and on a large screen, light and dark, in both languages.
import type { Browser } from "playwright-core";
import { KA, stroke } from "./playground_panels.ts";

/** Writes `PANEL-WIDTH-LOOK-LANGUAGE.png` into the folder. */
export async function pictures(browser: Browser, base: string, key: string, fixtures: string, folder: string): Promise<void> {
  for (const [width, height] of [[390, 844], [1440, 900]] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const locale of ["en", "pa"]) {
        const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale, reducedMotion: "reduce" });
        await context.addInitScript((given) => sessionStorage.setItem("akhar-key", given), key);
        const page = await context.newPage();
        const take = (panel: string) => page.screenshot({ path: `${folder}/${panel}-${width}-${colorScheme}-${locale}.png` });
        await page.goto(`${base}/`);
        await page.evaluate(() => document.fonts.ready);
        await take("empty");
        await stroke(page, KA, false);
        await page.waitForFunction(() => document.querySelector("#best")?.textContent === "ਕ");
        await page.waitForFunction(() => document.getAnimations().length === 0);
        await take("draw");
        await page.goto(`${base}/#write`);
        await page.locator("#page path").first().waitFor();
        await page.locator("[value=blue]").check({ force: true });
        await page.waitForFunction(() => document.querySelector("#write-code pre")?.textContent?.includes("blue"));
        await take("write");
        await page.goto(`${base}/#speak`);
        await page.locator("#sound").setInputFiles(`${fixtures}/audio/pa-two-sentences.wav`);
        await page.locator("#speak-tools").waitFor();
        await page.locator("#lines button").first().click();
        await page.locator("#lines li.now").waitFor();
        await page.evaluate(() => scrollTo(0, 0));
        await take("speak");
        await page.locator("#speak-more summary").click();
        await page.locator("#keyterms").fill("ਵਿੱਚ\nਡੇਰਾ ਬੱਸੀ");
        await page.locator("[name=lang][value=auto]").check({ force: true });
        await take("speak-options");
        await page.goto(`${base}/#jobs`);
        await page.locator("#job-list li").first().waitFor();
        await take("jobs");
        await page.goto(`${base}/docs`);
        await page.locator("section#digit-recognition").waitFor();
        await take("docs");
        await context.close();
      }
    }
  }
}
