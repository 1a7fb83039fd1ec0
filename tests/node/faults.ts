// What is wrong with a page in a browser: findings of axe, and content that is wider than the window.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

type Rule = { id: string; impact: string | null; nodes: { html: string; failureSummary?: string }[] };
declare const axe: { run(): Promise<{ violations: Rule[] }> };

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is wrong with a page as it is now. */
export async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  // A phone shows content that is too wide by a wider window.
  const most = page.viewportSize()?.width ?? 0;
  return page.evaluate(async (most) => {
    const { violations } = await axe.run();
    const found = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
    const width = document.documentElement.scrollWidth;
    return width > most ? [...found, `it is ${width} pixels wide`] : found;
  }, most);
}
