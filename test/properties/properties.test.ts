/**
 * Random trades of every kind, with what must hold of their values. `npm run check:properties` does the same for more
 * of them.
 */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { counted } from "../support/extent.ts";
import { allProperties } from "../../tools/properties/all.ts";
import { KNOWN } from "../../tools/properties/known.ts";
import { findingText, reportText, run } from "../../tools/properties/run.ts";
import { verdictOn, verdictText, WITHIN } from "../../tools/properties/verdict.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const TRADES = counted("FEYNKAC_TRADES", 900, 3000);

describe(`${TRADES} random trades`, () => {
  it(
    "are priced, within their estimates, and with nothing far off that is not listed",
    { timeout: 600_000 },
    async () => {
      const report = await run({ device, properties: allProperties, trades: TRADES, seed: 1 });
      const verdict = verdictOn(report);
      console.log(`${reportText(report, 0)}\n${verdictText(verdict)}`);
      expect(report.failures.map(findingText)).toEqual([]);
      expect(verdict.unlisted.map(findingText)).toEqual([]);
      expect(verdict.within).toBeGreaterThanOrEqual(WITHIN);
      // Every check had its turn.
      expect(report.checks.length).toBeGreaterThan(80);
    },
  );
});

describe("what is known", () => {
  const limitations = readFileSync(new URL("../../LIMITATIONS.md", import.meta.url), "utf8").replaceAll(/\s+/g, " ");

  it.each(KNOWN)("is listed: $words", ({ words }) => expect(limitations).toContain(words));
});
