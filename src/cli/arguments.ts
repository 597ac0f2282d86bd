/** Parsers of option values. */
import { InvalidArgumentError } from "commander";
import { readFileSync } from "node:fs";
import { BUSINESS_DAYS, businessDaysOf } from "../base/business-days.ts";
import type { ColumnMap } from "../book/index.ts";
import type { TableRows } from "./output.ts";

/** Parses a command-line argument that is a number of table rows, or "all". */
export function parseTableRows(text: string): TableRows {
  return text === "all" ? text : parseWholeNumber(text);
}

/** Collects the paths of an option that may be given several times. */
export function collectPaths(path: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), path];
}

/** Parses a command-line argument that is a list of names, separated by commas. */
export function parseNames(text: string): string[] {
  const all = text.split(",").map((name) => name.trim());
  if (all.includes("")) throw new InvalidArgumentError("expected names with commas between them.");
  return all;
}

/**
 * Parses a command-line argument that says which terms a table's columns are: `CallPut=payoff,Strike=strike`, or the
 * name of a JSON file with `{ "CallPut": "payoff" }`, whose terms may have words: `{ "term", "values" }`.
 */
export function parseColumnMap(text: string): ColumnMap {
  if (text.includes("=")) {
    const pairs = parseNames(text).map((pair) => pair.split("=").map((name) => name.trim()));
    if (pairs.some(([name, ...terms]) => name === "" || terms.length !== 1))
      throw new InvalidArgumentError('expected "COLUMN=term,COLUMN=term", or the name of a JSON file.');
    return Object.fromEntries(pairs) as ColumnMap;
  }
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(text, "utf8"));
  } catch (error) {
    throw new InvalidArgumentError(`cannot read ${text}: ${(error as Error).message}.`);
  }
  const isTerm = (of: unknown): boolean =>
    typeof of === "string" || (isRecord(of) && typeof of.term === "string" && (of.values ?? {}) instanceof Object);
  if (!isRecord(read) || !Object.values(read).every(isTerm))
    throw new InvalidArgumentError(
      `${text}: expected { "COLUMN": "term" } or { "COLUMN": { "term", "values": { "WORD": "value" } } }.`,
    );
  return read as ColumnMap;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses a command-line argument that is the index of a GPU. */
export function parseDeviceIndex(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError("expected a whole number from 0 on.");
  return value;
}

/**
 * Parses a command-line argument that lists distinct GPUs by back end and index, such as cuda:0,cuda:1. Returns the
 * indices.
 */
export function parseDeviceList(text: string): number[] {
  const all = parseNames(text).map((name) => Number(/^cuda:(\d+)$/.exec(name)?.[1]));
  if (all.some((index) => !Number.isInteger(index)) || new Set(all).size < all.length)
    throw new InvalidArgumentError(
      "expected GPUs of the backend cuda, each once, as doctor counts them: cuda:0,cuda:1.",
    );
  return all;
}

/** Parses a command-line argument that is a positive number of seconds. */
export function parseSeconds(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("expected a positive number of seconds.");
  return value;
}

/** Parses a command-line argument that is a positive number. */
export function parsePositive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw new InvalidArgumentError("expected a positive number.");
  return value;
}

/** Parses a command-line argument that is an accuracy from 1e-8 to 1e-3. */
export function parseAccuracy(text: string): number {
  const value = Number(text);
  if (!(value >= 1e-8 && value <= 1e-3)) throw new InvalidArgumentError("expected a number from 1e-8 to 1e-3.");
  return value;
}

/** Parses a command-line argument that is a whole number ≥ 1. */
export function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected a whole number from 1 on.");
  return value;
}

/** Parses a command-line argument that is a whole number ≥ 2. */
export function parseAtLeastTwo(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 2) throw new InvalidArgumentError("expected a whole number from 2 on.");
  return value;
}

/** Parses a command-line argument that is a fraction, written as `0.1%` or 0.001. */
export function parseFraction(text: string): number {
  const [, number, percent] = /^(\d*\.?\d+(?:e-?\d+)?)(%?)$/i.exec(text) ?? [];
  const value = Number(number) / (percent === "%" ? 100 : 1);
  if (!(value > 0 && value <= 1))
    throw new InvalidArgumentError("expected a share from 0 to 1, such as 0.1% or 0.001.");
  return value;
}

/** Parses a command-line argument that is a confidence, written as `99%` or 0.99. */
export function parseConfidence(text: string): number {
  const value = parseFraction(text);
  if (value < 1) return value;
  throw new InvalidArgumentError("expected a share below 1, such as 0.99 or 99%.");
}

/** Parses a command-line argument that is a number of business days, such as `10d` or `2w`. */
export function parseHorizon(text: string): number {
  const days = businessDaysOf(text);
  if (days !== undefined) return days;
  throw new InvalidArgumentError(`expected ${BUSINESS_DAYS}.`);
}

/** Parses a command-line argument that is a port number. */
export function parsePort(text: string): number {
  const value = Number(text);
  if (!(Number.isInteger(value) && value >= 0 && value <= 65_535))
    throw new InvalidArgumentError("expected a port from 0 (any free one) to 65535.");
  return value;
}

/**
 * Parses a command-line argument from 1 to 12, the share of the workers that a job gets relative to other jobs: 2 gets
 * twice as much as 1.
 */
export function parseRunShare(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 12)) throw new InvalidArgumentError("expected a number from 1 to 12.");
  return value;
}
