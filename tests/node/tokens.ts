// Uses a token on pages in a browser, one of them of another origin than the token's. Prints what each got as one JSON
// object.
//
// The environment has BASE, the server's address. The arguments are a token for handwriting and the addresses of the
// pages.
import { inBrowser } from "./browser.ts";

type Got = { status: number; job: string | null; events: string[] } | string;

const [token = "", ...pages] = process.argv.slice(2);
const { BASE: base = "" } = process.env;

/** Runs in the page: submits a job and follows it. */
async function use({ base, token }: { base: string; token: string }): Promise<Got> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "respond-async" };
  const body = JSON.stringify({ text: "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ" });
  let response: Response;
  try {
    response = await fetch(`${base}/v1/models/handwriting-generator`, { method: "POST", headers, body });
  } catch (error) {
    return (error as Error).name;
  }
  const { id } = (await response.json()) as { id: string };
  const source = new EventSource(`${base}/v1/jobs/${id}/events?token=${token}`);
  const events = await new Promise<string[]>((resolve, reject) => {
    const seen: string[] = [];
    source.addEventListener("state", () => seen.push("state"));
    source.addEventListener("done", () => resolve([...seen, "done"]));
    source.addEventListener("error", () => reject(new Error("the stream broke")));
  });
  source.close();
  return { status: response.status, job: response.headers.get("akhar-job"), events };
}

const got = await inBrowser(async (browser) => {
  const all: Got[] = [];
  for (const address of pages) {
    const page = await browser.newPage();
    await page.goto(address);
    all.push(await page.evaluate(use, { base, token }));
  }
  return all;
});
console.log(JSON.stringify({ got }));
