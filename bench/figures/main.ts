// npm run figures: draws what stands in bench/results into docs/.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { measurementSchema } from "../harness.ts";
import { tridiagonalFigures } from "./tridiagonal.ts";

const results = join(import.meta.dirname, "../results");
const docs = join(import.meta.dirname, "../../docs");
const measurements = readdirSync(results)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => z.array(measurementSchema).parse(JSON.parse(readFileSync(join(results, name), "utf8"))));
for (const { file, svg } of tridiagonalFigures(measurements)) {
  writeFileSync(join(docs, file), svg);
  console.log(`docs/${file}`);
}
