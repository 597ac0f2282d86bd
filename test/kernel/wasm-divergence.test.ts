import { describe, expect, it } from "vitest";

import { i32, kernel, type Precision, read, real, write } from "../../src/kernel/index.ts";
import { expectSame, onCpu } from "./wasm-support.ts";

const ITEMS = [1, 3, 16, 37];
const PRECISIONS: readonly Precision[] = ["f64", "f32"];
const zeros = (precision: Precision, length: number) =>
  precision === "f64" ? new Float64Array(length) : new Float32Array(length);

describe("WebAssembly: items part company", () => {
  for (const precision of PRECISIONS) {
    it(`nested conditions, ${precision}`, async () => {
      const k = kernel({
        params: { out: write(real), count: write(i32) },
        body({ out, count }, gpu) {
          const i = gpu.globalId();
          let x = gpu.real(i);
          let n = 0;
          if (i % 2 === 0) {
            x = x * 2;
            if (i % 3 === 0) {
              n = 1;
              x += 0.5;
            } else {
              n = 2;
              if (i > 10) x = -x;
            }
          } else if (i % 5 === 0 || i === 7) n = i;
          out[i] = x;
          if (n > 1) count[i] = n;
        },
      });
      for (const items of ITEMS)
        await expectSame(k, precision, { out: zeros(precision, items), count: new Int32Array(items) }, { items });
    });

    it(`loops of different lengths, breaks and continues, ${precision}`, async () => {
      const k = kernel({
        params: { out: write(real), last: write(i32) },
        body({ out, last }, gpu) {
          const i = gpu.globalId();
          let sum = 0;
          let k = 0;
          while (k < i % 7) {
            sum += gpu.real(k) * 0.5;
            k++;
          }
          let seen = -1;
          for (let j = 0; j < 40; j++) {
            if ((j + i) % 3 === 0) continue;
            if (j > i) break;
            seen = j;
            for (let m = 0; m < j; m++) {
              if (m === i % 4) break;
              if (j % 2 === 0) continue;
              sum += 1;
            }
            if (sum > 100) break;
            sum -= 0.25;
          }
          out[i] = sum + gpu.real(k);
          last[i] = seen;
        },
      });
      for (const items of ITEMS)
        await expectSame(k, precision, { out: zeros(precision, items), last: new Int32Array(items) }, { items });
    });

    it(`uniform loops inside divergent code, ${precision}`, async () => {
      const k = kernel({
        params: { n: i32, u: read(real), out: write(real) },
        body({ n, u, out }, gpu) {
          const i = gpu.globalId();
          if (i % 3 === 1) return;
          const w = gpu.privateReal(50);
          let sum = 0;
          for (let j = 0; j < n; j++) {
            w[j] = u[j] * gpu.real(i);
            if (j === 30) break;
            if (j % 4 === 1) continue;
            sum += u[j];
          }
          for (let j = 1; j < n && j < 30; j++) sum += w[j] - w[j - 1];
          out[i] = sum;
        },
      });
      const u = zeros(precision, 45).map((_, i) => Math.sin(i));
      for (const items of ITEMS) {
        for (const n of [0, 1, 45]) await expectSame(k, precision, { n, u, out: zeros(precision, items) }, { items });
      }
    });

    it(`a counter after a varying break is each item's own, ${precision}`, async () => {
      const k = kernel({
        params: { limit: read(i32), steps: write(i32), out: write(real) },
        body({ limit, steps, out }, gpu) {
          const i = gpu.globalId();
          let step = 0;
          let x = 1;
          while (step < 20) {
            if (step >= limit[i]) break;
            x = x * 1.5;
            step++;
          }
          let tries = 0;
          for (; tries < 9; tries++) if (tries === limit[i]) break;
          steps[i] = step * 100 + tries;
          out[i] = x;
        },
      });
      for (const items of ITEMS) {
        const limit = Int32Array.from({ length: items }, (_, i) => (i * 7) % 23);
        await expectSame(
          k,
          precision,
          { limit, steps: new Int32Array(items), out: zeros(precision, items) },
          { items },
        );
      }
    });

    it(`loads that only some items may make, ${precision}`, async () => {
      const k = kernel({
        params: { far: i32, u: read(real), at: read(i32), out: write(real) },
        body({ far, u, at, out }, gpu) {
          const i = gpu.globalId();
          const left = i > 0 ? u[i - 1] : 0;
          const right = i < u.length - 1 ? u[i + 1] : 0;
          const there = at[i] >= 0 && at[i] < u.length && u[at[i]] > 0 ? u[at[i]] : -1;
          const never = i < 0 ? u[i + far] : 1;
          let guarded = 0;
          if (i >= 2) guarded = u[i - 2];
          out[i] = left + 10 * right + 100 * there + never + guarded + (i < 0 ? u[far] : 0);
        },
      });
      for (const items of ITEMS) {
        const u = zeros(precision, items).map((_, i) => i + 1);
        const at = Int32Array.from({ length: items }, (_, i) =>
          i % 3 === 0 ? 2 ** 31 - 1 : i % 3 === 1 ? -5 : (i * 5) % items,
        );
        await expectSame(k, precision, { far: 2 ** 30, u, at, out: zeros(precision, items) }, { items });
      }
    });

    it(`private arrays at each item's own index, ${precision}`, async () => {
      const k = kernel({
        params: { out: write(real), counts: write(i32) },
        body({ out, counts }, gpu) {
          const i = gpu.globalId();
          const w = gpu.privateReal(40);
          const n = gpu.privateI32(40);
          const small = gpu.privateReal(3);
          for (let j = 0; j < 40; j++) {
            w[j] = gpu.real(j);
            n[j] = -j;
          }
          small[0] = 1;
          small[1] = gpu.real(i);
          small[2] = small[0] + small[1];
          w[i % 40] = 1000;
          if (i % 2 === 0) {
            n[(i * 3) % 40] = 77;
            w[5] = 0.125;
            small[1] = -1;
          }
          let sum = 0;
          for (let j = 0; j < 40; j++) sum += w[(i + j * j) % 40] * small[2] + small[1];
          out[i] = sum;
          counts[i] = n[(i + 1) % 40] + n[(i * 3) % 40];
        },
      });
      for (const items of ITEMS)
        await expectSame(k, precision, { out: zeros(precision, items), counts: new Int32Array(items) }, { items });
    });

    it(`scatters and reversals, ${precision}`, async () => {
      const k = kernel({
        params: { u: read(real), out: write(real), n: write(i32) },
        body({ u, out, n }, gpu) {
          const i = gpu.globalId();
          const last = u.length - 1;
          out[last - i] = u[i];
          n[(last - i) * 2] = i;
          if (i % 3 === 0) n[i * 2 + 1] = i;
        },
      });
      for (const items of ITEMS) {
        const u = zeros(precision, items).map((_, i) => i * 0.5);
        await expectSame(k, precision, { u, out: zeros(precision, items), n: new Int32Array(2 * items) }, { items });
      }
    });
  }

  it("writes nothing beyond the last item", async () => {
    const k = kernel({
      params: { out: write(real), n: write(i32) },
      body({ out, n }, gpu) {
        out[gpu.globalId()] = 1;
        n[gpu.globalId() + 1] = 2;
      },
    });
    for (let items = 0; items < 20; items++) {
      const { out, n } = await onCpu(k, "f64", { out: new Float64Array(32), n: new Int32Array(32) }, { items });
      expect([...out]).toEqual(Array.from({ length: 32 }, (_, i) => Number(i < items)));
      expect([...n]).toEqual(Array.from({ length: 32 }, (_, i) => (i > 0 && i <= items ? 2 : 0)));
    }
  });
});
