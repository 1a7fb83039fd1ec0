// How quick the playground is in a browser, and how large: first paint, the time from an input to the next frame, and bytes.
import type { Browser } from "playwright-core";
import { stroke } from "./playground_panels.ts";

type Entry = { name: string; duration: number; startTime: number; transferSize?: number; decodedBodySize?: number };

/** Prints the medians of five visits, each with an empty cache. */
export async function measure(browser: Browser, base: string, key: string): Promise<void> {
  const paints: number[] = [];
  const inputs: [number, string][] = [];
  const sizes = new Map<string, [number, number]>();
  for (let visit = 0; visit < 5; visit++) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    await context.addInitScript((given) => {
      sessionStorage.setItem("akhar-key", given);
      const seen: [number, string][] = [];
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        // Presses of a pointer or a key, and not the events that a pointer causes on its way.
        const pressed = list.getEntries().filter((entry) => (entry as PerformanceEntry & { interactionId: number }).interactionId > 0);
        seen.push(...pressed.map(({ duration, name }) => [duration, name] as [number, string]));
      }).observe({
        type: "event",
        durationThreshold: 16,
      } as PerformanceObserverInit);
    }, key);
    const page = await context.newPage();
    await page.goto(`${base}/`);
    await page.locator("#ghost").waitFor();
    await stroke(page, [[[0.3, 0.3], [0.5, 0.5], [0.7, 0.3]], [[0.2, 0.6], [0.8, 0.6]]], false);
    await page.locator("#bars li:not(.none)").first().waitFor();
    for (const panel of ["write", "speak", "jobs", "draw"]) await page.locator(`.sections a[href="/#${panel}"]`).click();
    await page.locator("#clear").click();
    const entries = await page.evaluate(() => [
      performance.getEntriesByType("paint"),
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")],
    ].map((list) => list.map((entry) => entry.toJSON())));
    const [paint, resources] = entries as [Entry[], Entry[]];
    paints.push(paint.find(({ name }) => name === "first-contentful-paint")?.startTime ?? NaN);
    inputs.push(...(await page.evaluate(() => (window as unknown as { seen: [number, string][] }).seen)));
    for (const { name, transferSize = 0, decodedBodySize = 0 } of resources) {
      const kind = name.includes("/v1/") ? "" : name.endsWith(".woff2") ? "fonts" : name.endsWith(".css") ? "style" : name.endsWith(".js") ? "scripts" : "page, icon";
      const [sent, plain] = sizes.get(kind) ?? [0, 0];
      if (kind !== "" && visit === 0) sizes.set(kind, [sent + transferSize, plain + decodedBodySize]);
    }
    await context.close();
  }
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
  console.log(`first paint: ${middle(paints).toFixed(0)} ms (${paints.map((paint) => paint.toFixed(0)).join(", ")})`);
  const slowest = inputs.toSorted(([a], [b]) => b - a).slice(0, 5);
  console.log(`input to next frame, the slowest of ${inputs.length}: ${slowest.map(([ms, name]) => `${name} ${ms} ms`).join(", ")}`);
  for (const [kind, [sent, plain]] of sizes) console.log(`${kind}: ${(sent / 1024).toFixed(1)} kB sent, ${(plain / 1024).toFixed(1)} kB plain`);
}
