#!/bin/sh
# openai for Node.js 7.59.0: a Realtime socket is opened with TLS, whatever the scheme of the client's base URL.
#
# Guess: the scheme of the base URL decides, as for requests: http becomes ws.
# Found: a client whose baseURL is http://127.0.0.1:… sends its requests in plain text and opens its sockets with wss to the same
# port, for conversations and for transcription. A server that speaks plain HTTP there gets a TLS handshake, and the program
# an error of the TLS library that names neither scheme. A function may build another URL, but one that is not wss is refused.
# The package for Python takes the scheme of the base URL.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund openai@7.59.0 ws@8.23.0
cat >try.mjs <<'EOF'
import { createServer } from "node:net";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const server = createServer((socket) => {
  socket.once("data", (first) => {
    console.log(first[0] === 0x16 ? "the socket begins with a TLS handshake" : `the socket begins with ${first.subarray(0, 3)}`);
    socket.destroy();
    server.close();
  });
  socket.on("error", () => {});
});
server.listen(0, "127.0.0.1", () => {
  const client = new OpenAI({ apiKey: "key", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
  const live = new OpenAIRealtimeWS({ intent: "transcription" }, client);
  live.on("error", () => {});
  console.log(`base URL ${new URL(client.baseURL).protocol}, socket ${live.url.protocol}`);
});
EOF
node try.mjs | tee said
grep --quiet "base URL http:, socket wss:" said
grep --quiet "the socket begins with a TLS handshake" said
