// Empty jobs through graphile-worker, on the Postgres that PGHOST, PGUSER and PGDATABASE name.
//   node queues.mjs graphile-worker drain|flow N
// drain: N jobs are inserted, 100 a call; then they are worked. flow: they are inserted while they are worked.
// Prints one line of JSON: {"insert_s": …, "work_s": …}; work_s is until the last job is finished in the database.
// The packages lie in the working folder, where setup.sh installs them.
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);

const pg = require("pg");
const AT_A_TIME = 100;
const [, mode, count] = process.argv.slice(2);
const n = Number(count);

// A client that tells when the query says zero.
async function untilZero(query) {
  const client = new pg.Client();
  await client.connect();
  while (Number((await client.query(query)).rows[0].n) > 0) await new Promise((r) => setTimeout(r, 5));
  await client.end();
}

async function insertAll(insert) {
  for (let from = 0; from < n; from += AT_A_TIME) await insert(Math.min(AT_A_TIME, n - from));
}

// Counts finished handlers; resolves with the last.
function counter() {
  let left = n;
  let resolve;
  const all = new Promise((r) => (resolve = r));
  return { all, done: () => --left <= 0 && resolve() };
}

// The settings of https://worker.graphile.org/docs/performance: 24 jobs at once, 25 connections, batched completion, and
// a local queue of 500, which LOCAL_QUEUE changes: all are compared 100 at a time.
async function graphileWorker() {
  const { makeWorkerUtils, run, Logger } = require("graphile-worker");
  const worker = {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: Number(process.env.LOCAL_QUEUE ?? 500) },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: new Logger(() => () => {}),
  };
  // Where there is no connection string, node-postgres reads the PG* names.
  const pgPool = new pg.Pool({ max: 25 });
  pgPool.on("error", console.error);
  pgPool.on("connect", (client) => client.on("error", console.error));
  const utils = await makeWorkerUtils({ pgPool, preset: { worker } });
  await utils.migrate();
  const { all, done } = counter();
  const start = () => run({ pgPool, noHandleSignals: true, preset: { worker }, taskList: { empty: async () => void done() } });
  const insert = (k) => utils.addJobs(Array.from({ length: k }, () => ({ identifier: "empty", payload: {} })));
  const left = "select count(*) as n from graphile_worker.jobs";
  return { insert, start, all, left, stop: async (runner) => { await runner.stop(); await utils.release(); await pgPool.end(); } };
}

const queue = await graphileWorker();
const seconds = (since) => (performance.now() - since) / 1e3;
let started = performance.now();
let insert_s = 0;
if (mode === "drain") {
  await insertAll(queue.insert);
  insert_s = seconds(started);
  started = performance.now();
}
const runner = await queue.start();
if (mode === "flow") {
  await insertAll(queue.insert);
  insert_s = seconds(started);
}
await queue.all;
await untilZero(queue.left);
const work_s = seconds(started);
await queue.stop(runner);
console.log(JSON.stringify({ insert_s, work_s }));
process.exit(0);
