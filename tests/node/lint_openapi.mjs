// Checks an OpenAPI document by the recommended rules of Redocly, but that a request for a socket is answered with 101: node
// lint_openapi.mjs DOCUMENT
import { createConfig, formatProblems, getTotals, lint } from "@redocly/openapi-core";

const config = await createConfig({ extends: ["recommended"], rules: { "operation-2xx-response": "off" } });
const problems = await lint({ ref: process.argv[2], config });
formatProblems(problems, { format: "stylish", totals: getTotals(problems), version: "" });
process.exitCode = problems.length > 0 ? 1 : 0;
