import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { type ParsedTrade, readHeader, readParquet } from "../../src/book/index.ts";
import { BookError } from "../../src/base/errors.ts";
import { asOf, market } from "./books.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const header = readHeader({ asOf, market: market() });

type Columns = Parameters<typeof parquetWriteBuffer>[0]["columnData"];

async function read(
  columnData: Columns,
  schema?: Parameters<typeof parquetWriteBuffer>[0]["schema"],
): Promise<ParsedTrade[]> {
  const file = parquetWriteBuffer({ columnData, rowGroupSize: 2, ...(schema === undefined ? {} : { schema }) });
  const { trades, total } = await readParquet(file, readHeader({ asOf, market: market() }));
  const all: ParsedTrade[] = [];
  for await (const trade of trades) all.push(trade);
  expect(all).toHaveLength(total);
  return all;
}

const BASE: Columns = [
  { name: "underlying", data: ["ACME", "ACME", "ACME"], type: "STRING" },
  { name: "payoff", data: ["put", "call", '{"digital": "put", "cash": 2}'], type: "STRING" },
  { name: "strike", data: [100, 90, 80], type: "DOUBLE" },
];

describe("trades from Parquet", () => {
  test("are those of CSV, whatever the types of the columns", async () => {
    const trades = await read([
      ...BASE,
      { name: "id", data: [7n, 8n, 9n], type: "INT64" },
      { name: "expiry", data: ["2027-11-20", "0.5", "2"], type: "STRING" },
      { name: "quantity", data: [3, null, -1], type: "INT32" },
      { name: "exercise", data: ["american", null, "[0.5, 1]"], type: "STRING" },
      { name: "barriers", data: [[{ type: "up-and-out", level: 150, rebate: null }], null, null], type: "JSON" },
    ]);
    const found = trades.map((one) => (one.ok ? one.trade : one.error.message));
    expect(found).toMatchObject([
      { id: "7", expiry: 1, quantity: 3, exercise: { kind: "american" } },
      { id: "8", expiry: 0.5, quantity: 1, exercise: { kind: "european" }, barriers: [] },
      { id: "9", expiry: 2, quantity: -1, exercise: { kind: "bermudan", times: [0.5, 1] }, payoff: { cash: 2 } },
    ]);
  });

  test("have days and instants, alone and in lists", async () => {
    const day = Date.UTC(2027, 10, 20);
    const columns: Columns = [
      { name: "id", data: ["A", "B"] },
      { name: "underlying", data: ["ACME", "ACME"] },
      { name: "payoff", data: ["put", "call"] },
      { name: "strike", data: [100, 90] },
      { name: "expiry", data: [new Date(day), new Date(day)] },
      { name: "exercise", data: [[new Date(day)], null] },
    ];
    const text = { type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" } as const;
    const schema = (date: "DATE" | "TIMESTAMP_MILLIS") => {
      const time = {
        type: date === "DATE" ? "INT32" : "INT64",
        converted_type: date,
        repetition_type: "OPTIONAL",
      } as const;
      return [
        { name: "root", num_children: 6 },
        ...["id", "underlying", "payoff"].map((name) => ({ ...text, name })),
        { name: "strike", type: "DOUBLE", repetition_type: "OPTIONAL" } as const,
        { ...time, name: "expiry" },
        { name: "exercise", repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" } as const,
        { name: "list", repetition_type: "REPEATED", num_children: 1 } as const,
        { ...time, name: "element" },
      ];
    };
    const expiries = async (date: "DATE" | "TIMESTAMP_MILLIS"): Promise<unknown[]> =>
      (await read(columns, schema(date))).map((one) => one.ok && [one.trade.expiry, onUnderlyings(one).exercise]);
    // asOf is 16:00 UTC: a day is a whole number of days away, midnight of that day 16 hours less.
    const years = (hours: number): number => (365 * 24 - hours) / (365 * 24);
    const dates = (time: number): unknown => ({ kind: "bermudan", times: [time] });
    expect(await expiries("DATE")).toEqual([
      [1, dates(1)],
      [1, { kind: "european" }],
    ]);
    expect(await expiries("TIMESTAMP_MILLIS")).toEqual([
      [years(16), dates(years(16))],
      [years(16), { kind: "european" }],
    ]);
  });

  test("that cannot be used are errors of their rows, with their ids", async () => {
    const trades = await read([
      ...BASE,
      { name: "id", data: ["A", "B", "C"], type: "STRING" },
      { name: "expiry", data: [1, Number.NaN, 1], type: "DOUBLE" },
      { name: "payoff.cash", data: [null, null, 1], type: "DOUBLE" },
    ]);
    expect(trades.map((one) => (one.ok ? one.trade.id : [one.id, one.error.message]))).toEqual([
      "A",
      ["B", expect.stringMatching(/^row 2: expiry: expected an ISO date .* got NaN$/)],
      ["C", "row 3: payoff.cash: given in two columns"],
    ]);
  });

  test("come from columns that are known", async () => {
    await expect(read([...BASE, { name: "stirke", data: [1, 1, 1] }])).rejects.toThrow(
      'the table: unknown column "stirke" (did you mean "strike"?)',
    );
    await expect(read([...BASE, { name: "__index_level_0__", data: [1, 1, 1] }])).rejects.toThrow(/index=False/);
  });

  test("come from Parquet", async () => {
    for (const bytes of ["", "PAR1", "PAR1PAR1PAR1", "id,underlying\nA,B\n"]) {
      const file = new Uint8Array(Buffer.from(bytes)).buffer;
      await expect(readParquet(file, header)).rejects.toThrow(BookError);
      await expect(readParquet(file, header)).rejects.toThrow(/^not Parquet that can be read: /);
    }
  });
});
