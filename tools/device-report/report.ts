/** The report: a table for people, records for bench/results. */
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { commitName, type Measurement, resultFileName } from "../../bench/harness.ts";
import type { Row } from "./run.ts";

/** Something that did not run. */
export interface Skipped {
  readonly what: string;
  readonly reason: string;
}

/** What each device is made of, by its name. */
export type Software = ReadonlyMap<string, string>;

const precisionOf = ({ target }: Row): string =>
  target.fma === "exact" ? `${target.precision}, exact` : target.precision;

const errorOf = ({ worst, unit }: Row): string =>
  worst === 0 ? "0" : `${worst < 0.01 || worst >= 1e4 ? worst.toExponential(2) : worst.toPrecision(3)} ${unit}`;

export const titleOf = (row: Row): string => `${row.target.name}, ${precisionOf(row)}: ${row.family}`;

const HEADER = ["family", "device", "precision", "cases", "failed", "worst error", "where", "s"];
const NUMBERS = new Set([3, 4, 7]);

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.family,
    row.target.name,
    precisionOf(row),
    String(row.cases),
    String(row.failures.length),
    errorOf(row),
    row.worst === 0 ? "" : row.where,
    row.seconds.toFixed(1),
  ]);
  const widths = HEADER.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i].length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (NUMBERS.has(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join("  ");
  return [HEADER, widths.map((width) => "─".repeat(width)), ...cells].map((row) => line(row).trimEnd()).join("\n");
}

/** Most failures of one row that are printed. */
const MAX_FAILURES = 10;

export function failuresOf(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => {
    const shown = row.failures.slice(0, MAX_FAILURES).map((failure) => `  ${failure}`);
    const more = row.failures.length - shown.length;
    const title = `FAILED: ${titleOf(row)}`;
    if (shown.length === 0) return [];
    return [title, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
  });
}

/**
 * Two for each row, the number of cases and the worst error, and one for each device and precision that says all about
 * it.
 */
export function recordsOf(rows: readonly Row[], software: Software): Measurement[] {
  const stamp = { commit: commitName(), date: new Date().toISOString().slice(0, 10) };
  const targetOf = (row: Row): string => `${row.target.name}, ${precisionOf(row)}`;
  const all = [...new Set(rows.map(targetOf))].flatMap((target) => {
    const mine = rows.filter((row) => targetOf(row) === target);
    return [summaryOf(mine, software.get(mine[0].target.name) ?? ""), ...mine.flatMap(recordsOfRow)];
  });
  return all.map((record) => ({ benchmark: "device-suite", ...record, ...stamp }));
}

type Figure = Omit<Measurement, "benchmark" | "commit" | "date">;

function recordOf({ target }: Row, text: string): Pick<Figure, "case" | "device" | "precision"> {
  const variant = target.fma === "exact" ? "fma exact; " : "";
  return { case: `${variant}${text}`, device: target.name, precision: target.precision };
}

function summaryOf(rows: readonly Row[], software: string): Figure {
  const cases = rows.reduce((sum, row) => sum + row.cases, 0);
  const failed = rows.reduce((sum, row) => sum + row.failures.length, 0);
  return {
    ...recordOf(rows[0], `all: ${failed} failed; Node ${process.version}; ${software}`),
    figure: cases,
    unit: "cases",
  };
}

function recordsOfRow(row: Row): Figure[] {
  const { family, cases, failures, worst, where, unit } = row;
  const error = Number.isFinite(worst) ? { error: worst } : {};
  const counts = { ...recordOf(row, `${family}: ${failures.length} failed`), figure: cases, unit: "cases", ...error };
  if (worst === 0 || !Number.isFinite(worst)) return [counts];
  return [counts, { ...recordOf(row, `${family}: worst, ${where}`), figure: worst, unit, error: worst }];
}

/** One file, or a folder with a file for each device. */
export function save(output: string, records: readonly Measurement[]): string[] {
  if (output.endsWith(".json")) return [written(output, records)];
  mkdirSync(output, { recursive: true });
  const devices = [...new Set(records.map(({ device }) => device))];
  return devices.map((device) => {
    const mine = records.filter((record) => record.device === device);
    return written(join(output, resultFileName(mine[0].benchmark, device)), mine);
  });
}

function written(file: string, records: readonly Measurement[]): string {
  writeFileSync(file, `${JSON.stringify(records, null, 2)}\n`);
  return file;
}
