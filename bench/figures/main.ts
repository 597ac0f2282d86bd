// npm run figures: draws bench/results into docs/, and writes its figures into the documents that quote them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { measurementSchema } from "../harness.ts";
import { blocks, withBlock } from "./blocks.ts";
import { Kept } from "./kept.ts";
import { tridiagonalFigures } from "./tridiagonal.ts";

const results = join(import.meta.dirname, "../results");
const root = join(import.meta.dirname, "../..");
const measurements = readdirSync(results)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => z.array(measurementSchema).parse(JSON.parse(readFileSync(join(results, name), "utf8"))));
for (const { file, svg } of tridiagonalFigures(measurements)) {
  writeFileSync(join(root, "docs", file), svg);
  console.log(`docs/${file}`);
}
const kept = new Kept(measurements);
for (const { file, name, text } of blocks) {
  const path = join(root, file);
  writeFileSync(path, withBlock(readFileSync(path, "utf8"), name, text(kept)));
  console.log(`${file}: ${name}`);
}
