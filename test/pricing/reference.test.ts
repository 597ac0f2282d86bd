import { describe, expect, it } from "vitest";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, referenceTrades } from "./reference.ts";
import { allowedError, HONEST, NOT_FOR_MESHES, referenceErrors } from "./reference-errors.ts";

const all = referenceTrades();

describe.each(["auto", "fdm"] as const)("reference cases, method %s, f64", (method) => {
  const covered = all.filter(({ trade }) => method === "auto" || trade.id !== NOT_FOR_MESHES);
  const errors = () => referenceErrors(new PlainDevice(), { precision: "f64", method }, covered);

  it("are within their own tolerance or 2e-5 of spot", async () => {
    for (const [i, { id, value, error }] of (await errors()).entries()) {
      expect(error, `${id}: ${value}, expected ${covered[i].expected["price"]}`).toBeLessThanOrEqual(
        allowedError(covered[i], "f64"),
      );
    }
  });

  it("have honest error estimates, in at least 95 %", async () => {
    const all = await errors();
    expect(all.filter(({ honest }) => honest).length / all.length).toBeGreaterThanOrEqual(HONEST);
  });
});

describe("Greeks of the European reference cases", () => {
  const europeans = all.filter(({ trade, expected }) => trade.id.startsWith("EUR") && expected["delta"] !== undefined);
  const names = ["delta", "gamma", "theta", "vega", "rho"] as const;

  it.each([
    // Rounding of the closed form; the published values are correct to the last digit.
    ["auto", 1e-9, 1e-9],
    // Vega and rho are those of the fine mesh alone, not extrapolated: their error is the fine value's, about 1e-4 of them.
    ["fdm", 2e-5, 5e-4],
  ] as const)("method %s", async (method, meshTolerance, bumpTolerance) => {
    const covered = europeans.filter(({ trade }) => method === "auto" || !["EUR-O-12", "EUR-O-13"].includes(trade.id));
    const got = await priced(
      covered.map(({ trade }) => trade),
      { device: new PlainDevice(), method },
    );
    covered.forEach(({ trade, expected }, i) => {
      // Absolute parts in the Greek's own unit: value over spot for delta, over spot² for gamma, and so on.
      const { spot } = trade.underlying;
      const unit = { delta: 1, gamma: 1 / (spot * Math.max(trade.expiry, 0.01)), theta: spot, vega: spot, rho: spot };
      for (const name of names) {
        const tolerance =
          (name === "vega" || name === "rho" ? bumpTolerance : meshTolerance) *
          (Math.abs(expected[name]) + 0.1 * unit[name]);
        expect(
          Math.abs((got[i][name] as number) - expected[name]),
          `${trade.id} ${name}: ${got[i][name]}, expected ${expected[name]}`,
        ).toBeLessThanOrEqual(tolerance);
      }
    });
  });
});
