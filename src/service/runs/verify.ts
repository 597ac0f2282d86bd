/** Verifies that the stored files of a run match its manifest. */
import { Totals } from "../../book/index.ts";
import { RunError } from "./error.ts";
import type { Manifest, ChunkOutcome, RunChunk } from "./manifest.ts";
import { addRowsToTotals, type ResultRow, readResultFile } from "./result-file.ts";
import { readScenarios } from "./scenario-file.ts";
import { hashOf, type Store } from "./storage/index.ts";
import { sumTotals } from "./sum-totals.ts";

/** The result of checking a run against its manifest. */
export interface Verification {
  /** The number of chunks whose result file matches the manifest. */
  readonly intact: number;
  /** The number of results in those files. */
  readonly rows: number;
  /** The problems found, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Yields the results of each chunk of a complete run, in the book's order. @throws RunError a result file that does not
 * match the manifest
 */
export async function* readChunkResults(store: Store, manifest: Manifest): AsyncGenerator<readonly ResultRow[]> {
  for (const [i, chunk] of manifest.chunks.entries()) {
    const rows = await verifyChunk(store, manifest, i, chunk);
    if (typeof rows === "string") throw new RunError(rows);
    yield rows;
  }
}

/** A function that is called with the results of each chunk whose file matches the manifest. */
export type VisitChunk = (chunk: number, rows: readonly ResultRow[]) => Promise<void> | void;

/** Reads every result file of a run and checks it against the manifest. @throws StorageError; the signal's reason */
export async function verifyRun(
  store: Store,
  manifest: Manifest,
  signal: AbortSignal,
  visit: VisitChunk = () => undefined,
): Promise<Verification> {
  const problems: string[] = [];
  let [whole, rows, next] = [0, 0, 0];
  for (const [i, chunk] of manifest.chunks.entries()) {
    signal.throwIfAborted();
    if (chunk.first !== next) problems.push(`chunk ${i}: begins at trade ${chunk.first}, expected ${next}`);
    next = chunk.first + chunk.rows;
    const found = await verifyChunk(store, manifest, i, chunk);
    if (typeof found === "string") problems.push(found);
    else {
      whole++;
      rows += found.length;
      await visit(i, found);
    }
  }
  await readScenarios(store, manifest).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
    problems.push(error.message);
  });
  if (next !== manifest.trades) problems.push(`the chunks have ${next} trades, the manifest says ${manifest.trades}`);
  return { intact: whole, rows, problems: [...problems, ...sumProblems(manifest)] };
}

async function verifyChunk(
  store: Store,
  manifest: Manifest,
  i: number,
  { rows: expected, outcome }: RunChunk,
): Promise<readonly ResultRow[] | string> {
  if (outcome === undefined) return `chunk ${i}: not priced; price with --resume to complete the run`;
  const bytes = await store.read(outcome.part);
  if (bytes === undefined) return `${outcome.part}: missing`;
  if (hashOf(bytes) !== outcome.sha256) return `${outcome.part}: other bytes than its hash says`;
  let rows: ResultRow[];
  try {
    rows = await readResultFile(bytes, manifest, outcome.part);
  } catch (error) {
    return (error as Error).message;
  }
  if (rows.length !== expected) return `${outcome.part}: ${rows.length} results, expected ${expected}`;
  return totalsProblem(rows, outcome) ?? rows;
}

function totalsProblem(rows: readonly ResultRow[], { part, priced, failed, totals }: ChunkOutcome): string | undefined {
  const sums = new Totals();
  addRowsToTotals(sums, rows);
  if (sums.priced !== priced || sums.failed !== failed)
    return `${part}: ${sums.priced} priced and ${sums.failed} failed, the manifest says ${priced} and ${failed}`;
  return JSON.stringify(sums.totals) === JSON.stringify(totals)
    ? undefined
    : `${part}: other totals than the manifest's`;
}

function sumProblems(manifest: Manifest): string[] {
  const outcomes = manifest.chunks.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]));
  if (manifest.status !== "complete") return ["the run is not complete; price with --resume to complete it"];
  const problems: string[] = [];
  for (const name of ["priced", "failed"] as const) {
    const sum = outcomes.reduce((total, outcome) => total + outcome[name], 0);
    if (sum !== manifest[name]) problems.push(`${sum} trades ${name}, the manifest says ${manifest[name]}`);
  }
  const totals = sumTotals(outcomes.map((outcome) => outcome.totals));
  if (JSON.stringify(totals) !== JSON.stringify(manifest.totals))
    problems.push("the totals are not the sums of the parts' totals");
  return problems;
}
