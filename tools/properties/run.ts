/** Draws samples, prices their trades together, and compares. */
import { parseBook, type TradeResult } from "../../src/book/index.ts";
import type { Device } from "../../src/device/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { bookOf, type Contract, ndjson, type Valued } from "./contract.ts";
import type { Comparison, Property, Sample } from "./property.ts";
import { Random } from "./random.ts";

export interface RunOptions {
  readonly device: Device;
  readonly properties: readonly Property[];
  readonly trades: number;
  readonly seed: number;
  readonly accuracy?: number;
  readonly onProgress?: (priced: number) => void;
}

/** A comparison, with what it takes to see it again. */
export interface Finding extends Comparison {
  readonly property: string;
  readonly spot: number;
  readonly contracts: readonly Contract[];
  readonly values: readonly Valued[];
}

export interface CheckSummary {
  readonly check: string;
  n: number;
  beyondEstimate: number;
  beyond1e5: number;
  beyond2e5: number;
  /** The largest excess, relative to spot. */
  worst: number;
}

export interface RunReport {
  readonly priced: number;
  /** Trades without a finite value and estimate. */
  readonly failures: readonly Finding[];
  readonly checks: readonly CheckSummary[];
  /** Beyond their estimates, worst first. */
  readonly offenders: readonly Finding[];
}

/** Trades priced at once: enough to fill the device, few enough to keep memory small. */
const TOGETHER = 2000;

export async function run(options: RunOptions): Promise<RunReport> {
  const random = new Random(options.seed);
  const pick = picker(options.properties);
  const checks = new Map<string, CheckSummary>();
  const offenders: Finding[] = [];
  const failures: Finding[] = [];
  let priced = 0;
  while (priced < options.trades) {
    const samples = drawSamples(pick, random, Math.min(TOGETHER, options.trades - priced));
    const contracts = samples.flatMap((sample) => sample.contracts);
    const values = await priceAll(contracts, options);
    let start = 0;
    for (const sample of samples) {
      const own = values.slice(start, (start += sample.contracts.length));
      for (const finding of judge(sample, own)) {
        if (Number.isNaN(finding.excess)) failures.push(finding);
        else if (tally(checks, finding)) offenders.push(finding);
      }
    }
    priced += contracts.length;
    options.onProgress?.(priced);
  }
  offenders.sort((a, b) => beyond(b) - beyond(a));
  return { priced, failures, checks: [...checks.values()].sort((a, b) => (a.check < b.check ? -1 : 1)), offenders };
}

interface NamedSample extends Sample {
  readonly property: string;
}

/** Samples of as many trades, or a few more. */
function drawSamples(pick: (random: Random) => Property, random: Random, trades: number): NamedSample[] {
  const samples: NamedSample[] = [];
  for (let count = 0; count < trades;) {
    const property = pick(random);
    const sample = property.draw(random);
    if (sample === undefined) continue;
    samples.push({ ...sample, property: property.name });
    count += sample.contracts.length;
  }
  return samples;
}

/** Draws properties by weight. */
function picker(properties: readonly Property[]): (random: Random) => Property {
  const total = properties.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let left = random.uniform(0, total);
    return properties.find(({ weight }) => (left -= weight) < 0) ?? properties[properties.length - 1];
  };
}

/** The excess over the estimates, relative to spot. */
export const beyond = ({ excess, estimate, spot }: Finding): number => (excess - estimate) / spot;

/** Rounding, of closed forms too, relative to spot. */
const ROUNDING = 1e-9;

/** Counts a finding. @returns whether it is beyond its estimate */
function tally(checks: Map<string, CheckSummary>, finding: Finding): boolean {
  const { check, excess, spot } = finding;
  const summary = checks.get(check) ?? { check, n: 0, beyondEstimate: 0, beyond1e5: 0, beyond2e5: 0, worst: 0 };
  checks.set(check, summary);
  const over = beyond(finding);
  summary.n++;
  summary.worst = Math.max(summary.worst, excess / spot);
  if (over > ROUNDING) summary.beyondEstimate++;
  if (over > 1e-5) summary.beyond1e5++;
  if (over > 2e-5) summary.beyond2e5++;
  return over > ROUNDING;
}

