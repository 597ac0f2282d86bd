/** Results in the formats of the command line, as a file to save. */
import { namesAndWeights, type ParsedTrade, tagsOf, Totals } from "../../src/book/index.ts";
import { writerFor, needsBondColumns } from "../../src/output/formats/index.ts";
import type { OutputPiece, PricedRow, ResultWriter } from "../../src/output/formats/index.ts";
import type { Device } from "../../src/device/index.ts";
import type { SessionBook } from "./book.ts";
import type { ExportedFile, ExportFormat } from "./protocol.ts";

const TYPES = {
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;

/** Rows that are written at a time. */
const BLOCK = 4096;

export async function exportResults(format: ExportFormat, book: SessionBook, device: Device): Promise<ExportedFile> {
  const stem = book.name.replace(/\.[^.]*$/, "");
  if (format === "book") {
    const bytes = new Blob([`${JSON.stringify(book.written, undefined, 2)}\n`], { type: TYPES.json });
    return { name: `${stem}.json`, type: TYPES.json, bytes };
  }
  const bytes = new Blob((await partsOf(writerFor(format), book, device)) as BlobPart[], { type: TYPES[format] });
  return { name: `${stem}-results.${format}`, type: TYPES[format], bytes };
}

async function partsOf(format: ResultWriter, book: SessionBook, device: Device): Promise<OutputPiece[]> {
  const { context, entries, parsed, results } = book;
  const totals = new Totals();
  const { asOf, scenarios, scenarioTable } = context;
  const parts = [
    await format.begin({
      asOf,
      scenarios,
      ...namesAndWeights(scenarioTable),
      tags: tagsOf(entries),
      sensitivityErrors: false,
      figures: needsBondColumns(book.market),
      device: { backend: device.backend, name: device.name },
    }),
  ];
  for (let from = 0; from < parsed.length; from += BLOCK) {
    const rows = parsed.slice(from, from + BLOCK).flatMap((trade, i) => rowOf(trade, results[from + i]));
    for (const { trade, result } of rows) totals.add(trade, result);
    parts.push(format.rows(rows));
  }
  return [...parts, format.end({ priced: totals.priced, failed: totals.failed, totals: totals.totals })];
}

function rowOf(parsed: ParsedTrade, result: PricedRow["result"] | undefined): PricedRow[] {
  return result === undefined ? [] : [{ trade: parsed.ok ? parsed.trade : undefined, result }];
}
