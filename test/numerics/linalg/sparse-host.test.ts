/** Formats and files on the host. */
import { describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { ShapeError, SpecError } from "../../../src/base/errors.ts";
import {
  chooseFormat,
  convertSparse,
  type CsrMatrix,
  csrMatrix,
  formatMatrixMarket,
  MatrixMarketError,
  parseMatrixMarket,
  sparseMatrix,
  SparseOperator,
  stencil,
  stencilMatrix,
} from "../../../src/numerics/linalg/index.ts";
import { reverseCuthillMcKee } from "../../../src/numerics/linalg/sparse/packets.ts";
import { readFixture } from "../../support/fixtures.ts";
import { products } from "./krylov-support.ts";
import { matrices, uniform, uploaded } from "./sparse-support.ts";

const dense = ({ rows, columns, starts, column, values }: CsrMatrix): number[][] => {
  const all = Array.from({ length: rows }, () => Array.from({ length: columns }, () => 0));
  for (let i = 0; i < rows; i++) for (let k = starts[i]; k < starts[i + 1]; k++) all[i][column[k]] += values[k];
  return all;
};

describe("entries", () => {
  const entries = { rows: 3, columns: 4, row: [2, 0, 2, 0], column: [3, 1, 0, 1], values: [1, 2, 3, 4] };

  test("are sorted, and repeated ones are an error or added in their order", () => {
    expect(() => sparseMatrix(entries)).toThrow(
      'sparseMatrix: entries 1 and 3 are both at (0, 1), expected one; ask for duplicates: "sum" to add them',
    );
    const { starts, column, values } = sparseMatrix({ ...entries, duplicates: "sum" });
    expect([[...starts], [...column], [...values]]).toEqual([
      [0, 1, 1, 3],
      [1, 0, 3],
      [6, 3, 1],
    ]);
    const order = [1e16, 1, -1e16, 1];
    const at = order.map(() => 0);
    const sum = sparseMatrix({ rows: 1, columns: 1, row: at, column: at, values: order, duplicates: "sum" });
    expect([...sum.values]).toEqual([1e16 + 1 - 1e16 + 1]);
  });

  test("that are wrong are named", () => {
    const wrong =
      (change: object): (() => unknown) =>
      () =>
        sparseMatrix({ ...entries, ...change });
    expect(wrong({ row: [2, 0, 3, 0] })).toThrow("sparseMatrix: row[2]: got 3, expected a whole number from 0 to 2");
    expect(wrong({ column: [3, 1.5, 0, 1] })).toThrow("sparseMatrix: column[1]: got 1.5, expected a whole number");
    expect(wrong({ column: [3, 1, -1, 1] })).toThrow("sparseMatrix: column[2]: got -1");
    expect(wrong({ row: [1] })).toThrow("sparseMatrix: 1 rows, 4 columns and 4 values, expected as many of each");
    expect(wrong({ row: [1] })).toThrow(ShapeError);
    expect(wrong({ rows: -1 })).toThrow("sparseMatrix: rows: got -1, expected a whole number from 0 to 2,147,483,647");
  });

  test("compressed rows are checked", () => {
    const given = { rows: 2, columns: 3, starts: [0, 2, 3], column: [0, 2, 1], values: [1, 2, 3] };
    expect(csrMatrix(given).kind).toBe("csr");
    const wrong =
      (change: object): (() => unknown) =>
      () =>
        csrMatrix({ ...given, ...change });
    expect(wrong({ starts: [0, 3] })).toThrow("csrMatrix: 2 starts, expected rows + 1 = 3");
    expect(wrong({ starts: [0, 4, 3] })).toThrow(
      "csrMatrix: starts[2] 3, expected a whole number of at least starts[1], 4",
    );
    expect(wrong({ starts: [0, 2, 2] })).toThrow(ShapeError);
    expect(wrong({ column: [2, 0, 1] })).toThrow("csrMatrix: row 0: column[1] 0 follows 2, expected ascending columns");
    expect(wrong({ column: [0, 0, 1] })).toThrow("csrMatrix: row 0: column[1] 0 follows 0");
    expect(wrong({ column: [0, 3, 1] })).toThrow("csrMatrix: row 0: column[1]: got 3");
  });
});

describe("formats", () => {
  test.each(Object.entries(matrices("f64")))("%s: there and back", (_, matrix) => {
    for (const format of ["coo", "csr", "bcsr", "ell", "dia", "hyb", "pkt"] as const) {
      if (format === "pkt" && matrix.rows !== matrix.columns) continue;
      for (const options of [{}, { padding: 4, block: [3, 5], width: 1, packetRows: 16, packetItems: 4 }] as const) {
        const there = convertSparse(matrix, format, options);
        expect(there.kind).toBe(format);
        expect([format, convertSparse(there, "csr")]).toEqual([format, matrix]);
      }
    }
  });

  test("hyb: places that a third of the rows fill", () => {
    const lengths = [4, 4, 4, 2, 2, 2, 1, 1, 1, 0];
    const row = lengths.flatMap((n, i) => Array.from({ length: n }, () => i));
    const column = lengths.flatMap((n) => Array.from({ length: n }, (_, k) => k));
    const matrix = sparseMatrix({ rows: 10, columns: 5, row, column, values: row.map(() => 1) });
    const { ell, rest } = convertSparse(matrix, "hyb");
    // Three of ten rows have 4 entries, six have 2 or more.
    expect([ell.width, rest.values.length]).toEqual([2, 6]);
  });

  test("the format that is expected to be fastest", () => {
    using device = createCpuDevice({ threads: 1 });
    // What the choice asks of a device.
    const gpu = { backend: "cuda", parallelism: 1e5 } as Device;
    const next = uniform(8);
    const at = (n: number): number => Math.floor(((next() + 1) / 2) * n);
    const rows = (n: number, lengthOf: (i: number) => number): CsrMatrix => {
      const row = Array.from({ length: n }, (_, i) => Array.from({ length: lengthOf(i) }, () => i)).flat();
      const column = row.map(() => at(n));
      return sparseMatrix({ rows: n, columns: n, row, column, values: row.map(() => 1), duplicates: "sum" });
    };
    const { banded, empty } = matrices("f64");
    expect([chooseFormat(banded, device), chooseFormat(banded, gpu)]).toEqual(["dia", "dia"]);
    const even = rows(1000, () => 3);
    expect([chooseFormat(even, device), chooseFormat(even, gpu, "f32")]).toEqual(["ell", "ell"]);
    const uneven = rows(1000, (i) => 1 + (i % 50 === 0 ? at(400) : at(3)));
    expect([chooseFormat(uneven, device), chooseFormat(uneven, gpu)]).toEqual(["csr", "csr"]);
    const few = rows(1000, (i) => (i === 500 ? 100 : 4));
    expect([chooseFormat(few, device), chooseFormat(few, gpu)]).toEqual(["hyb", "hyb"]);
    const long = rows(1000, (i) => (i === 500 ? 900 : 4));
    expect([chooseFormat(long, device), chooseFormat(long, gpu)]).toEqual(["csr", "csr"]);
    expect(chooseFormat(empty, device)).toBe("dia");
  });

  test("ell and dia of matrices that they do not suit are refused", () => {
    const n = 2000;
    const ends = Array.from({ length: n }, (_, i) => i);
    const row = [...ends, ...ends.map(() => 7)];
    const column = [...ends, ...ends];
    const arrow = sparseMatrix({ rows: n, columns: n, row, column, values: row.map(() => 1), duplicates: "sum" });
    expect(() => convertSparse(arrow, "ell")).toThrow(
      'convertSparse: ell would store 4000000 places, expected at most 1000000; take "hyb" or "csr", or raise maxPlaces',
    );
    expect(() => convertSparse(arrow, "dia")).toThrow("convertSparse: dia would store");
    expect(convertSparse(arrow, "ell", { maxPlaces: 4e6 }).width).toBe(n);
    expect(() => convertSparse(arrow, "csr", { padding: 0 })).toThrow("convertSparse: padding: got 0");
    expect(() => convertSparse(arrow, "bell" as never)).toThrow(SpecError);
    expect(() => convertSparse(sparseMatrix({ rows: 1, columns: 2, row: [], column: [], values: [] }), "pkt")).toThrow(
      "convertSparse: pkt of 1 × 2, expected a square matrix",
    );
  });

  test("reverse Cuthill–McKee finds the band of a shuffled grid", () => {
    const points = [
      [0, 0],
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ];
    const grid = stencilMatrix(stencil({ shape: [12, 30], points, coefficient: [4, -1, -1, -1, -1] }));
    const next = uniform(4);
    const keys = Float64Array.from({ length: 360 }, next);
    const shuffled = Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b]);
    const coo = convertSparse(grid, "coo");
    const permuted = (order: ArrayLike<number>): CsrMatrix => {
      const place = new Int32Array(360);
      for (let at = 0; at < 360; at++) place[order[at]] = at;
      const row = coo.row.map((i) => place[i]);
      const column = coo.column.map((j) => place[j]);
      return sparseMatrix({ rows: 360, columns: 360, row, column, values: coo.values });
    };
    const bandwidth = (matrix: CsrMatrix, order: Int32Array): number => {
      const place = new Int32Array(360);
      order.forEach((i, at) => (place[i] = at));
      const { row, column } = convertSparse(matrix, "coo");
      return row.reduce((most, i, k) => Math.max(most, Math.abs(place[i] - place[column[k]])), 0);
    };
    const mixed = permuted(shuffled);
    const order = reverseCuthillMcKee(mixed);
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 360 }, (_, i) => i));
    // The best order of a 12 × 30 grid has bandwidth 12; that of the shuffled one is hundreds.
    expect(
      bandwidth(
        mixed,
        Int32Array.from({ length: 360 }, (_, i) => i),
      ),
    ).toBeGreaterThan(250);
    expect(bandwidth(mixed, order)).toBeLessThanOrEqual(13);
  });

  test("stencils: neighbours across an edge are no entries; mistakes are named", () => {
    const moved = stencil({
      shape: [2, 3],
      points: [
        [0, 1],
        [1, -1],
      ],
      coefficient: [5, 7],
    });
    expect(dense(stencilMatrix(moved))).toEqual([
      [0, 5, 0, 0, 0, 0],
      [0, 0, 5, 7, 0, 0],
      [0, 0, 0, 0, 7, 0],
      [0, 0, 0, 0, 5, 0],
      [0, 0, 0, 0, 0, 5],
      [0, 0, 0, 0, 0, 0],
    ]);
    const make =
      (change: object): (() => unknown) =>
      () =>
        stencil({ shape: [2], points: [[0], [1]], coefficient: [1, 2], ...change });
    expect(make({ shape: [0] })).toThrow("stencil: shape [0], expected whole numbers ≥ 1");
    expect(make({ points: [[0], [0]] })).toThrow("stencil: points: one is there twice");
    expect(make({ points: [[0], [1, 2]] })).toThrow("stencil: points[1] [1, 2], expected 1 whole numbers");
    expect(make({ coefficient: [1] })).toThrow("stencil: 1 coefficients, expected 2, one per point");
  });
});