function judge(sample: NamedSample, values: readonly Valued[]): Finding[] {
  const { contracts, property } = sample;
  const spot = Math.max(...contracts.map((contract) => contract.spot));
  const finding = (comparison: Comparison): Finding => ({ ...comparison, property, spot, contracts, values });
  const broken = values.filter(({ value, estimate }) => !Number.isFinite(value) || !Number.isFinite(estimate));
  if (broken.length > 0)
    return [finding({ check: `${property}: ${broken[0].error ?? "not finite"}`, excess: NaN, estimate: NaN })];
  return sample.compare(values).map(finding);
}

async function priceAll(contracts: readonly Contract[], { device, accuracy }: RunOptions): Promise<Valued[]> {
  // A book has one set of scenarios, and one choice of a method.
  const groups = new Map<string, number[]>();
  contracts.forEach(({ scenarios, method }, i) => {
    const key = JSON.stringify([scenarios ?? null, method ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  const values: Valued[] = [];
  for (const indices of groups.values()) {
    const book = parseBook(JSON.stringify(bookOf(indices.map((i) => contracts[i]))));
    const { method } = contracts[indices[0]];
    const { results } = await priceBook(book, {
      device,
      greeks: "none",
      ...(method === undefined ? {} : { method }),
      ...(accuracy === undefined ? {} : { accuracy: { relative: accuracy } }),
    });
    results.forEach((result, i) => (values[indices[i]] = valued(result)));
  }
  return values;
}

function valued(result: TradeResult): Valued {
  if (result.status === "error") return { value: NaN, estimate: NaN, error: result.error.message };
  const { value, errorEstimate, scenarios } = result;
  return { value, estimate: errorEstimate, ...(scenarios === undefined ? {} : { scenarios }) };
}

/** The table, the failures, and the `top` worst findings of each check as trades to price again. */
export function reportText({ priced, failures, checks, offenders }: RunReport, top: number): string {
  const columns = ["n", "beyond estimate", "beyond estimate + 1e-5", "beyond estimate + 2e-5", "max d/spot"];
  const rows = checks.map(({ check, n, beyondEstimate, beyond1e5, beyond2e5, worst }) =>
    [check, n, beyondEstimate, beyond1e5, beyond2e5, worst.toExponential(1)].join(" | "),
  );
  const total = (of: (summary: CheckSummary) => number): number =>
    checks.reduce((sum, summary) => sum + of(summary), 0);
  const all = total(({ n }) => n);
  const outside = total(({ beyondEstimate }) => beyondEstimate);
  return [
    ["check", ...columns].join(" | "),
    ["---", ...columns.map(() => "---")].join(" | "),
    ...rows,
    ["all", all, outside, total((s) => s.beyond1e5), total((s) => s.beyond2e5), ""].join(" | "),
    `${priced} trades priced, ${failures.length} failures`,
    ...failures.slice(0, 10 * top).map(findingText),
    ...worstOfEach(offenders, top).map(findingText),
  ].join("\n");
}

/** The worst of every check; checks in the order of their worst. */
function worstOfEach(offenders: readonly Finding[], top: number): Finding[] {
  const byCheck = new Map<string, Finding[]>();
  for (const finding of offenders) byCheck.set(finding.check, [...(byCheck.get(finding.check) ?? []), finding]);
  return [...byCheck.values()].flatMap((findings) => findings.slice(0, top));
}

export function findingText(finding: Finding): string {
  const { check, excess, estimate, expected, spot, contracts, values } = finding;
  const shown = values.map(({ value, estimate: of }) => `${value} ± ${of.toExponential(1)}`).join("; ");
  const known = expected === undefined ? "" : ` (exact: ${expected})`;
  return [
    "",
    `# ${check}: off by ${(excess / spot).toExponential(2)} of spot, estimate ${(estimate / spot).toExponential(1)}`,
    `# ${shown}${known}`,
    booksOf(contracts),
  ].join("\n");
}

/** A book of the contracts with scenarios, and one of those without. */
function booksOf(contracts: readonly Contract[]): string {
  const [within, without] = [true, false].map((has) =>
    contracts.filter(({ scenarios }) => (scenarios !== undefined) === has),
  );
  return [within, without]
    .filter(({ length }) => length > 0)
    .map(ndjson)
    .join("\n");
}
