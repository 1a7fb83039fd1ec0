// Checks an OpenAPI document by the recommended rules of Redocly: node lint_openapi.mjs DOCUMENT
import { createConfig, formatProblems, getTotals, lint } from "@redocly/openapi-core";

const config = await createConfig({ extends: ["recommended"] });
const problems = await lint({ ref: process.argv[2], config });
formatProblems(problems, { format: "stylish", totals: getTotals(problems), version: "" });
process.exitCode = problems.length > 0 ? 1 : 0;
