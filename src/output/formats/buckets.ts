/** Writes the risk of trades by bucket as a long table: a row for each trade and bucket, as CSV or Parquet. */
import type { Bucket, PricedTrade } from "../../book/index.ts";
import { tagColumns, tagText } from "./columns.ts";
import { csvCell } from "./csv.ts";
import { encodeRows } from "./encoded.ts";
import { beginParquet, type ParquetColumn } from "./parquet.ts";
import type { OutputHeader, OutputPiece, PricedRow } from "./writer.ts";

/** A bucket with the trade that it belongs to. */
interface BucketRow {
  readonly result: PricedTrade;
  readonly bucket: Bucket;
}

const columnsOf = (tags: OutputHeader["tags"]): readonly ParquetColumn<BucketRow>[] => [
  { name: "id", type: "string", value: ({ result }) => result.id },
  { name: "underlying", type: "string", value: ({ result }) => result.underlying },
  { name: "currency", type: "string", value: ({ result }) => result.currency },
  { name: "quantity", type: "number", value: ({ result }) => result.quantity },
  { name: "factor", type: "string", value: ({ bucket }) => bucket.factor },
  { name: "of", type: "string", value: ({ bucket }) => bucket.of },
  { name: "at", type: "string", value: ({ bucket: { at } }) => textOf(at) },
  { name: "strike", type: "number", value: ({ bucket: { at } }) => (isPair(at) ? at.strike : null) },
  { name: "value", type: "number", value: ({ bucket }) => bucket.value },
  { name: "errorEstimate", type: "number", value: ({ bucket }) => bucket.errorEstimate },
  ...tagColumns(tags).map((column): ParquetColumn<BucketRow> => ({
    name: column.name,
    type: "string",
    value: ({ result }) => tagText(column, result),
  })),
];

const isPair = (at: Bucket["at"]): at is Extract<Bucket["at"], object> => typeof at === "object" && at !== null;

/** The date, instrument or pillar of a bucket, and the expiry of one that has a strike beside it. */
function textOf(at: Bucket["at"]): string | null {
  if (isPair(at)) return String(at.expiry);
  return at === null ? null : String(at);
}

/** A writer of buckets. The pieces that its functions return, one after another, are the whole file. */
export interface BucketWriter {
  begin(): OutputPiece;
  rows(rows: readonly PricedRow[]): OutputPiece;
  end(): OutputPiece;
}

const rowsOf = (rows: readonly PricedRow[]): readonly BucketRow[] =>
  rows.flatMap(({ result }) =>
    result.status === "ok" ? (result.buckets ?? []).map((bucket): BucketRow => ({ result, bucket })) : [],
  );

/** Returns the writer of the buckets of trades with the given names of tags. */
export async function bucketWriter(
  format: "csv" | "parquet",
  { tags, asOf }: Pick<OutputHeader, "tags" | "asOf">,
): Promise<BucketWriter> {
  const columns = columnsOf(tags);
  if (format === "parquet") {
    const file = await beginParquet(columns, { asOf });
    return { begin: () => "", rows: (rows) => file.add(rowsOf(rows)), end: () => file.end() };
  }
  return {
    begin: () => `${columns.map(({ name }) => csvCell(name)).join(",")}\n`,
    rows: (rows) =>
      encodeRows(
        rowsOf(rows),
        (row) => `${columns.map(({ value }) => csvCell(value(row) as string | number | null)).join(",")}\n`,
      ),
    end: () => "",
  };
}
