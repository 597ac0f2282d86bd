import { describe, expect, it } from "vitest";

import { i32, kernel, type Precision, read, real, u32, write } from "../../src/kernel/index.ts";
import { expectSame, onCpu } from "./wasm-support.ts";

const PRECISIONS: readonly Precision[] = ["f64", "f32"];
const zeros = (precision: Precision, length: number) =>
  precision === "f64" ? new Float64Array(length) : new Float32Array(length);
const SIZES = [1, 5, 8, 64, 70];

describe("WebAssembly: workgroups", () => {
  for (const precision of PRECISIONS) {
    for (const groupSize of SIZES) {
      it(`a reduction by halves, groups of ${groupSize}, ${precision}`, async () => {
        const k = kernel({
          groupSize,
          params: { u: read(real), out: write(real) },
          env: { SIZE: groupSize },
          *body({ u, out }, gpu, { SIZE }) {
            const sums = gpu.sharedReal(SIZE);
            const l = gpu.localId();
            const own = u[gpu.globalId()];
            sums[l] = own;
            yield;
            for (let width = 64; width > 0; width = width >> 1) {
              if (l < width && l + width < SIZE) sums[l] += sums[l + width];
              yield;
            }
            out[gpu.globalId()] = sums[0] - own;
          },
        });
        const u = zeros(precision, 3 * groupSize).map((_, i) => (i % 11) * 0.5);
        await expectSame(k, precision, { u, out: zeros(precision, 3 * groupSize) }, { groups: 3 });
      });
    }

    it(`parallel cyclic reduction, ${precision}`, async () => {
      const rows = 37;
      const k = kernel({
        groupSize: rows,
        params: { lower: read(real), diagonal: read(real), upper: read(real), rhs: read(real), x: write(real) },
        env: { ROWS: rows },
        *body({ lower, diagonal, upper, rhs, x }, gpu, { ROWS }) {
          const a = gpu.sharedReal(ROWS);
          const b = gpu.sharedReal(ROWS);
          const c = gpu.sharedReal(ROWS);
          const d = gpu.sharedReal(ROWS);
          const i = gpu.localId();
          const at = gpu.globalId();
          a[i] = i === 0 ? 0 : lower[at];
          b[i] = diagonal[at];
          c[i] = i === ROWS - 1 ? 0 : upper[at];
          d[i] = rhs[at];
          for (let stride = 1; stride < ROWS; stride *= 2) {
            yield;
            let na = 0;
            let nb = b[i];
            let nc = 0;
            let nd = d[i];
            if (i >= stride) {
              const k1 = a[i] / b[i - stride];
              na = -a[i - stride] * k1;
              nb -= c[i - stride] * k1;
              nd -= d[i - stride] * k1;
            }
            if (i + stride < ROWS) {
              const k2 = c[i] / b[i + stride];
              nc = -c[i + stride] * k2;
              nb -= a[i + stride] * k2;
              nd -= d[i + stride] * k2;
            }
            yield;
            a[i] = na;
            b[i] = nb;
            c[i] = nc;
            d[i] = nd;
          }
          x[at] = d[i] / b[i];
        },
      });
      const length = rows * 2;
      const args = {
        lower: zeros(precision, length).fill(-1),
        diagonal: zeros(precision, length).fill(3),
        upper: zeros(precision, length).fill(-1),
        rhs: zeros(precision, length).map((_, i) => (i % 7) - 2),
        x: zeros(precision, length),
      };
      const { x } = await expectSame(k, precision, args, { groups: 2 });
      const residual = 3 * x[5] - x[4] - x[6] - args.rhs[5];
      expect(Math.abs(residual)).toBeLessThan(precision === "f64" ? 1e-13 : 1e-5); // a few roundings
    });

    it(`uniform loops, exits and private arrays across barriers, ${precision}`, async () => {
      const k = kernel({
        groupSize: 24,
        params: { limit: i32, out: write(real), turns: write(i32) },
        *body({ limit, out, turns }, gpu) {
          const shared = gpu.sharedReal(24);
          const mine = gpu.privateReal(33);
          const l = gpu.localId();
          let turn = 0;
          let carried = gpu.real(l);
          for (let j = 0; j < 33; j++) mine[j] = gpu.real(j);
          for (;;) {
            shared[l] = carried;
            mine[turn] = carried;
            yield;
            const next = l === 23 ? shared[0] : shared[l + 1];
            yield;
            carried = carried * 0.5 + next;
            turn++;
            if (turn >= limit) break;
            if (turn === 2) continue;
            carried += 1;
          }
          let sum = 0;
          for (let j = 0; j < 33; j++) sum += mine[j];
          out[gpu.globalId()] = sum + carried;
          turns[gpu.globalId()] = turn + gpu.groupId() * 1000 + gpu.groupCount();
        },
      });
      for (const limit of [1, 5])
        await expectSame(k, precision, { limit, out: zeros(precision, 72), turns: new Int32Array(72) }, { groups: 3 });
    });
  }

  it("subgroup operations", async () => {
    const k = kernel({
      groupSize: 16,
      params: { u: read(real), out: write(real), n: write(i32) },
      *body({ u, out, n }, gpu) {
        const i = gpu.globalId();
        const x = u[i];
        const sum: number = yield gpu.subgroupAdd(x);
        const high: number = yield gpu.subgroupMax(x);
        const up: number = yield gpu.shuffleUp(x, 1);
        const down: number = yield gpu.shuffleDown(x, 2);
        const other: number = yield gpu.shuffleXor(x, 1);
        const first: number = yield gpu.subgroupBroadcast(gpu.localId(), 0);
        out[i] = sum + 10 * high + 100 * up + 1000 * down + 10_000 * other;
        n[i] = first * 100 + gpu.subgroupLane() * 10 + gpu.subgroupSize();
      },
    });
    const u = Float64Array.from({ length: 32 }, (_, i) => ((i * 7) % 10) + 1);
    const { out, n } = await onCpu(k, "f64", { u, out: new Float64Array(32), n: new Int32Array(32) }, { groups: 2 });
    u.forEach((_, i) => {
      const base = i & ~3;
      const group = u.slice(base, base + 4);
      const lane = i & 3;
      const expected =
        group[0] +
        group[1] +
        group[2] +
        group[3] +
        10 * Math.max(...group) +
        100 * (lane >= 1 ? u[i - 1] : u[i]) +
        1000 * (lane < 2 ? u[i + 2] : u[i]) +
        10_000 * u[i ^ 1];
      expect(out[i]).toBe(expected);
      expect(n[i]).toBe((base % 16) * 100 + lane * 10 + 4);
    });
  });

  it("atomics, alone and from several threads", async () => {
    const k = kernel({
      params: { total: write(i32), bits: write(u32), tickets: write(i32) },
      body({ total, bits, tickets }, gpu) {
        const i = gpu.globalId();
        const ticket = gpu.atomicAdd(total, 0, 1);
        gpu.atomicMax(total, 1, i % 1000);
        gpu.atomicMin(total, 2, -i);
        gpu.atomicOr(bits, 0, (1 << (i % 32)) >>> 0);
        if (i % 2 === 0) gpu.atomicXor(bits, 1, gpu.u32(i));
        gpu.atomicMax(bits, 2, gpu.u32(0) - gpu.u32(i) - gpu.u32(1));
        gpu.atomicAdd(tickets, ticket, 1);
      },
    });
    const items = 20_001;
    const run = (options: object) =>
      onCpu(
        k,
        "f64",
        { total: new Int32Array(3), bits: new Uint32Array(3), tickets: new Int32Array(items) },
        { items },
        options,
      );
    let evens = 0;
    for (let i = 0; i < items; i += 2) evens ^= i;
    for (const options of [
      { threads: 1 },
      { threads: 1, sharedMemory: false },
      { threads: 3, share: "always" },
    ] as const) {
      const { total, bits, tickets } = await run(options);
      expect([...total]).toEqual([items, 999, -(items - 1)]);
      expect([...bits]).toEqual([0xffffffff, evens >>> 0, 0xffffffff]);
      expect(tickets.every((n) => n === 1)).toBe(true);
    }
  });
});
