// Writes akhar.d.ts, the types of the interface that the server at BASE describes.
import { writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const FILE = ts.factory.createTypeReferenceNode("Blob");
const types = await openapiTS(new URL(`${process.env.BASE}/openapi.json`), {
  // A field with a default need not be sent.
  defaultNonNullable: false,
  transform: (schema) => (schema.format === "binary" ? FILE : undefined),
});
await writeFile("akhar.d.ts", astToString(types));
