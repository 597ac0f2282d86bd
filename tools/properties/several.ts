/**
 * Random trades of several factors and paths, family by family. A module of properties joins by a line of
 * `severalFamilies`.
 */
import { hestonProperties } from "./heston-properties.ts";
import { hybridProperties } from "./hybrid-properties.ts";
import type { Property } from "./property.ts";
import { type CheckSummary, type RunReport, type Finding, type RunOptions, run } from "./run.ts";

export interface Family {
  readonly name: string;
  readonly properties: readonly Property[];
  /** The share of checks that must hold within the error estimates. */
  readonly within: number;
  /** What fewer than `within` of few checks may be beyond, and no check: errors are at most so many estimates. */
  readonly worstRatio: number;
}

export const severalFamilies: readonly Family[] = [
  { name: "heston", properties: hestonProperties, within: 0.98, worstRatio: 3 },
  { name: "hybrid", properties: hybridProperties, within: 0.98, worstRatio: 3 },
];

export interface FamilyReport {
  readonly family: Family;
  readonly report: RunReport;
  /** The share of checks within the estimates. */
  readonly within: number;
  /** The worst of error and estimate. */
  readonly worst: Finding | undefined;
  readonly worstRatio: number;
  readonly passed: boolean;
}

/** Errors below this part of the spot are rounding, whatever the estimate says. */
const ROUNDING = 1e-9;

const ratioOf = ({ excess, estimate, spot }: Finding): number => excess / (estimate + ROUNDING * spot);

export async function runFamily(family: Family, options: Omit<RunOptions, "properties">): Promise<FamilyReport> {
  const report = await run({ ...options, properties: family.properties });
  const { offenders, checks, failures } = report;
  const total = checks.reduce((sum, { n }) => sum + n, 0);
  const worst = [...offenders].sort((a, b) => ratioOf(b) - ratioOf(a))[0] as Finding | undefined;
  const within = 1 - offenders.length / total;
  const worstRatio = worst === undefined ? 0 : ratioOf(worst);
  const passed = failures.length === 0 && within >= family.within && worstRatio <= family.worstRatio;
  return { family, report, within, worst, worstRatio, passed };
}

/** One line a check: how many, how many within their estimates, the worst ratio of error and estimate. */
export function familyTable(reports: readonly FamilyReport[]): string {
  const lines = reports.flatMap(({ family, report, within, worstRatio, passed }) => [
    ...report.checks.map((check) => checkLine(family.name, check, report)),
    [
      family.name,
      "all",
      report.priced,
      `${(100 * within).toFixed(1)} %`,
      worstRatio.toFixed(1),
      `${report.failures.length} failures, ${passed ? "passed" : "failed"}`,
    ].join(" | "),
  ]);
  return [
    "family | check | n | within the estimate | worst ratio | max error/spot",
    "--- | --- | --- | --- | --- | ---",
    ...lines,
  ].join("\n");
}

function checkLine(
  family: string,
  { check, n, beyondEstimate, worst }: CheckSummary,
  { offenders }: RunReport,
): string {
  const ratio = Math.max(0, ...offenders.filter((finding) => finding.check === check).map(ratioOf));
  const share = `${((100 * (n - beyondEstimate)) / n).toFixed(1)} %`;
  return [family, check, n, share, ratio.toFixed(1), worst.toExponential(1)].join(" | ");
}
