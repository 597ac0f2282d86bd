import {
  type Market,
  SENSITIVITIES,
  type PricedTrade,
  type SensitivityName,
  type TradeResult,
} from "../../book/index.ts";
import { encoded } from "./encoded.ts";
import type { ResultFormat, RunStart } from "./writer.ts";

/** The columns of a table of results. */
export const RESULT_COLUMNS = [
  "id",
  "underlying",
  "currency",
  "quantity",
  "status",
  "value",
  "delta",
  "gamma",
  "theta",
  "vega",
  "rho",
  "errorEstimate",
  "method",
  "precision",
  "backend",
  "warnings",
  "error",
] as const;
/** The columns of a table of results under scenarios. Their cells are JSON. */
export const SCENARIO_COLUMNS = ["scenarios", "scenarioErrorEstimates"] as const;
/** The columns of numbers that only bonds, caps, swaptions and convertible bonds have. Lists and records are JSON. */
export const FIGURE_COLUMNS = [
  "clean",
  "accrued",
  "yield",
  "duration",
  "convexity",
  "optionAdjustedSpread",
  "keyRates",
  "parameters",
  "parity",
  "bondFloor",
  "creditSensitivity",
] as const;

/**
 * Tells whether trades in a market may be bonds, caps, swaptions or convertible bonds, whose results have further
 * columns. This is so if the market has a short rate model, credit, or no underlyings.
 */
export const hasFigures = ({ rates, credit, underlyings }: Market): boolean =>
  credit.size > 0 || underlyings.size === 0 || [...rates.values()].some(({ kind }) => kind !== "curve");

/** Returns the cell of one of the `FIGURE_COLUMNS` of a result; null if the result does not have the number. */
export function figureOf(result: TradeResult, name: (typeof FIGURE_COLUMNS)[number]): string | number | null {
  const figure = result.status === "ok" ? (result[name] ?? null) : null;
  return typeof figure === "object" && figure !== null ? JSON.stringify(figure) : figure;
}

/**
 * Returns the name of the column with a sensitivity's error estimate. It is the path of the estimate in a result, with
 * dots.
 */
export const sensitivityErrorColumn = (name: SensitivityName): string => `sensitivityErrorEstimates.${name}`;
/** The name of a column in a table of results. */
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** A column with a tag, or with all tags. */
export interface TagColumn {
  readonly name: string;
  readonly value: (result: Pick<TradeResult, "tags">) => string | number | null;
}

/** A column that a table has in addition to the columns of every result, and the function that returns its cells. */
export interface FurtherColumn {
  readonly name: string;
  readonly value: (result: TradeResult) => string | number | null;
}

/**
 * Returns one column for each tag. If the names of the tags are not known in advance, returns one column with all tags
 * of a trade as JSON.
 */
export function tagColumns(tags: RunStart["tags"]): TagColumn[] {
  if (tags === undefined)
    return [{ name: "tags", value: (result) => (result.tags === undefined ? null : JSON.stringify(result.tags)) }];
  return tags.map((name) => ({
    name: `tag.${name}`,
    value: ({ tags: own }) => (own !== undefined && Object.hasOwn(own, name) ? own[name] : null),
  }));
}

/** Returns a tag as text, because the same tag may be a number in one trade and text in another. */
export function tagText({ value }: TagColumn, result: Parameters<TagColumn["value"]>[0]): string | null {
  const tag = value(result);
  return tag === null ? null : String(tag);
}

/**
 * Returns the output format CSV by RFC 4180, with LF line ends and all digits of numbers. Warnings are joined by "; ",
 * and an error is shown by its message.
 */
export function csvFormat(): ResultFormat {
  let further: FurtherColumn[] = [];
  return {
    begin: ({ scenarios, sensitivityErrors, tags, figures }) => {
      further = [
        ...(figures === true ? FIGURE_COLUMNS.map(figureColumn) : []),
        ...tagColumns(tags),
        ...(sensitivityErrors ? SENSITIVITIES.map(errorEstimateColumn) : []),
        ...(scenarios === undefined ? [] : SCENARIO_COLUMNS.map(scenarioColumn)),
      ];
      return `${[...RESULT_COLUMNS, ...further.map(({ name }) => name)].map(cell).join(",")}\n`;
    },
    rows: (rows) => encoded(rows, ({ result }) => `${cellsOf(result, further).map(cell).join(",")}\n`),
    end: () => "",
  };
}

function cellsOf(result: TradeResult, further: readonly FurtherColumn[]): (string | number | null)[] {
  const cells: (string | number | null)[] = RESULT_COLUMNS.map((name) => {
    if (name === "warnings") return result.warnings.join("; ");
    if (name === "error") return result.status === "error" ? result.error.message : null;
    return result[name] ?? null;
  });
  for (const { value } of further) cells.push(value(result));
  return cells;
}

const figureColumn = (name: (typeof FIGURE_COLUMNS)[number]): FurtherColumn => ({
  name,
  value: (result) => figureOf(result, name),
});

function scenarioColumn(name: (typeof SCENARIO_COLUMNS)[number]): FurtherColumn {
  const cellOf = (values: PricedTrade[typeof name]): string | null =>
    values === undefined ? null : JSON.stringify(values);
  return { name, value: (result) => (result.status === "ok" ? cellOf(result[name]) : null) };
}

const errorEstimateColumn = (name: SensitivityName): FurtherColumn => ({
  name: sensitivityErrorColumn(name),
  value: (result) => sensitivityErrorOf(result, name),
});

/** Returns the error estimate of a sensitivity in a result; null if there is none. */
export function sensitivityErrorOf(result: TradeResult, name: SensitivityName): number | null {
  return result.status === "ok" ? (result.sensitivityErrorEstimates?.[name] ?? null) : null;
}

/** Formats a CSV cell, in quotes if necessary. */
export function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
