/** Lists of numbers in Parquet, as the reader of another author finds them. */
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import { beginParquet } from "../../../src/output/formats/index.ts";
import { Random } from "../../../tools/properties/random.ts";

interface Row {
  readonly id: string;
  readonly first: readonly (number | null)[] | null;
  readonly amount: number;
  readonly second: readonly (number | null)[] | null;
}

async function fileOf(batches: readonly (readonly Row[])[]): Promise<ArrayBuffer> {
  const table = await beginParquet<Row>(
    [
      { name: "id", type: "string", value: ({ id }) => id },
      { name: "first", type: "numbers", value: ({ first }) => first },
      { name: "amount", type: "number", value: ({ amount }) => amount },
      { name: "second", type: "numbers", value: ({ second }) => second },
    ],
    {},
  );
  const pieces = [...batches.map((rows) => table.add(rows)), table.end()];
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes.buffer;
}

function randomList(random: Random): Row["first"] {
  if (random.chance(0.1)) return null;
  const hasNulls = random.chance(0.3);
  const length = random.chance(0.1) ? 0 : random.integer(random.chance(0.05) ? 150_000 : 300);
  return Array.from({ length }, () => (hasNulls && random.chance(0.2) ? null : random.normal()));
}

test("lists are read as written: empty ones, gaps, more numbers than a page or a group has", async () => {
  const random = new Random(11);
  const rows = Array.from({ length: 300 }, (_, i): Row => {
    return { id: `${i}`, first: randomList(random), amount: random.normal(), second: randomList(random) };
  });
  const file = await fileOf([rows.slice(0, 7), rows.slice(7, 8), rows.slice(8)]);
  // The reader has no value for a list that is not there.
  const isThere = (list: Row["first"]): Row["first"] | undefined => list ?? undefined;
  const expected = rows.map((row) => ({ ...row, first: isThere(row.first), second: isThere(row.second) }));
  expect(await parquetReadObjects({ file })).toEqual(expected);

  const { row_groups: groups } = parquetMetadata(file);
  expect(groups.length).toBeGreaterThan(1);
  let first = 0;
  for (const { columns, num_rows: count } of groups) {
    const own = rows.slice(first, (first += Number(count))).flatMap((row) => row.first ?? []);
    const numbers = own.filter((number) => number !== null);
    const { path_in_schema: path, statistics } = columns[1].meta_data!;
    expect(path).toEqual(["first", "list", "element"]);
    expect(statistics).toMatchObject({
      min_value: numbers.reduce((a, b) => Math.min(a, b)),
      max_value: numbers.reduce((a, b) => Math.max(a, b)),
    });
  }
});
