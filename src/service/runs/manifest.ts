/** The format of `manifest.json`, the description of a run that is stored with its result files. */
import * as z from "zod";
import { type CurrencyTotals, METHOD_NAMES, type Scenarios } from "../../book/index.ts";
import { packageCommit, packageVersion } from "../../output/formats/index.ts";
import { RunError } from "./error.ts";
import type { NewFile, Store } from "./storage/index.ts";

/** The name of the manifest file, which describes a book that is priced in chunks. */
export const MANIFEST_FILE = "manifest.json";

const count = z.int().min(0);
const number = z.number();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const nullable = z.number().nullable();
const nested = z.array(z.array(z.array(nullable)));

const device = z.object({ backend: z.enum(["cpu", "webgpu", "cuda"]), name: z.string() });

/** The schema of the number of trades that are missing in each sum. */
const missing = <Name extends string>(...names: readonly Name[]) =>
  z.partialRecord(z.enum(names), count).exactOptional();

const bucket = z.object({
  factor: z.enum(["spot", "volatility", "rate", "dividend", "spread"]),
  of: z.string(),
  at: z.union([z.string(), number, z.object({ expiry: z.union([z.string(), number]), strike: number }), z.null()]),
  value: number,
  errorEstimate: nullable,
});

const totals: z.ZodType<CurrencyTotals> = z.object({
  currency: z.string(),
  trades: count,
  value: number,
  cashDelta: nullable,
  theta: nullable,
  rho: nullable,
  missing: missing("cashDelta", "theta", "rho"),
  errorEstimate: number,
  underlyings: z.array(
    z.object({
      underlying: z.string(),
      trades: count,
      delta: nullable,
      gamma: nullable,
      vega: nullable,
      cashDelta: nullable,
      missing: missing("delta", "gamma", "vega", "cashDelta"),
    }),
  ),
  buckets: z.array(bucket).exactOptional(),
  scenarios: z.array(nested).exactOptional(),
  scenarioErrorEstimates: nested.exactOptional(),
  scenarioValues: z.array(nullable).exactOptional(),
  scenarioValueErrorEstimates: z.array(nullable).exactOptional(),
});

/** The number of trades that depend on doubtful fits to quotes, and the first warning about one; absent if none do. */
const doubtful = { doubtful: count.exactOptional(), doubt: z.string().exactOptional() };

/** The schema that validates the description of a priced chunk. */
export const chunkOutcomeSchema = z.object({
  /** The path of the result file in the run's folder. The name contains the start of the file's hash. */
  part: z.string().regex(/^parts\/\d{5,}-[0-9a-f]{16}\.parquet$/),
  sha256: hash,
  bytes: count,
  priced: count,
  failed: count,
  ...doubtful,
  totals: z.array(totals),
  device,
});

const chunk = z.object({
  first: count,
  rows: count,
  repeated: z.array(count).optional(),
  bytes: z.object({ start: count, end: count, line: count }).optional(),
  /** The expected time of pricing the chunk on one core. */
  seconds: number,
  outcome: chunkOutcomeSchema.optional(),
});

const scenarios = z.object({
  time: z.array(number),
  spot: z.array(z.union([number, z.record(z.string(), number)])),
  volatility: z.array(number),
  rate: z.array(number),
}) satisfies z.ZodType<Scenarios>;

/** The schema that validates the options that determine the results, besides the book itself. */
export const runOptionsSchema = z.object({
  greeks: z.enum(["all", "buckets", "grid", "none"]),
  sensitivityErrorEstimates: z.boolean(),
  timePerTrade: number.optional(),
  strict: z.boolean().optional(),
  accuracy: number.optional(),
  method: z.enum(METHOD_NAMES).optional(),
  precision: z.enum(["f64", "f32", "f32x2"]),
});

const timing = z.object({
  /** The time that pricing took. */
  seconds: number,
  finished: z.string(),
  /** The host and the process that priced the chunk. */
  by: z.string(),
});

const mappedTerm = z.object({
  term: z.string(),
  values: z.record(z.string(), z.union([z.string(), number])).optional(),
});
const file = z.object({ place: z.string(), bytes: count, sha256: hash });

