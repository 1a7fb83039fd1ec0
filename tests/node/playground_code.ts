// Runs the requests that the playground shows as code, as somebody does who pastes them.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

const { KEY = "", PYTHON = "python3" } = process.env;
const run = promisify(execFile);

/** The languages in the order of the page, with the program and the ending of its files. */
const PROGRAMS = [["sh", "sh"], [PYTHON, "py"], [process.execPath, "mjs"]] as const;

/** Runs the three programs that a panel shows, beside the file that they send. Returns what each of them prints first. */
export async function runCode(page: Page, panel: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), panel));
  const place = page.locator(`#${panel}-code`);
  const saved = place.locator(".code-head > button").first();
  if (await saved.isVisible()) {
    const [file] = await Promise.all([page.waitForEvent("download"), saved.click()]);
    await file.saveAs(join(folder, file.suggestedFilename()));
  }
  const texts: string[] = [];
  for (const nth of PROGRAMS.keys()) {
    await place.locator(".code-tabs button").nth(nth).click();
    texts.push((await place.locator("pre").textContent()) ?? "");
  }
  const env = { ...process.env, KEY, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  const printed = PROGRAMS.map(async ([program, ending], nth) => {
    const file = `request.${ending}`;
    await writeFile(join(folder, file), texts[nth] ?? "");
    const { stdout } = await run(program, [file], { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 });
    return stdout.replaceAll(/\s/g, "").slice(0, 30);
  });
  return Promise.all(printed);
}