test("SciPy's products, in every format", async () => {
  using device = createCpuDevice({ threads: 1 });
  for (const { name, x, y, ...entries } of products) {
    const matrix = sparseMatrix(entries);
    for (const format of ["coo", "csr", "bcsr", "ell", "dia", "hyb"] as const) {
      using operator = await SparseOperator.create(device, convertSparse(matrix, format));
      using from = uploaded(device, "f64", Float64Array.from(x!));
      using to = uploaded(device, "f64", new Float64Array(y.length));
      operator.apply({ x: from, y: to });
      const got = await device.read(to);
      // Both add at most 80 terms of at most 6 in size.
      const worst = y.reduce((most, value, i) => Math.max(most, Math.abs(value - got[i])), 0);
      expect([name, format, worst]).toEqual([name, format, expect.toSatisfy((e) => e <= 80 * 6 * 2 ** -52)]);
    }
  }
});

describe("Matrix Market", () => {
  interface File {
    readonly name: string;
    readonly text: string;
    readonly dense: readonly (readonly number[])[];
  }
  const files = readFixture("sparse/files.json") as readonly File[];

  test.each(files.map((file) => [file.name, file] as const))("SciPy's file: %s", (_, { text, dense: expected }) => {
    expect(dense(parseMatrixMarket(text))).toEqual(expected);
    expect(dense(parseMatrixMarket(text.trimEnd().split("\n")))).toEqual(expected);
    expect(dense(parseMatrixMarket(text.replaceAll("\n", "\r\n")))).toEqual(expected);
  });

  test("arrays of one triangle, and exponents as Fortran writes them", () => {
    const skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1.5D+1\n-2d0\n3E-1\n";
    expect(dense(parseMatrixMarket(skew))).toEqual([
      [0, -15, 2],
      [15, 0, -0.3],
      [-2, 0.3, 0],
    ]);
    const symmetric = "%%MatrixMarket matrix array integer symmetric\n2 2\n4\n5\n6\n";
    expect(dense(parseMatrixMarket(symmetric))).toEqual([
      [4, 5],
      [5, 6],
    ]);
  });

  test("written and read again, to the bit", () => {
    for (const matrix of Object.values(matrices("f64")))
      expect(parseMatrixMarket(formatMatrixMarket(convertSparse(matrix, "hyb")))).toEqual(matrix);
    const [, symmetric, skew] = files.map(({ text }) => parseMatrixMarket(text));
    const lines = [...formatMatrixMarket(symmetric, { symmetry: "symmetric", comment: "two\nlines" })];
    expect(lines.slice(0, 4).join("")).toBe("%%MatrixMarket matrix coordinate real symmetric\n% two\n% lines\n3 3 4\n");
    expect(parseMatrixMarket(lines.join(""))).toEqual(symmetric);
    const again = parseMatrixMarket([...formatMatrixMarket(skew, { symmetry: "skew-symmetric" })].join(""));
    expect(dense(again)).toEqual(dense(skew));
    const pattern = parseMatrixMarket([...formatMatrixMarket(skew, { field: "pattern" })].join(""));
    expect([...pattern.values]).toEqual([...skew.values].map(() => 1));
    expect(() => [...formatMatrixMarket(skew, { symmetry: "symmetric" })]).toThrow(
      "formatMatrixMarket: (0, 1) is 2 and (1, 0) is -2, expected a symmetric matrix",
    );
    expect(() => [...formatMatrixMarket(symmetric, { field: "integer" })]).toThrow("(0, 2) is 1.25, expected integers");
  });

  const real = "%%MatrixMarket matrix coordinate real general\n";
  test.each([
    ["", 0, "the file ends, expected a header and a line of sizes"],
    ["MatrixMarket\n", 1, '"MatrixMarket", expected a header that begins with "%%MatrixMarket"'],
    ["%%MatrixMarket matrix coordinate complex general\n", 1, 'field "complex", expected real, integer, pattern'],
    ["%%MatrixMarket matrix array pattern general\n", 1, "an array of field pattern, expected real or integer"],
    ["%%MatrixMarket matrix coordinate real\n", 1, "symmetry is missing, expected general, symmetric"],
    [`${real}% comment\n\n2 2\n`, 4, "2 sizes, expected 3"],
    [`${real}2 x 1\n`, 2, 'columns "x", expected a whole number from 0'],
    [`${real}2 2 2\n1 1 5\n`, 3, "the file ends after 1 entries, expected 2"],
    [`${real}2 2 1\n1 1 5\n1 2 5\n`, 4, "another entry, expected no more than 1"],
    [`${real}2 2 1\n3 1 5\n`, 3, 'row "3", expected a whole number from 1 to 2'],
    [`${real}2 2 1\n1 0 5\n`, 3, 'column "0", expected a whole number from 1 to 2'],
    [`${real}2 2 1\n1 1 5,0\n`, 3, 'value "5,0", expected a number'],
    [`${real}2 2 1\n1 1\n`, 3, "2 words, expected 3 for this header"],
    [`${real}2 2 2\n1 1 5\n1 1 6\n`, 4, "entry (1, 1) is on line 3 already, expected once"],
    [real.replace("general", "symmetric") + "2 2 1\n1 2 5\n", 3, "entry (1, 2), expected one below the diagonal"],
    [real.replace("general", "symmetric") + "2 3 1\n", 2, "a symmetric matrix of 2 × 3, expected a square one"],
    [real.replace("real", "integer") + "2 2 1\n1 1 5.5\n", 3, 'value "5.5", expected an integer'],
  ])("mistakes have a line: %j", (text, line, message) => {
    const error = (() => {
      try {
        return parseMatrixMarket(text);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(MatrixMarketError);
    expect((error as MatrixMarketError).line).toBe(line);
    expect((error as MatrixMarketError).message).toContain(`Matrix Market, line ${line}: ${message}`);
  });
});
