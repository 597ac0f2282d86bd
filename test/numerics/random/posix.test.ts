/** drand48 against the C library of this machine, where there is a compiler. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { randomNumbers } from "../../../src/numerics/random/index.ts";

const hasCompiler = spawnSync("cc", ["--version"]).status === 0;
const COUNT = 10_000;

const PROGRAM = `
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **seeds) {
  srand48(atol(seeds[1]));
  for (int i = 0; i < ${COUNT}; i++) printf("%a\\n", drand48());
}`;

test.skipIf(!hasCompiler).each([0, 1, 4711, 2 ** 31 - 1])("srand48(%i)", async (seed) => {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-drand48-"));
  try {
    writeFileSync(join(folder, "d.c"), PROGRAM);
    execFileSync("cc", ["-o", join(folder, "d"), join(folder, "d.c")]);
    const lines = execFileSync(join(folder, "d"), [String(seed)], { encoding: "utf8" })
      .trim()
      .split("\n");
    using device = createCpuDevice({ threads: 1 });
    const u = await randomNumbers({ device, generator: "drand48", seed, count: COUNT });
    expect(Array.from(u, (x) => x - 2 ** -49)).toEqual(lines.map(fromHexadecimal));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** 0x1.8p-1 is 0.75. */
function fromHexadecimal(text: string): number {
  const [, head, digits = "", exponent] = /^0x([01])\.?([0-9a-f]*)p([-+]\d+)$/.exec(text)!;
  return (Number.parseInt(head + digits, 16) / 16 ** digits.length) * 2 ** Number(exponent);
}
