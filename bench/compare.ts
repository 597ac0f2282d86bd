/** Ratios of kept results: which figures are slower in one set than in the other. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Measurement, measurementSchema, median } from "./harness.ts";

/** One figure in both sets. */
export interface Comparison {
  readonly benchmark: string;
  readonly case: string;
  readonly device: string;
  readonly precision: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** Time over time, or its equivalent for rates: above 1 the second set is slower. */
  readonly ratio: number;
}

const keyOf = (one: Measurement): string => [one.benchmark, one.case, one.device, one.precision, one.unit].join("\n");

/** Pairs the figures that both sets have, the largest ratio first. Of equal cases the last figure counts. */
export function compare(before: readonly Measurement[], after: readonly Measurement[]): Comparison[] {
  const known = new Map(before.map((one) => [keyOf(one), one.figure]));
  return [...new Map(after.map((one) => [keyOf(one), one])).entries()]
    .flatMap(([key, { benchmark, case: name, device, precision, unit, figure }]): Comparison[] => {
      const old = known.get(key);
      if (old === undefined) return [];
      const ratio = unit.endsWith("/s") ? old / figure : figure / old;
      return [{ benchmark, case: name, device, precision, unit, before: old, after: figure, ratio }];
    })
    .toSorted((a, b) => b.ratio - a.ratio);
}

/** The figures that one set has and the other has not, of those benchmarks and devices that both have. */
export function missingIn(set: readonly Measurement[], other: readonly Measurement[]): Measurement[] {
  const runOf = ({ benchmark, device }: Measurement): string => `${benchmark}\n${device}`;
  const [keys, runs] = [new Set(set.map(keyOf)), new Set(set.map(runOf))];
  return other.filter((one) => runs.has(runOf(one)) && !keys.has(keyOf(one)));
}

/** The table of a comparison, the median ratio of each benchmark, and what one of both sets has not. */
export function comparisonText(before: readonly Measurement[], after: readonly Measurement[]): string {
  const comparisons = compare(before, after);
  const digits = (value: number): string => String(Number(value.toPrecision(4)));
  const rows = comparisons.map(({ ratio, before, after, unit, benchmark, case: name, device, precision }) =>
    [ratio.toFixed(3), digits(before), digits(after), unit, `${benchmark}: ${name}`, `${device}, ${precision}`].join(
      " | ",
    ),
  );
  const names = [...new Set(comparisons.map(({ benchmark }) => benchmark))].toSorted();
  const medians = names.map((name) => {
    const own = comparisons.filter(({ benchmark }) => benchmark === name);
    return `${median(own.map(({ ratio }) => ratio)).toFixed(3)} | median of ${own.length} | ${name}`;
  });
  const alone = (title: string, missing: readonly Measurement[]): string[] =>
    missing.map(({ figure, unit, benchmark, case: name, device, precision }) =>
      [title, digits(figure), unit, `${benchmark}: ${name}`, `${device}, ${precision}`].join(" | "),
    );
  const missing = [...alone("only before", missingIn(after, before)), ...alone("only after", missingIn(before, after))];
  return ["ratio | before | after | unit | case | device", ...rows, "", ...medians, ...missing].join("\n");
}

/**
 * Reads a set of results: a file, a folder of files, or what `bench/results` was at a commit. @throws Error no such
 * file, folder or commit; a file of another form
 */
export function readResults(name: string): Measurement[] {
  const parse = (file: string, text: string): Measurement[] => {
    try {
      return z.array(measurementSchema).parse(JSON.parse(text));
    } catch (error) {
      throw new Error(`${file}: no list of measurements: ${(error as Error).message}`, { cause: error });
    }
  };
  if (existsSync(name)) {
    const files = statSync(name).isDirectory()
      ? readdirSync(name).flatMap((file) => (file.endsWith(".json") ? [join(name, file)] : []))
      : [name];
    return files.flatMap((file) => parse(file, readFileSync(file, "utf8")));
  }
  const git = (...args: string[]): string =>
    execFileSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 26, stdio: ["ignore", "pipe", "ignore"] });
  let files: string[];
  try {
    files = git("ls-tree", "--name-only", name, "bench/results/").trim().split("\n");
  } catch {
    throw new Error(`${name}: neither a file, nor a folder, nor a commit with bench/results`);
  }
  return files.flatMap((file) => (file.endsWith(".json") ? parse(file, git("show", `${name}:${file}`)) : []));
}
