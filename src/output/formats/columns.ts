/** The columns of a table of results, whatever its format. */
import {
  FIGURE_FIELDS,
  NAMED_SCENARIO_FIELDS,
  type FieldType,
  type Market,
  type PricedTrade,
  REPORTING_FIELDS,
  RESULT_FIELDS,
  SCENARIO_FIELDS,
  SENSITIVITIES,
  type TradeResult,
} from "../../book/index.ts";
import type { OutputHeader } from "./writer.ts";

/** A column of a table of results. Its name is the path of a field of `TradeResult`, with dots. */
export interface ResultColumn {
  readonly name: string;
  readonly type: FieldType | "tag" | "numbers";
  /** Returns the field of a result: a text or a number, a list of texts, or an object or nested lists. */
  readonly value: (result: TradeResult) => unknown;
}

/**
 * Tells whether results need the columns of bonds, caps, swaptions and convertible bonds. They do if their market has a
 * short rate model, credit, or no underlyings.
 */
export const needsBondColumns = ({ rates, credit, underlyings }: Market): boolean =>
  credit.size > 0 || underlyings.size === 0 || [...rates.values()].some(({ kind }) => kind !== "curve");

/** Returns what tables must know of a market: whether results have figures of bonds, and its reporting currency. */
export function marketHeader(market: Market): Pick<OutputHeader, "figures" | "reporting"> {
  const { reporting } = market;
  const named = reporting && { currency: reporting.currency, pairs: reporting.pairs };
  return { figures: needsBondColumns(market), ...(named === undefined ? {} : { reporting: named }) };
}

/** A column of a table of results that contains one tag of each trade, or all of its tags as JSON. */
export interface TagColumn {
  readonly name: string;
  readonly value: (result: Pick<TradeResult, "tags">) => string | number | null;
}

/**
 * Returns one column for each tag. If the names of the tags are not known in advance, returns one column with all tags
 * of a trade as JSON.
 */
export function tagColumns(tags: OutputHeader["tags"]): TagColumn[] {
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

/** What the columns of a table of results depend on. */
export type ColumnsOf = Pick<
  OutputHeader,
  "scenarios" | "scenarioNames" | "sensitivityErrors" | "tags" | "figures" | "reporting"
>;

/** Returns the columns of a table of results. */
export function resultColumns({
  scenarios,
  scenarioNames,
  sensitivityErrors,
  tags,
  figures,
  reporting,
}: ColumnsOf): readonly ResultColumn[] {
  const fields = Object.entries({ ...RESULT_FIELDS, ...(figures === true ? FIGURE_FIELDS : {}) });
  const errors = sensitivityErrors ? SENSITIVITIES : [];
  const nested = [
    ...(scenarios === undefined ? [] : SCENARIO_FIELDS),
    ...(scenarioNames === undefined ? [] : NAMED_SCENARIO_FIELDS),
  ];
  return [
    ...fields.map(([name, type]) => ({ name, type, value: fieldOf(name) })),
    ...tagColumns(tags).map((column) => ({ ...column, type: "tag" as const })),
    ...(reporting === undefined ? [] : reportingColumns(reporting.pairs)),
    ...errors.map((name): ResultColumn => ({
      name: `sensitivityErrorEstimates.${name}`,
      type: "number",
      value: (result) => (result.status === "ok" ? (result.sensitivityErrorEstimates?.[name] ?? null) : null),
    })),
    ...nested.map((name) => ({ name, type: "numbers" as const, value: fieldOf(name) })),
  ];
}

/** Returns the columns of the numbers in the reporting currency, with those by the spots of currency pairs. */
function reportingColumns(pairs: readonly string[]): ResultColumn[] {
  const of = (result: TradeResult): PricedTrade["reporting"] => (result.status === "ok" ? result.reporting : undefined);
  const fields = Object.entries(REPORTING_FIELDS).map(([name, type]): ResultColumn => ({
    name: `reporting.${name}`,
    type,
    value: (result) => of(result)?.[name as keyof typeof REPORTING_FIELDS] ?? null,
  }));
  const deltas = pairs.map((pair): ResultColumn => ({
    name: `reporting.fxDelta.${pair}`,
    type: "number",
    value: (result) => of(result)?.fxDelta[pair] ?? null,
  }));
  return [...fields, ...deltas];
}

/** An error is shown by its message, and what a result does not have is null. */
function fieldOf(name: string): (result: TradeResult) => unknown {
  if (name === "error") return (result) => (result.status === "error" ? result.error.message : null);
  return (result) => Reflect.get(result, name) ?? null;
}
