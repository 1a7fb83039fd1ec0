// Checks an OpenAPI document by the recommended rules of Redocly: node lint_openapi.mjs DOCUMENT
import { createConfig, formatProblems, getTotals, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended"],
  rules: {
    // A probe takes nothing that could be wrong.
    "operation-4xx-response": "off",
    // The data of events is text in the document, so nothing refers to its schemas.
    "no-unused-components": "off",
  },
});
const problems = await lint({ ref: process.argv[2], config });
formatProblems(problems, { format: "stylish", totals: getTotals(problems), version: "" });
process.exitCode = problems.length > 0 ? 1 : 0;
