/**
 * Random trades of several factors and paths, some of each family. `npm run check:properties -- --factors several` does
 * the same for more of them.
 */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { counted } from "../support/extent.ts";
import { findingText } from "../../tools/properties/run.ts";
import { familyTable, runFamily, severalFamilies } from "../../tools/properties/several.ts";

const TRADES = counted("FEYNKAC_TRADES_OF_SEVERAL", 8, 40);

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

describe.each(severalFamilies)("$name", (family) => {
  it("has values within their bounds and their estimates", { timeout: 600_000 }, async () => {
    const report = await runFamily(family, { device, trades: TRADES, seed: 1 });
    console.log(familyTable([report]));
    expect(report.report.failures.map(findingText)).toEqual([]);
    const far = report.worstRatio > family.worstRatio && report.worst !== undefined ? findingText(report.worst) : "";
    expect(far).toBe("");
    // Of few checks one may be beyond.
    const checks = report.report.checks.reduce((sum, { n }) => sum + n, 0);
    expect(report.report.offenders.length).toBeLessThanOrEqual(Math.max(1, (1 - family.within) * checks));
  });
});
