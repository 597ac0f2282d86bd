/**
 * What cuBLAS is told: a library in its place writes down its arguments, and the test computes by them, column by
 * column, as BLAS does.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DeviceArray, Matmul, matmulSpec, type Order } from "../../../src/numerics/linalg/index.ts";
import { openEmulatedCuda } from "../../support/cuda.ts";
import { product, randomMatrix, transposed, worstOf } from "./dense-reference.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-cublas-"));
const log = join(folder, "calls");
const library = join(folder, "libcublas.so");
const gemm = (name: string, real: string): string => `
extern "C" int cublas${name}gemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k, const ${real}* alpha, const ${real}* a,
    int lda, long long sa, const ${real}* b, int ldb, long long sb, const ${real}* beta, ${real}* c, int ldc, long long sc, int batch) {
  FILE* file = fopen("${log}", "a");
  fprintf(file, "[%d,%d,%d,%d,%d,%.17g,%zu,%d,%lld,%zu,%d,%lld,%.17g,%zu,%d,%lld,%d]\\n", ta, tb, m, n, k, double(*alpha), size_t(a), lda, sa,
    size_t(b), ldb, sb, double(*beta), size_t(c), ldc, sc, batch);
  return fclose(file);
}`;
writeFileSync(
  join(folder, "stub.cpp"),
  `#include <cstdio>
#include <cstddef>
extern "C" int cublasCreate_v2(void** handle) { *handle = (void*)0x1234; return 0; }
extern "C" int cublasSetStream_v2(void* handle, void* stream) { return handle == (void*)0x1234 && stream ? 0 : 7; }
extern "C" int cublasDestroy_v2(void* handle) { return handle == (void*)0x1234 ? 0 : 1; }
${gemm("S", "float")}${gemm("D", "double")}`,
);

const device = await openEmulatedCuda();
if (device !== undefined) execFileSync("g++", ["-shared", "-fPIC", join(folder, "stub.cpp"), "-o", library]);
process.env["FEYNKAC_CUBLAS"] = library;

afterAll(() => {
  device?.[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const orders: readonly (readonly [Order, Order])[] = [
  ["row-major", "row-major"],
  ["row-major", "column-major"],
  ["column-major", "row-major"],
  ["column-major", "column-major"],
];

const cases = (["f64", "f32"] as const).flatMap((precision) => orders.map(([a, b]) => ({ precision, a, b })));

test.skipIf(device === undefined).each(cases)("$precision, a $a, b $b", async ({ precision, a, b }) => {
  const [batch, rows, inner, columns] = [2, 3, 4, 5];
  const size = precision === "f64" ? 8 : 4;
  const left = [0, 1].map((k) => randomMatrix(rows, inner, 20 + k, precision));
  const right = randomMatrix(inner, columns, 22, precision);
  /** Matrices as they lie on the device, in the order that is asked for, with a margin of 2 elements before. */
  const place = async (order: Order, many: (typeof right)[]): Promise<{ view: DeviceArray; whole: DeviceArray }> => {
    const lying = order === "row-major" ? many : many.map(transposed);
    const [one] = lying;
    const whole = await DeviceArray.create(device!, [many.length, one.rows, one.columns + 2], { precision });
    const range = whole.columnSlice(2);
    range.upload(lying.flatMap(({ values }) => values));
    return { whole, view: order === "row-major" ? range : range.transpose() };
  };
  const [first, second] = [await place(a, left), await place(b, [right])];
  using wholeA = first.whole;
  using wholeB = second.whole;
  using c = await DeviceArray.create(device!, [batch, rows, columns], { precision });
  const spec = matmulSpec({ rows, inner, columns, batch, precision, a, b });
  using multiply = await Matmul.create(device!, spec);
  expect(multiply.implementation).toBe("library");
  multiply.run({ a: first.view, b: second.view, c, alpha: 0.5, beta: 0.25 });

  const line = readFileSync(log, "utf8").trim().split("\n").at(-1)!;
  const [ta, tb, m, n, k, alpha, atA, lda, sa, atB, ldb, sb, beta, , ldc, sc, count] = JSON.parse(line) as number[];
  expect([m, n, k, alpha, beta, ldc, sc, count]).toEqual([
    columns,
    rows,
    inner,
    0.5,
    0.25,
    columns,
    rows * columns,
    batch,
  ]);
  // BLAS's first factor is our second. Buffers start at multiples of 256 bytes, and the views two elements on.
  const [memoryFirst, memorySecond] = [await device!.read(wholeB.buffer), await device!.read(wholeA.buffer)];
  expect([atA % 256, atB % 256]).toEqual([2 * size, 2 * size]);
  for (let matrix = 0; matrix < batch; matrix++) {
    const element = (memory: ArrayLike<number>, t: number, ld: number, stride: number, i: number, j: number): number =>
      memory[2 + matrix * stride + (t === 0 ? i + j * ld : j + i * ld)];
    const got = Array.from({ length: rows * columns }, (_, at) => {
      const [i, j] = [at % columns, Math.floor(at / columns)]; // BLAS's C, column by column, is ours row by row
      let sum = 0;
      for (let p = 0; p < k; p++)
        sum += element(memoryFirst, ta, lda, sa, i, p) * element(memorySecond, tb, ldb, sb, p, j);
      return alpha * sum;
    });
    expect(worstOf(got, product("f64", left[matrix], right, { alpha }))).toBeLessThanOrEqual(1);
  }
});
