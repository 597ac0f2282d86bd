import { describe, expect, it } from "vitest";

import { emitWasm } from "../../src/kernel/emit/wasm/index.ts";
import { i32, type KernelIR, kernelFromSource, lower, type Params, read, real, write } from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { lowerSubgroups } from "../../src/kernel/lower-subgroups.ts";
import { analyseUniformity } from "../../src/kernel/uniform.ts";
import { forEachStmt } from "../../src/kernel/visit.ts";

const PARAMS = { n: i32, u: read(real), k: read(i32), out: write(real) };

function lowered(source: string, params: Params = PARAMS, groupSize = 8): KernelIR {
  return lower(kernelFromSource({ params, groupSize, source }), "f64");
}

/** The shapes of the locals that have these names in the source. */
function shapes(source: string, writable: "uniform" | "varying" = "uniform"): Record<string, string> {
  const ir = lowered(source);
  const { locals } = analyseUniformity(ir, { writable });
  return Object.fromEntries(ir.locals.map(({ name }, id) => [name, locals[id]]));
}

describe("uniformity", () => {
  it("follows the item's number", () => {
    const found = shapes(
      "({ n, k, out }, gpu) => { const i = gpu.globalId(); const at = 3 * n + i - 1; const twice = i * 2; const there = k[i]; out[at + twice + there] = 1; }",
    );
    expect(found).toMatchObject({ i: "contiguous", at: "contiguous", twice: "varying", there: "varying" });
  });

  it("keeps counters uniform after an early return", () => {
    const found = shapes(
      "({ n, out }, gpu) => { const i = gpu.globalId(); if (i >= n) return; let s = 0.0; for (let j = 0; j < n; j++) { const t = j * 2; s += gpu.real(t); } out[i] = s; }",
    );
    expect(found).toMatchObject({ j: "uniform", t: "uniform", s: "uniform" });
  });

  it("lets what items carry out of divergent code vary", () => {
    const found = shapes(
      "({ n, k, out }, gpu) => { const i = gpu.globalId(); let step = 0; while (step < n) { if (k[i] === step) break; step++; } let side = 0; if (k[i] > 0) side = 1; out[i] = gpu.real(step + side); }",
    );
    expect(found).toMatchObject({ step: "varying", side: "varying" });
  });

  it("trusts loads of memory that is only read, others if told to", () => {
    const source = "({ n, u, out }, gpu) => { const a = u[n]; const b = out[n]; out[gpu.globalId()] = a + b; }";
    expect(shapes(source, "uniform")).toMatchObject({ a: "uniform", b: "uniform" });
    expect(shapes(source, "varying")).toMatchObject({ a: "uniform", b: "varying" });
  });

  it("knows which statements not all items reach", () => {
    const ir = lowered(
      "({ n, k, out }, gpu) => { const i = gpu.globalId(); if (n > 2) out[i] = 1; if (k[i] > 2) out[i] = 2; }",
    );
    const flow = analyseUniformity(ir, { writable: "varying" });
    const stores: boolean[] = [];
    forEachStmt(ir.body, (s) => s.kind === "store" && stores.push(flow.isDivergent(s)));
    expect(stores).toEqual([false, true]);
  });
});

describe("subgroup operations through workgroup arrays", () => {
  for (const groupSize of [8, 10]) {
    it(`with barriers, groups of ${groupSize}`, () => {
      const source = `function* ({ n, u, out }, gpu) {
        const i = gpu.globalId();
        const x = u[i];
        const sum = yield gpu.subgroupAdd(x);
        const low = yield gpu.subgroupMin(x);
        const up = yield gpu.shuffleUp(x, n);
        const down = yield gpu.shuffleDown(x, 1);
        const other = yield gpu.shuffleXor(x, 3);
        const far = yield gpu.shuffle(x, gpu.subgroupSize() - 1 - gpu.subgroupLane());
        out[i] = sum + 10 * low + 100 * up + 1000 * down + 10000 * other + 100000 * far;
      }`;
      const ir = lowered(source, PARAMS, groupSize);
      const u = Float64Array.from({ length: 2 * groupSize }, (_, i) => ((i * 7) % 9) + 1);
      const run = (one: KernelIR): Float64Array => {
        const out = new Float64Array(u.length);
        interpret(one, { n: 2, u, k: new Int32Array(1), out }, { groups: 2 });
        return out;
      };
      expect(run(lowerSubgroups(ir, { size: 4, barriers: true }))).toEqual(run(ir));
    });
  }
});

describe("generated code", () => {
  const memory = { shared: false, maximumPages: 16 };

  it("reads rows whole, with what is constant in the instruction", () => {
    const ir = lowered(
      "({ n, u, out }, gpu) => { const i = gpu.globalId(); const w = gpu.privateReal(64); for (let j = 1; j < n; j++) w[j] = w[j - 1] + u[j * n + i]; out[i] = w[n]; }",
    );
    const code = emitWasm(ir, { memory, vectors: 2 }).listing();
    expect(code).toContain("v128.load offset=");
    expect(code.slice(0, code.indexOf("one chunk under masks"))).not.toMatch(/load64_lane|bitselect/);
    expect(code).toContain(";; kernel:1");
  });

  it("keeps small private arrays in locals", () => {
    const ir = lowered(
      "({ u, out }, gpu) => { const w = gpu.privateReal(3); w[0] = u[gpu.globalId()]; w[2] = w[0]; out[gpu.globalId()] = w[2]; }",
    );
    expect(
      emitWasm(ir, { memory })
        .listing()
        .match(/v128\.store(?!64)/g),
    ).toHaveLength(8); // four vectors, twice: nothing else is stored
  });

  it("is valid for every number of vectors, shared memory or not", () => {
    const ir = lowered("({ u, out }, gpu) => { const i = gpu.globalId(); out[i] = gpu.ldexp(u[i], i) % 3; }");
    for (const vectors of [1, 2, 4, 8]) {
      for (const shared of [true, false]) {
        expect(WebAssembly.validate(emitWasm(ir, { memory: { shared, maximumPages: 16 }, vectors }).bytes)).toBe(true);
      }
    }
  });
});
