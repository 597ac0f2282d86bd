import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counted } from "../../support/extent.ts";
import { programFolder } from "../../support/program.ts";
import { runFaults } from "./faults.ts";
import { skipped } from "./redis.ts";

let folder: string;
let programs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-faults-"));
  programs = programFolder();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(programs, { recursive: true, force: true });
});

const RUNS = counted("FEYNKAC_FAULTS", 1, 10);

// `npm run bench -- faults` makes 200 runs.
test.skipIf(skipped)(
  "runs under random faults end with the bytes of a run without",
  async () => {
    const { happened, wrong } = await runFaults({ folder, programs, runs: RUNS, seed: 7 });
    expect(wrong).toEqual([]);
    expect(Object.values(happened).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(RUNS);
  },
  600_000,
);
