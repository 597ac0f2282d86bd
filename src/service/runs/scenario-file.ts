/** The named scenarios of a run that come from a table of their own, which is stored beside the manifest. */
import * as z from "zod";
import { FACTOR_KINDS, type ScenarioTable } from "../../book/index.ts";
import { RunError } from "./error.ts";
import type { Manifest } from "./manifest.ts";
import { hashOf, type NewFile, type Store } from "./storage/index.ts";

/** The name of the file. Every process that prices a part reads it, wherever the table was. */
export const SCENARIO_FILE = "scenarios.json";

const schema = z.object({
  names: z.array(z.string()),
  factors: z.array(z.object({ kind: z.enum(FACTOR_KINDS), of: z.string(), at: z.number().optional() })),
  /** The moves [factor][scenario]; null for a factor that a scenario does not name. */
  moves: z.array(z.number().nullable()),
  years: z.array(z.number()),
  weights: z.array(z.number()).optional(),
});

/** Returns the file of a table. Its bytes depend on the scenarios alone, not on the format in which they were given. */
export function scenarioFileOf({ names, factors, moves, years, weights }: ScenarioTable): NewFile {
  const written: z.infer<typeof schema> = {
    names: [...names],
    factors: [...factors],
    moves: Array.from(moves, (by) => (Number.isNaN(by) ? null : by)),
    years: [...years],
    ...(weights === undefined ? {} : { weights: [...weights] }),
  };
  return { name: SCENARIO_FILE, bytes: new TextEncoder().encode(`${JSON.stringify(written)}\n`) };
}

/** Returns the hash of a table's file. */
export const scenarioHash = (table: ScenarioTable): string => hashOf(scenarioFileOf(table).bytes);

/**
 * Reads the named scenarios of a run; undefined if the run has those of its book, or none. @throws RunError a file that
 * is missing, or that has other scenarios than the run began with; StorageError
 */
export async function readScenarios(store: Store, { scenarioFile }: Manifest): Promise<ScenarioTable | undefined> {
  if (scenarioFile === undefined) return undefined;
  const bytes = await store.read(SCENARIO_FILE);
  if (bytes === undefined) throw new RunError(`${store.url}/${SCENARIO_FILE}: missing, but the run needs it`);
  if (hashOf(bytes) !== scenarioFile.sha256)
    throw new RunError(`${store.url}/${SCENARIO_FILE}: other scenarios than those with which the run began`);
  const { names, factors, moves, years, weights } = schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  return {
    names,
    factors,
    moves: Float64Array.from(moves, (by) => by ?? Number.NaN),
    years: Float64Array.from(years),
    ...(weights === undefined ? {} : { weights: Float64Array.from(weights) }),
  };
}
