/** The misfit of a local volatility against prices that are known for both volatilities. */
import { expect, test } from "vitest";
import { LocalMisfit } from "../../src/calibration/misfit.ts";
import { localSurface } from "../../src/market/index.ts";
import { normalCdf } from "../support/normal.ts";

/** A call in units of its forward, by Black's formula. */
function callOf(kappa: number, deviation: number): number {
  const d = -Math.log(kappa) / deviation + 0.5 * deviation;
  return normalCdf(d) - kappa * normalCdf(d - deviation);
}

test.each([
  [0.2, 0.21],
  [0.3, 0.27],
])("a smile of %f and a local volatility of %f differ by Black's prices", (implied, local) => {
  const times = Array.from({ length: 9 }, (_, i) => i / 8);
  const spots = Array.from({ length: 61 }, (_, i) => 100 * Math.exp(0.05 * (i - 30)));
  const surface = localSurface(
    times,
    spots,
    times.map(() => spots.map(() => local)),
  );
  const parameters = { a: implied * implied, b: 0, rho: 0, m: 0, sigma: 1 };
  const smile = {
    slices: [{ time: 1, curve: { kind: "svi", parameters } as const }],
    spot: 100,
    forwards: [{ time: 1, forward: 100 }],
  };
  const still = (): { readonly scale: number; readonly cash: number } => ({ scale: 1, cash: 0 });
  const misfit = new LocalMisfit({ smile, surface, affine: { start: 100, times: [], at: still, before: still } });
  for (const t of [0.25, 1]) {
    const { kappa, calls } = misfit.at(t);
    const root = Math.sqrt(t);
    const exact = Array.from(kappa, (one) => callOf(one, local * root) - callOf(one, implied * root));
    const largest = Math.max(...exact.map(Math.abs));
    const error = Math.max(...exact.map((one, j) => Math.abs(one - calls[j])));
    expect(largest).toBeGreaterThan(1e-3);
    // Some per cent: it is an estimate of errors.
    expect(error / largest).toBeLessThan(0.05);
  }
});