/** The schema that validates the manifest of a book that is priced in chunks. */
export const manifestSchema = z.object({
  feynkac: z.object({ version: z.string(), commit: z.string().optional() }),
  status: z.enum(["running", "complete"]),
  book: file.extend({
    format: z.enum(["json", "ndjson", "csv", "parquet"]),
    /** The columns of a table that are kept as tags, and the names of all tags if the columns determine them. */
    keep: z.array(z.string()).optional(),
    /** The columns of a table that have names of their own for terms of trades. */
    map: z.record(z.string(), z.union([z.string(), mappedTerm])).optional(),
    tags: z.array(z.string()).optional(),
  }),
  /** The market's file and the hash of its contents. A market inside the book has only the hash. */
  market: z.object({
    place: z.string().optional(),
    sha256: hash,
    spots: z.record(z.string(), number),
    /** True if tables have columns for the figures of bonds, caps, swaptions and convertibles. */
    figures: z.boolean().optional(),
    /** The reporting currency, and the currency pairs to which results have sensitivities in it. */
    reporting: z.object({ currency: z.string(), pairs: z.array(z.string()) }).optional(),
  }),
  asOf: z.string(),
  scenarios: scenarios.optional(),
  /** The names of the named scenarios, in the order of their values. */
  scenarioNames: z.array(z.string()).optional(),
  /** The weights of the named scenarios, if they differ. */
  scenarioWeights: z.array(number).optional(),
  /** The table of named scenarios that replaces those of the book, as it is stored beside the manifest. */
  scenarioFile: z.object({ place: z.string(), sha256: hash }).optional(),
  seed: count,
  options: runOptionsSchema,
  trades: count,
  priced: count.optional(),
  failed: count.optional(),
  ...doubtful,
  totals: z.array(totals).optional(),
  /** The devices that priced trades of the run, without repetitions. */
  devices: z.array(device).optional(),
  chunks: z.array(chunk),
  /** The data that differ when the same run is repeated. */
  timings: z.object({
    started: z.string(),
    finished: z.string().optional(),
    chunks: z.array(timing.nullable()),
  }),
});

/**
 * The manifest of a run, which is a book that is priced in chunks of trades: the book's location and hash, the options,
 * the chunks, and the outcome of each of them.
 */
export type Manifest = z.infer<typeof manifestSchema>;
/** A chunk of consecutive trades in the manifest of a run. */
export type RunChunk = Manifest["chunks"][number];
/** The outcome of pricing a chunk of trades: the file with its results, the file's hash, and the totals. */
export type ChunkOutcome = z.infer<typeof chunkOutcomeSchema>;
/** The duration of pricing a chunk of trades, the time at which it ended, and the process that did it. */
export type ChunkTiming = z.infer<typeof timing>;
/** The options of a run that determine its results. */
export type RunOptions = Manifest["options"];

/** Returns the version and the commit of this package, as manifests record them. */
export function packageIdentity(): Manifest["feynkac"] {
  const commit = packageCommit();
  return { version: packageVersion(), ...(commit === undefined ? {} : { commit }) };
}

/**
 * Reads the manifest of a run from its folder; undefined if there is none. @throws RunError an invalid manifest;
 * StorageError
 */
export async function readManifest(store: Store): Promise<Manifest | undefined> {
  const bytes = await store.read(MANIFEST_FILE);
  if (bytes === undefined) return undefined;
  const place = `${store.url}/${MANIFEST_FILE}`;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new RunError(`${place}: not JSON: ${(cause as Error).message}`, { cause });
  }
  const { data, error } = manifestSchema.safeParse(value);
  if (data !== undefined) return data;
  const [{ path, message }] = error.issues;
  throw new RunError(`${place}: not the manifest of a run: ${path.join(".")}: ${message}`);
}

/** Reads the manifest of a run from its folder. @throws RunError if there is none; as `readManifest` */
export async function requireManifest(store: Store): Promise<Manifest> {
  const manifest = await readManifest(store);
  if (manifest !== undefined) return manifest;
  throw new RunError(
    `${store.url}: there is no run: expected a folder with ${MANIFEST_FILE}, as price --output FOLDER/ makes`,
  );
}

/**
 * Writes the manifest of a run as JSON, with each chunk on one line, after the files that it names. @throws
 * StorageError
 */
export async function writeManifest(store: Store, manifest: Manifest, named: readonly NewFile[] = []): Promise<void> {
  const lines = (items: readonly unknown[]): string => items.map((item) => `\n    ${JSON.stringify(item)}`).join(",");
  const { chunks, timings, ...rest } = manifest;
  const fields = Object.entries(rest).filter(([, value]) => value !== undefined);
  const text = [
    "{",
    ...fields.map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    `  "chunks": [${lines(chunks)}\n  ],`,
    `  "timings": ${JSON.stringify(timings)}`,
    "}\n",
  ];
  await store.write([...named, { name: MANIFEST_FILE, bytes: new TextEncoder().encode(text.join("\n")) }]);
}
