import { encodeRows } from "./encoded.ts";
import { aboutResults, type OutputTotals, type ResultWriter } from "./writer.ts";

/** The writer of results as NDJSON: each result is a JSON object on one line, with the fields of `TradeResult`. */
export const ndjsonWriter: ResultWriter = {
  begin: () => "",
  rows: (rows) => encodeRows(rows, ({ result }) => `${JSON.stringify(result)}\n`),
  end: () => "",
};

/**
 * Returns the writer of results as JSON: one object, a `BookReport`, which is written as the results arrive, with each
 * result on one line.
 */
export function jsonWriter(): ResultWriter {
  let first = true;
  return {
    begin: (start) => {
      first = start.continues !== true;
      const fields = Object.entries(aboutResults(start)).map(
        ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
      );
      return `{\n${fields.join("")}  "results": [`;
    },
    rows: (rows) =>
      encodeRows(rows, ({ result }) => {
        const separator = first ? "\n" : ",\n";
        first = false;
        return `${separator}    ${JSON.stringify(result)}`;
      }),
    end: (totals: OutputTotals) => {
      const fields = Object.entries(totals).filter(([, value]) => value !== undefined);
      const lines = fields.map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
      return `${totals.priced + totals.failed === 0 ? "" : "\n  "}],\n${lines.join(",\n")}\n}\n`;
    },
  };
}
