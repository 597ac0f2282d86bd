/** The table of what the error estimates cover, and its place in docs/accuracy.md. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Family, ReferenceKind } from "./case.ts";
import { multipleOf, type Outcome } from "./price.ts";

/** The share of trades that must be within their estimates, and the largest multiple of an estimate. */
export const WITHIN = 0.98;
export const FARTHEST = 3;

/** What is kept of a family's trades. */
export interface Row {
  readonly family: string;
  readonly methods: readonly string[];
  readonly reference: ReferenceKind;
  readonly draws: string;
  readonly trades: number;
  readonly within: number;
  readonly worst: number;
  /** Relative to the spot or the notional. */
  readonly medianError: number;
  readonly medianEstimate: number;
  /** Trades without a value. */
  readonly refused: number;
  readonly seconds: number;
  /** Whether time ended before all trades were priced. */
  readonly cut: boolean;
}

export function rowOf(family: Family, outcomes: readonly Outcome[], seconds: number, cut: boolean): Row {
  const { name, reference, draws } = family;
  const priced = outcomes.filter(({ error }) => error === undefined);
  const multiples = priced.map(multipleOf);
  return {
    family: name,
    reference,
    draws,
    methods: [...new Set(priced.map(({ method }) => method))].toSorted(),
    trades: priced.length,
    within: multiples.filter((multiple) => multiple <= 1).length,
    worst: Math.max(0, ...multiples),
    medianError: median(priced.map((one) => Math.abs(one.value - one.reference.value) / one.scale)),
    medianEstimate: median(priced.map((one) => one.estimate / one.scale)),
    refused: outcomes.length - priced.length,
    seconds,
    cut,
  };
}

function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

export const hasPassed = ({ trades, within, worst, refused }: Row): boolean =>
  trades > 0 && refused === 0 && within >= WITHIN * trades && worst <= FARTHEST;

export function lineOf(row: Row): string {
  const { family, methods, reference, trades, within, worst, medianError, medianEstimate, refused, seconds, cut } = row;
  return [
    family,
    methods.join(", "),
    reference,
    `${trades}${refused > 0 ? `, ${refused} without a value` : ""}${cut ? ", time ended" : ""}`,
    `${((100 * within) / trades).toFixed(1)} %`,
    worst.toFixed(2),
    medianError.toExponential(1),
    medianEstimate.toExponential(1),
    `${seconds.toFixed(0)} s`,
    hasPassed(row) ? "passed" : "FAILED",
  ].join(" | ");
}

/** A text in a table, where a bar would end its cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|");

const table = (header: readonly string[], lines: readonly (readonly string[])[]): string =>
  [header, header.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** What docs/accuracy.md has between its markers: a table of what came out, and what was drawn. */
export function contentOf(rows: readonly Row[]): string {
  const found = rows.map((row) => [
    cell(row.family),
    row.reference,
    String(row.trades),
    `${((100 * row.within) / row.trades).toFixed(1)} %`,
    row.worst.toFixed(2),
    row.medianError.toExponential(0),
    row.medianEstimate.toExponential(0),
  ]);
  const draws = [...new Set(rows.map((row) => row.draws))].map((text) => {
    const own = rows.filter((row) => row.draws === text);
    const families = own.map(({ family, methods }) => `${family} (${methods.map((name) => `\`${name}\``).join(", ")})`);
    return wrapped(`* ${text}: ${families.join("; ")}`);
  });
  const results = ["family", "reference", "trades", "within", "worst", "median error", "median estimate"];
  const listed = "Draws, of which families, and the methods that priced them:";
  return [table(results, found), listed, draws.join("\n")].join("\n\n");
}

/** Breaks the text of an item into lines. */
function wrapped(text: string): string {
  let length = 0;
  return text
    .split(" ")
    .map((word) => {
      const fits = length + 1 + word.length <= 120;
      length = word.length + (fits ? length + 1 : 2);
      return fits ? ` ${word}` : `\n  ${word}`;
    })
    .join("")
    .trimStart();
}

const [BEGIN, END] = ["<!-- coverage -->", "<!-- /coverage -->"];

/** Puts the table and the draws between their markers. */
export function writeTable(file: string, rows: readonly Row[]): void {
  const text = readFileSync(file, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${file}: expected ${BEGIN} and ${END}`);
  writeFileSync(file, `${text.slice(0, from + BEGIN.length)}\n\n${contentOf(rows)}\n\n${text.slice(to)}`);
}
