import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { z } from "zod";

/** One measured figure, with what it is to be compared with. Units that end in "/s" are better high, all others low. */
export const measurementSchema = z.strictObject({
  benchmark: z.string().min(1),
  case: z.string().min(1),
  device: z.string().min(1),
  precision: z.enum(["f64", "f32", "f32x2"]),
  figure: z.number().positive(),
  unit: z.string().min(1),
  /** The best that the hardware allows, in the same unit, from a count of bytes and operations. */
  floor: z.number().positive().optional(),
  /** The same figure for other software, measured in the same run. */
  peers: z.record(z.string().min(1), z.number().positive()).optional(),
  /** Largest absolute error of the results that were timed, against an independent reference. */
  error: z.number().nonnegative().optional(),
  commit: z.string().regex(/^[0-9a-f]{7,40}(\+changes)?$|^unknown$/),
  date: z.iso.date(),
});
export type Measurement = z.infer<typeof measurementSchema>;

/** What a benchmark reports; the harness adds its name, the commit and the date. */
export type Report = Omit<Measurement, "benchmark" | "commit" | "date">;

export interface Context {
  /** Fewer repetitions and smaller sizes, to see that everything runs; not for figures to be quoted. */
  readonly quick: boolean;
  /** The processor: model and number of logical cores. */
  readonly cpu: string;
  report(measurement: Report): void;
  /** A line for the reader: what was counted, what is missing. */
  note(text: string): void;
}

/** What every `bench/*.bench.ts` exports as `benchmark`. */
export interface Benchmark {
  readonly name: string;
  readonly description: string;
  run(context: Context): Promise<void>;
}

/**
 * Runs a benchmark, prints its table, and returns its figures; `reported` is told of each at once, so that a run cut
 * short leaves what it measured.
 */
export async function measure(
  benchmark: Benchmark,
  quick: boolean,
  reported: (measurement: Measurement) => void = () => {},
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const stamp = { commit: commitName(), date: new Date().toISOString().slice(0, 10) };
  console.log(`\n${benchmark.name}: ${benchmark.description}`);
  await benchmark.run({
    quick,
    cpu: cpuName(),
    report: (measurement) => {
      const stamped = { benchmark: benchmark.name, ...measurement, ...stamp };
      measurements.push(stamped);
      reported(stamped);
    },
    note: (text) => {
      console.log(`  ${text}`);
    },
  });
  if (measurements.length > 0) console.log(`\n${table(measurements)}`);
  return measurements;
}

export function cpuName(): string {
  const model = cpus()[0]?.model.replaceAll(/\s+/g, " ").trim() ?? "unknown";
  return `${model}, ${cpus().length} cores`;
}

/**
 * The commit that is measured, marked when the sources differ from it; FEYNKAC_COMMIT says it where there is no
 * repository.
 */
export function commitName(): string {
  const told = process.env["FEYNKAC_COMMIT"];
  if (told !== undefined) return told;
  try {
    const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();
    const changed =
      git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench", ":!bench/results") !== "";
    return `${git("rev-parse", "--short=10", "HEAD")}${changed ? "+changes" : ""}`;
  } catch {
    return "unknown";
  }
}

/**
 * Median seconds of `repetitions` runs after one unmeasured run. The median, because a shared machine only ever adds
 * time and the mean takes it all.
 */
export async function medianSeconds(repetitions: number, run: () => unknown): Promise<number> {
  await run();
  const seconds: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const start = performance.now();
    await run();
    seconds.push((performance.now() - start) / 1e3);
  }
  return median(seconds);
}

/**
 * Figures of two sides measured in turns, since the clock of a shared machine drifts within minutes: three rounds at
 * least, after an unmeasured one, and as many as `milliseconds` allow. Those of the round with the median quotient.
 */
export async function inTurns(
  milliseconds: number,
  one: () => number | Promise<number>,
  other: () => number | Promise<number>,
): Promise<{ readonly one: number; readonly other: number }> {
  const round = async () => ({ one: await one(), other: await other() });
  await round();
  const rounds: { readonly one: number; readonly other: number }[] = [];
  const start = performance.now();
  while (rounds.length < 3 || performance.now() - start < milliseconds) rounds.push(await round());
  return rounds.toSorted((a, b) => a.other / a.one - b.other / b.one)[rounds.length >> 1];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

/**
 * Clock of the core this runs on now, in GHz, from a chain of dependent 32-bit additions and exclusive-ors, one cycle
 * each on every x86 and ARM core of the last decade. Only floors are built on it.
 */
export function clockGHz(): number {
  const rounds = 1 << 17; // under a millisecond, so that some rounds run undisturbed on a busy machine
  let best = Infinity;
  for (let i = 0; i < 200; i++) {
    const start = performance.now();
    chainOf16(rounds);
    best = Math.min(best, performance.now() - start);
  }
  return (16 * rounds) / (best * 1e6);
}

function chainOf16(n: number): number {
  let x = n | 0;
  for (let i = 0; i < n; i++) {
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
    x = ((x + 7) | 0) ^ i;
  }
  return x;
}

const higherIsBetter = (unit: string): boolean => unit.endsWith("/s");

/** Share of the floor that was reached, at most 1 when the floor is one. */
export function fractionOfFloor({ figure, floor, unit }: Report): number | undefined {
  if (floor === undefined) return undefined;
  return higherIsBetter(unit) ? figure / floor : floor / figure;
}

/** How many times better than a peer. */
export function advantage({ figure, unit }: Report, peer: number): number {
  return higherIsBetter(unit) ? figure / peer : peer / figure;
}

const digits = (x: number): string =>
  x >= 1e5 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(x >= 1000 ? 4 : 3)));

/** The measurements as a table of fixed-width columns. */
export function table(measurements: readonly Measurement[]): string {
  const header = ["case", "device", "precision", "figure", "unit", "floor", "of floor", "error", "peers"];
  const rows = measurements.map((m) => [
    m.case,
    m.device,
    m.precision,
    digits(m.figure),
    m.unit,
    m.floor === undefined ? "" : digits(m.floor),
    m.floor === undefined ? "" : `${Math.round(100 * fractionOfFloor(m)!)} %`,
    m.error === undefined ? "" : m.error.toExponential(1),
    Object.entries(m.peers ?? {})
      .map(([name, figure]) => `${name} ${digits(figure)} (${digits(advantage(m, figure))}×)`)
      .join("; "),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 3 || (i > 4 && i < 8) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join("  ")
      .trimEnd();
  return [line(header), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}

/** `bench/results/<benchmark>-<device>.json` for the measurements of one device. */
export function resultFileName(benchmark: string, device: string): string {
  const slug = (text: string): string =>
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "");
  return `${slug(benchmark)}-${slug(device)}.json`;
}
