/** Writes the totals of groups as a table, in the formats that have one table. */
import type { CurrencyTotals, GroupTotals, ReportingTotals } from "../../book/index.ts";
import { beginArrow } from "./arrow.ts";
import { csvCell } from "./csv.ts";
import { beginParquet, type ParquetColumn } from "./parquet.ts";
import type { OutputPiece, OutputTotals, ResultWriter, TableFormat } from "./writer.ts";

/**
 * A row of the table. The numbers of a level are sums of what can be added: of one currency ("currency"), of one
 * underlying in it ("underlying"), of all in the reporting currency ("reporting"), and the derivative in it by the spot
 * of one currency pair ("fx"). Rows of one level add up to the book, those of several do not.
 */
interface GroupRow {
  readonly group: GroupTotals["group"];
  readonly level: "currency" | "underlying" | "reporting" | "fx";
  readonly currency: string;
  readonly underlying: string | null;
  readonly trades: number;
  readonly numbers: Readonly<Partial<Record<(typeof NUMBERS)[number], number | null>>>;
}

const NUMBERS = ["value", "delta", "gamma", "vega", "cashDelta", "theta", "rho", "errorEstimate"] as const;

/** Returns the writer of totals by group, which leaves out the results of trades. */
export function groupWriter(format: Exclude<TableFormat, "xlsx">, groupBy: readonly string[]): ResultWriter {
  const columns = columnsOf(groupBy);
  let table: { add(rows: readonly GroupRow[]): Uint8Array; end(): Uint8Array } | undefined;
  return {
    begin: async ({ asOf, device }) => {
      if (format === "arrow") table = beginArrow(columns, { asOf, device }, "file");
      if (format === "parquet") table = await beginParquet(columns, { asOf, device });
      return "";
    },
    rows: () => "",
    end: (totals) =>
      table === undefined ? textOf(format, columns, totals) : joined(table.add(rowsOf(totals)), table.end()),
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/**
 * Returns the totals of a book as a table of the columns of `groupWriter`. With `groupBy` they are those of its groups
 * alone, so that the rows of one level add up to the book.
 */
export function totalsTable(
  groupBy: readonly string[],
  output: OutputTotals,
): { readonly columns: readonly string[]; readonly rows: (string | number | null)[][] } {
  const columns = columnsOf(groupBy);
  const { totals, reporting } = output;
  const book = {
    groups: totals.map((one) => ({ group: {}, ...one })),
    reportingGroups: reporting === undefined ? [] : [{ group: {}, ...reporting }],
  };
  const rows = rowsOf(groupBy.length === 0 ? book : output);
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => columns.map(({ value }) => value(row) as string | number | null)),
  };
}

function textOf(format: TableFormat, columns: readonly ParquetColumn<GroupRow>[], totals: OutputTotals): OutputPiece {
  const { groups = [], reportingGroups = [] } = totals;
  if (format === "ndjson") return [...groups, ...reportingGroups].map((group) => `${JSON.stringify(group)}\n`).join("");
  const line = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(",")}\n`;
  const rows = rowsOf(totals).map((row) => line(columns.map(({ value }) => value(row) as string | number | null)));
  return line(columns.map(({ name }) => name)) + rows.join("");
}

function columnsOf(groupBy: readonly string[]): readonly ParquetColumn<GroupRow>[] {
  const text = (name: string, value: (row: GroupRow) => string | null): ParquetColumn<GroupRow> => ({
    name,
    type: "string",
    value,
  });
  const labelOf = (label: string | number | null | undefined): string | null =>
    label === null || label === undefined ? null : String(label);
  return [
    ...groupBy.map((name) => text(`group.${name}`, ({ group }) => labelOf(group[name]))),
    text("level", ({ level }) => level),
    text("currency", ({ currency }) => currency),
    text("underlying", ({ underlying }) => underlying),
    { name: "trades", type: "number", value: ({ trades }) => trades },
    ...NUMBERS.map((name): ParquetColumn<GroupRow> => ({
      name,
      type: "number",
      value: ({ numbers }) => numbers[name] ?? null,
    })),
  ];
}

function rowsOf({
  groups = [],
  reportingGroups = [],
}: Pick<OutputTotals, "groups" | "reportingGroups">): readonly GroupRow[] {
  return [
    ...groups.flatMap((one) => [total(one, "currency"), ...underlyings(one)]),
    ...reportingGroups.flatMap((one) => [total(one, "reporting"), ...pairs(one)]),
  ];
}

type Group = Pick<GroupTotals, "group">;

function total(
  { group, currency, trades, value, cashDelta, theta, rho, errorEstimate }: CurrencyTotals & Group,
  level: "currency" | "reporting",
): GroupRow {
  const numbers = { value, cashDelta, theta, rho, errorEstimate };
  return { group, level, currency, underlying: null, trades, numbers };
}

const underlyings = ({ group, currency, underlyings: all }: GroupTotals): readonly GroupRow[] =>
  all.map(({ underlying, trades, delta, gamma, vega, cashDelta }) => ({
    group,
    level: "underlying",
    currency,
    underlying,
    trades,
    numbers: { delta, gamma, vega, cashDelta },
  }));

const pairs = ({ group, currency, trades, fxDelta }: ReportingTotals & Group): readonly GroupRow[] =>
  Object.entries(fxDelta).map(([pair, delta]) => ({
    group,
    level: "fx",
    currency,
    underlying: pair,
    trades,
    numbers: { delta },
  }));
