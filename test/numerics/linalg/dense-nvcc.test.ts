/** What nvcc makes of the product's kernels: no GPU is needed. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emitCuda } from "../../../src/kernel/emit/cuda/index.ts";
import { lower } from "../../../src/kernel/index.ts";
import { tiledMatmulKernel } from "../../../src/numerics/linalg/dense/tiled-kernel.ts";
import { compile, nvccMissing } from "../../kernel/cuda-support.ts";
import { dealt } from "../../support/extent.ts";

const shape = { rows: 128, columns: 128, itemRows: 8, itemColumns: 8, aTransposed: false, bTransposed: true };
const cases = [
  { precision: "f64", depth: 8 },
  { precision: "f32", depth: 16 },
] as const;

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test.each(dealt(cases, 1, 2))(
    "$precision: tiles in registers, workgroup memory read 16 bytes at a time",
    async (one) => {
      const { precision, depth } = one;
      const { code } = emitCuda(lower(tiledMatmulKernel({ ...shape, depth }), precision));
      const [resources] = await compile(code, [90]);
      expect(resources).toMatchObject({ stack: 0, spilled: 0 });
      const text = ptxOf(code);
      const count = (instruction: string): number => text.split(instruction).length - 1;
      // A step has 8 + 8 words for 64 products. Some fours are left in parts, which ptxas merges.
      const [wide, words] = precision === "f64" ? ["v2.f64", 2] : ["v4.f32", 4];
      expect(count(`ld.shared.${wide}`)).toBeGreaterThan((0.9 * 16 * depth) / words);
      expect(count("fma.rn.f")).toBeGreaterThanOrEqual(64 * depth);
    },
  );
});

function ptxOf(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-nvcc-"));
  try {
    writeFileSync(join(folder, "k.cu"), code);
    const options = ["-ptx", "-arch=sm_90", "--std=c++17", "--disable-warnings", "-o", "-", join(folder, "k.cu")];
    return execFileSync("nvcc", options, { encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
