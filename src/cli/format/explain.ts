/** Formats the result of `feynkac explain` as JSON and CSV. The output is the concatenation of the yielded texts. */
import type { ExplainedTrade, ExplainReport, ExplainTerm } from "../../pricing/index.ts";
import { csvCell, type TagColumn, tagColumns } from "../../output/formats/index.ts";

/** Returns the names of the terms of a P&L explanation, in order. */
export function termNames({ totals, results }: ExplainReport): ExplainTerm[] {
  const terms = totals[0]?.terms ?? results.find((row) => row.terms !== null)?.terms ?? {};
  return Object.keys(terms) as ExplainTerm[];
}

/** Yields the report of `feynkac explain` as NDJSON, with one trade on each line. */
export function* explainNdjson({ results }: ExplainReport): Generator<string> {
  for (const row of results) yield `${JSON.stringify(row)}\n`;
}

/** Yields the report of `feynkac explain` as one JSON object, an `ExplainReport`, with one trade on each line. */
export function* explainJson({
  results,
  explained,
  failed,
  totals,
  groups,
  ...head
}: ExplainReport): Generator<string> {
  const fields = (of: object): string =>
    Object.entries(of)
      .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(",\n");
  yield `{\n${fields(head)},\n  "results": [`;
  for (const [i, row] of results.entries()) yield `${i === 0 ? "" : ","}\n    ${JSON.stringify(row)}`;
  const sums = { explained, failed, totals, ...(groups === undefined ? {} : { groups }) };
  yield `${results.length === 0 ? "" : "\n  "}],\n${fields(sums)}\n}\n`;
}

/**
 * The names of the columns with numbers in a P&L explanation: those to the left of its terms (`first`), and those
 * between the terms and the market's moves (`last`).
 */
export const EXPLAIN_NUMBER_COLUMNS = {
  first: ["before", "after", "cash", "change"],
  last: ["quantityBefore", "quantityAfter", "errorEstimate"],
} as const;
/** The names of the columns with texts in a P&L explanation, to the left of its numbers. */
export const EXPLAIN_TEXT_COLUMNS = ["id", "underlying", "currency", "status"] as const;
const FIRST = [...EXPLAIN_TEXT_COLUMNS, ...EXPLAIN_NUMBER_COLUMNS.first] as const;
/** The names of the columns with the moves of the market in a P&L explanation. */
export const EXPLAIN_MOVE_COLUMNS = ["years", "spot", "paid", "volatility", "rate"] as const;

/**
 * Yields the report of `feynkac explain` as CSV by RFC 4180, with LF line ends and all digits of numbers. Each term of
 * the explanation is a column. The columns of the market's moves have names that begin with "move.", those of tags with
 * "tag.", as in the results of prices. `tags` are the names of the tags, if they are known.
 */
export function* explainCsv(report: ExplainReport, tags: readonly string[] | undefined): Generator<string> {
  const tagged = tagColumns(tags);
  const terms = termNames(report);
  const moves = EXPLAIN_MOVE_COLUMNS.map((name) => `move.${name}`);
  const texts = ["warnings", "reason", "error", ...tagged.map(({ name }) => name)];
  const columns = [...FIRST, ...terms, "unexplained", ...moves, ...EXPLAIN_NUMBER_COLUMNS.last, ...texts];
  yield `${columns.map(csvCell).join(",")}\n`;
  for (const row of report.results) yield `${cellsOf(row, terms, tagged).map(csvCell).join(",")}\n`;
}

function cellsOf(
  row: ExplainedTrade,
  terms: readonly ExplainTerm[],
  tagged: readonly TagColumn[],
): (string | number | null)[] {
  return [
    ...FIRST.map((name) => row[name] ?? null),
    ...terms.map((name) => row.terms?.[name] ?? null),
    row.unexplained,
    ...EXPLAIN_MOVE_COLUMNS.map((name) => row.moves?.[name] ?? null),
    ...EXPLAIN_NUMBER_COLUMNS.last.map((name) => row[name]),
    row.warnings.join("; "),
    row.reason ?? null,
    row.error?.message ?? null,
    ...tagged.map(({ value }) => value(row)),
  ];
}
