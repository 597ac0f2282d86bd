import { describe, expect, it } from "vitest";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, referenceTrades, trade } from "./reference.ts";

const trades = referenceTrades()
  .map(({ trade }) => trade)
  .filter(({ id, exercise }) => exercise.kind === "american" || id.startsWith("LVL") || id.startsWith("DIV"));

describe("Greeks without a closed form", () => {
  it("are those of a solution three times finer in each direction", async () => {
    const device = new PlainDevice();
    const got = await priced(trades, { device, method: "fdm" });
    const finer = await priced(trades, { device, method: "fdm", accuracy: { relative: 1e-6 } });
    // Largest differences seen: 3e-5, 2e-4, 1e-4, 1e-3, 2e-3, each in its natural unit.
    const tolerance = { delta: 1e-4, gamma: 6e-4, theta: 6e-4, vega: 4e-3, rho: 5e-3 } as const;
    trades.forEach(({ id, underlying: { spot }, expiry }, i) => {
      const root = Math.sqrt(expiry);
      const unit = {
        delta: 1,
        gamma: 5 / (spot * root),
        theta: (0.2 * spot) / root,
        vega: spot * root,
        rho: spot * expiry,
      };
      for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const) {
        const difference = Math.abs((got[i][name] as number) - (finer[i][name] as number)) / unit[name];
        expect({ id, name, difference, fine: difference <= tolerance[name] }).toMatchObject({ fine: true });
      }
    });
  });

  it("have the value's own slopes: delta and gamma against spot scenarios", async () => {
    const device = new PlainDevice();
    const axes = { time: [0], spot: [-0.01, 0, 0.01], volatility: [0], rate: [0] };
    const got = await priced(trades, { device, method: "fdm" }, axes);
    got.forEach(({ id, delta, scenarios }, i) => {
      const [down, , up] = (scenarios?.[0] ?? []).map((plane) => plane[0][0] as number);
      const slope = (up - down) / (0.02 * trades[i].underlying.spot);
      expect({ id, delta, slope, fine: Math.abs(slope - (delta as number)) <= 2e-3 }).toMatchObject({ fine: true });
    });
  });

  it("of what is exercised next to a jump of the payoff are those of what the holder gets", async () => {
    const paid = [
      [{ kind: "digital", right: "call", strike: 100, cash: 37 }, 100.0004, 0],
      [{ kind: "digital", right: "put", strike: 100.0004, cash: 37 }, 100, 0],
      [{ kind: "expression", expression: "S >= 100 ? 2*S : 0", kinks: [100] }, 100.0004, 2],
    ] as const;
    const got = await priced(
      paid.map(([payoff, spot]) => trade({ payoff, exercise: { kind: "american" }, market: { spot } })),
      { device: new PlainDevice() },
    );
    paid.forEach(([, , slope], i) => expect(got[i].delta).toBeCloseTo(slope, 6));
  });
});
