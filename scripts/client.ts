// Writes the types of the service's client, examples/service/generated, from the OpenAPI document: npm run client.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import openapiTypescript, { type OpenAPI3 } from "openapi-typescript";
import { openApi } from "../src/service/http/index.ts";

export const CLIENT = join(import.meta.dirname, "../examples/service/generated/service.ts");

/** The source of the types. They are the same for every version and all limits of one schema. */
export function clientTypes(): Promise<string> {
  const limits = { bytes: 0, trades: 0, seconds: 0, requests: 0, accuracy: 0, markets: 0 };
  return openapiTypescript(JSON.parse(JSON.stringify(openApi("0.0.0", limits))) as OpenAPI3);
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(dirname(CLIENT), { recursive: true });
  writeFileSync(CLIENT, await clientTypes());
}
