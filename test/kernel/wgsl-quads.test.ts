import { describe, expect, test } from "vitest";
import { i32, type Kernel, kernel, lower, read, real, write } from "../../src/kernel/index.ts";
import { emitWgsl } from "../../src/kernel/emit/wgsl/index.ts";

const params = { n: i32, u: read(real), out: write(real) };
const codeOf = (one: Kernel<any>, precision: "f32" | "f32x2" = "f32"): string => emitWgsl(lower(one, precision)).code;

const fours = kernel({
  name: "fours",
  params,
  groupSize: 16,
  *body({ n, u, out }, gpu) {
    const tile = gpu.sharedReal(64);
    const at = 4 * gpu.localId();
    for (let r = 0; r < 4; r++) tile[at + r] = u[at + r];
    yield;
    let sum = 0;
    for (let k = 0; k < n; k++) sum += tile[4 * k + 2] * tile[((k % 8) << 3) + 5];
    out[gpu.localId()] = sum;
  },
});

describe("workgroup arrays of vec4f", () => {
  test("where every index has a known remainder by 4 and stores come in fours", () => {
    const code = codeOf(fours);
    expect(code).toContain("array<vec4f, 16>");
    expect(code).toMatch(/tile_w0\[.* >> 2u\]\.w = /);
    expect(code).toMatch(/vec4f\(tile_w0\[\(.* - 2i\) >> 2u\]\)\.z \* vec4f\(tile_w0\[\(.* - 1i\) >> 2u\]\)\.y/);
  });

  test("not of pairs", () => {
    expect(codeOf(fours, "f32x2")).toContain("array<vec2f, 64>");
  });

  test("not where an index may be any", () => {
    const any = kernel({
      name: "any",
      params,
      groupSize: 16,
      *body({ n, u, out }, gpu) {
        const tile = gpu.sharedReal(64);
        const at = 4 * gpu.localId();
        for (let r = 0; r < 4; r++) tile[at + r] = u[at + r];
        yield;
        out[gpu.localId()] = tile[4 * n + gpu.localId()];
      },
    });
    expect(codeOf(any)).toContain("array<f32, 64>");
  });

  test("not where an item stores fewer than four neighbours, or a loop moves the index by fewer", () => {
    const single = kernel({
      name: "single",
      params,
      groupSize: 16,
      *body({ u, out }, gpu) {
        const tile = gpu.sharedReal(64);
        tile[4 * gpu.localId()] = u[0];
        yield;
        out[gpu.localId()] = tile[0];
      },
    });
    const moving = kernel({
      name: "moving",
      params,
      groupSize: 16,
      *body({ n, u, out }, gpu) {
        const tile = gpu.sharedReal(64);
        const at = 4 * gpu.localId();
        for (let r = 0; r < 4; r++) tile[at + r] = u[at + r];
        yield;
        let k = 0;
        let sum = u[0];
        while (k < n) {
          sum += tile[k];
          k += 3;
        }
        out[gpu.localId()] = sum;
      },
    });
    expect(codeOf(single)).toContain("array<f32, 64>");
    expect(codeOf(moving)).toContain("array<f32, 64>");
  });
});
