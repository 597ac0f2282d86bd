import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginArrow, type ParquetColumn } from "../../src/output/formats/index.ts";
import { batchesOf, blocksOf, readMessages } from "./read-arrow.ts";

interface Row {
  readonly name: string | null;
  readonly value: number | null;
  readonly words: readonly string[] | null;
  readonly numbers: readonly (number | null)[] | null;
}
const columns: readonly ParquetColumn<Row>[] = [
  { name: "name", type: "string", value: ({ name }) => name },
  { name: "value", type: "number", value: ({ value }) => value },
  { name: "words", type: "strings", value: ({ words }) => words },
  { name: "numbers", type: "numbers", value: ({ numbers }) => numbers },
];
const row = (i: number): Row => ({
  name: i % 3 === 0 ? null : `Größe ${"x".repeat(i % 17)} ${i}`,
  value: i % 5 === 0 ? null : i / 7,
  words: i % 4 === 0 ? null : Array.from({ length: i % 3 }, (_, k) => `w${i}.${k}`),
  numbers: i % 6 === 0 ? null : [i, null, -0.5 * i],
});
/** Odd numbers of rows, more than a byte of validity bits, and a batch without nulls. */
const batches = [
  Array.from({ length: 21 }, (_, i) => row(i)),
  [row(7)],
  Array.from({ length: 1001 }, (_, i) => row(i)),
];

const written = (kind: "file" | "stream"): Uint8Array => {
  const table = beginArrow(columns, { asOf: "2026-11-20", device: { backend: "cpu" } }, kind);
  const parts = batches.map((rows) => table.add(rows));
  return new Uint8Array(Buffer.concat([...parts, table.end({ priced: 3 })]));
};

test("a stream of record batches reads back as the rows that were written", () => {
  const messages = readMessages(written("stream"));
  expect(messages.map(({ rows }) => rows)).toEqual([undefined, 21, 1, 1001, 0]);
  expect(messages[0].fields).toEqual(["name", "value", "words", "numbers"]);
  expect(messages[0].metadata).toEqual({ "feynkac.asOf": "2026-11-20", "feynkac.device": '{"backend":"cpu"}' });
  expect(messages[4].metadata).toEqual({ "feynkac.priced": "3" });
  expect(batchesOf(messages, columns)).toEqual([...batches, []]);
});

test("a file is such a stream between marks, with a footer behind it", () => {
  const bytes = Buffer.from(written("file"));
  expect(bytes.subarray(0, 8).toString("latin1")).toBe("ARROW1\0\0");
  expect(bytes.subarray(-6).toString("latin1")).toBe("ARROW1");
  const messages = readMessages(bytes.subarray(8));
  expect(batchesOf(messages, columns)).toEqual(batches);
  expect(blocksOf(bytes).flatMap(readMessages)).toEqual(messages.slice(1));
});

test("metadata may be larger than a buffer and its double", () => {
  const about = { long: "ä".repeat(5000) };
  const bytes = new Uint8Array(Buffer.concat([beginArrow(columns, about, "stream").end()]));
  expect(readMessages(bytes)[0].metadata).toEqual({ "feynkac.long": about.long });
});

const pyarrow = spawnSync("python3", ["-c", "import pyarrow"]).status === 0;

test.skipIf(!pyarrow)("pyarrow reads both (skipped where python3 has no pyarrow)", () => {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-arrow-"));
  try {
    for (const kind of ["file", "stream"] as const) writeFileSync(join(folder, kind), written(kind));
    const script = [
      "import json, pyarrow.ipc as ipc",
      "tables = [ipc.open_file('file').read_all(), ipc.open_stream(open('stream', 'rb')).read_all()]",
      "for table in tables: table.validate(full=True)",
      "print(json.dumps([table.to_pylist() for table in tables]))",
    ].join("\n");
    const { stdout, stderr } = spawnSync("python3", ["-c", script], { cwd: folder, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([batches.flat(), batches.flat()]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
