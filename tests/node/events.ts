// Follows a job in a browser with `EventSource`, through a site that adds the key and breaks each first connection.
// Prints what the page and the site got as one JSON object.
//
// The environment has BASE, the server's address, and KEY. The arguments are the id of a job, and the text of its
// stream at which the first connections break.
import { inBrowser } from "./browser.ts";
import { startRelay } from "./relay.ts";

type Seen = { name: string; id: string; data: unknown };

const [job = "", cut = ""] = process.argv.slice(2);
const { BASE = "", KEY = "" } = process.env;

/** Runs in the page. Returns all events, once the stream is closed for good: by the page after `done`, or by a 204. */
function follow({ path, closes }: { path: string; closes: boolean }): Promise<Seen[]> {
  return new Promise((resolve) => {
    const seen: Seen[] = [];
    const source = new EventSource(path);
    for (const name of ["state", "progress", "segment", "done"]) {
      source.addEventListener(name, ({ lastEventId, data }) => {
        seen.push({ name, id: lastEventId, data: JSON.parse(data) });
        void fetch(`/seen${path}?id=${lastEventId}`);
        if (name === "done" && closes) {
          source.close();
          resolve(seen);
        }
      });
    }
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) resolve(seen);
    });
  });
}

const site = await startRelay(`${BASE}/v1/jobs/${job}/events`, KEY, cut);
try {
  const [closed, ended] = await inBrowser(async (browser) => {
    const page = await browser.newPage();
    await page.goto(site.base);
    return await Promise.all([
      page.evaluate(follow, { path: "/events/closed", closes: true }),
      page.evaluate(follow, { path: "/events/ended", closes: false }),
    ]);
  });
  console.log(JSON.stringify({ closed, ended, connections: site.connections }));
} finally {
  site.close();
}
