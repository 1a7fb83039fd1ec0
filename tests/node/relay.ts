// The backend of a web site, for tests of its pages: it serves a page and passes events of a job on with the API key,
// which the page does not have.
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request for events that the page has sent. */
export type Connection = { path: string; lastEventId: string | null; status: number };

export type Relay = {
  /** The address of the site. */
  base: string;
  connections: Connection[];
  close: () => void;
};

/**
 * Starts the site. A request for `/events/NAME` gets the events at `source`. The first connection to each name breaks
 * after the first occurrence of `cut`, once the page has got all whole events before it: a browser may drop what it has
 * not read of a broken connection. The page sends the id of each event that it gets to `/seen/events/NAME`.
 */
export async function startRelay(source: string, key: string, cut: string): Promise<Relay> {
  const connections: Connection[] = [];
  const seen = new EventEmitter();
  const latest = new Map<string, string>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/events/")) {
      pass(request, response).catch((error: unknown) => response.destroy(error as Error));
    } else if (request.url?.startsWith("/seen/")) {
      const { pathname, searchParams } = new URL(request.url, "http://site");
      const path = pathname.slice("/seen".length);
      latest.set(path, searchParams.get("id") ?? "");
      seen.emit(path);
      response.writeHead(204).end();
    } else {
      response.setHeader("Content-Type", "text/html; charset=utf-8").end("<!doctype html><title>A job</title>");
    }
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const isFirst = connections.every((connection) => connection.path !== path);
    const lastEventId = request.headers["last-event-id"]?.toString() ?? null;
    const headers = new Headers({ Accept: "text/event-stream", Authorization: `Bearer ${key}` });
    if (lastEventId !== null) headers.set("Last-Event-ID", lastEventId);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await fetch(source, { headers, signal: gone.signal });
    connections.push({ path, lastEventId, status: answer.status });
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "text/plain" });
    let sent = "";
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const at = isFirst ? (sent + chunk).indexOf(cut) : -1;
      if (at >= 0) {
        const whole = (sent + chunk).slice(0, at);
        response.write((sent + chunk).slice(sent.length, at + cut.length));
        const lastId = [...whole.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
        while (latest.get(path) !== lastId) await once(seen, path);
        response.destroy();
        return;
      }
      sent += chunk;
      response.write(chunk);
    }
    response.end();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    connections,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
