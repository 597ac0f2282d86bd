// npm run docs: writes the API reference, docs/api, from the docstrings of what the package exports.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readEntries, root } from "./api/exports.ts";
import { pagesOf } from "./api/pages.ts";

const folder = join(root, "docs/api");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { file, text } of pagesOf(readEntries())) {
  writeFileSync(join(folder, file), text);
  console.log(`docs/api/${file}`);
}
