// Sends each request of the operations as Postman does at first, after a file was chosen: postman.mjs COLLECTION FIXTURES
// The environment has AKHAR_URL and AKHAR_KEY.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import newman from "newman";

const [path, fixtures] = process.argv.slice(2);
const collection = JSON.parse(readFileSync(path, "utf8"));
const requests = (items) => items.flatMap((item) => (item.item ? requests(item.item) : [item]));
const address = (item) => item.request.url.path.join("/");
collection.item = requests(collection.item).filter(
  (item) => item.request.method === "POST" && /^v1\/(models|audio)\//.test(address(item)),
);
assert(collection.item.length > 5);
for (const item of collection.item) {
  const file = { "digit": "images/digit-5.png", "alpha": "images/letter-ka.png" }[address(item).slice(10, 15)];
  for (const part of item.request.body.formdata ?? []) {
    if (part.type === "file") part.src = `${fixtures}/${file ?? "audio/pa-school.wav"}`;
  }
}
const envVar = [
  { key: "baseUrl", value: process.env.AKHAR_URL },
  { key: "bearerToken", value: process.env.AKHAR_KEY },
];
newman.run({ collection, envVar }, (error, { run }) => {
  assert.ifError(error);
  for (const { request, response } of run.executions) {
    assert.equal(response?.code, 200, `${request.url.getPath()}: ${response?.stream}`);
  }
});
