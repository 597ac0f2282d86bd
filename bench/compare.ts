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

/** The table of a comparison, and the median ratio of each benchmark. */
export function comparisonText(comparisons: readonly Comparison[]): string {
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
  return ["ratio | before | after | unit | case | device", ...rows, "", ...medians].join("\n");
}

/**
 * Reads a set of results: a file, a folder of files, or what `bench/results` was at a commit. @throws Error no such
 * file, folder or commit; a file of another form
 */
export function readResults(name: string): Measurement[] {
  const parse = (text: string): Measurement[] => z.array(measurementSchema).parse(JSON.parse(text));
  if (existsSync(name)) {
    const files = statSync(name).isDirectory()
      ? readdirSync(name).flatMap((file) => (file.endsWith(".json") ? [join(name, file)] : []))
      : [name];
    return files.flatMap((file) => parse(readFileSync(file, "utf8")));
  }
  const git = (...args: string[]): string =>
    execFileSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 26, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const files = git("ls-tree", "--name-only", name, "bench/results/").trim().split("\n");
    return files.flatMap((file) => (file.endsWith(".json") ? parse(git("show", `${name}:${file}`)) : []));
  } catch {
    throw new Error(`${name}: neither a file, nor a folder, nor a commit with bench/results`);
  }
}
