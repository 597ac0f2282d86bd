/** Black, Derman and Toy's lattice against reference values that were computed with 40 digits. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { LatticeEngine, type ShortRateTrade } from "../../../src/quadrature/rates/index.ts";
import { openCudaForTests } from "../../support/cuda.ts";
import { readFixture } from "../../support/fixtures.ts";

interface Reference {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly annual_yields: readonly number[];
    readonly yield_volatilities: readonly number[];
    readonly bond_coupon_rate: number;
    readonly bond_maturity: number;
    readonly bond_face: number;
    readonly option_expiry: number;
    readonly option_strike_ex_coupon: number;
    readonly call_price_ex_coupon_every_coupon_date: number;
  };
  readonly expected: {
    readonly short_rates: readonly (readonly number[])[];
    readonly bond: number;
    readonly european_call: number;
    readonly european_put: number;
    readonly callable_bond: number;
  };
}

const { cases } = readFixture("reference/rates-products.json") as { readonly cases: readonly Reference[] };
const references = cases.filter(({ product }) => product === "bdt_lattice");

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** A bond for the whole lattice, the reference's bond, both options on it, and its callable bond. */
function claimsOf({ params }: Reference): readonly ShortRateTrade[] {
  const { bond_coupon_rate: coupon, bond_maturity: maturity, bond_face: face, option_expiry: expiry } = params;
  const flows = Array.from({ length: maturity }, (_, i): readonly [number, number] => {
    return [i + 1, face * (coupon + (i + 1 === maturity ? 1 : 0))];
  });
  const cap = params.call_price_ex_coupon_every_coupon_date;
  const option = [{ time: expiry, settlement: expiry, floor: params.option_strike_ex_coupon }];
  const calls = flows.slice(0, -1).map(([time]) => ({ time, settlement: time, cap }));
  return [
    { kind: "bond", flows: [[params.annual_yields.length, 1]], dates: [] },
    { kind: "bond", flows, dates: [] },
    { kind: "receiver", flows, dates: option },
    { kind: "payer", flows, dates: option },
    { kind: "bond", flows, dates: calls },
  ];
}

test.each(["cpu", "cuda"])("lattices, bonds, options and callable bonds on %s", async (backend) => {
  using cuda = backend === "cuda" ? await openCudaForTests() : undefined;
  const engine = new LatticeEngine(cuda ?? device);
  const list = references.flatMap((reference) => {
    const { annual_yields, yield_volatilities } = reference.params;
    const yields = annual_yields.map((y, i) => [y, yield_volatilities[i]] as const);
    return claimsOf(reference).map((trade) => ({ trade, yields }));
  });
  const { values, ratesOf } = await engine.values(list);
  references.forEach(({ params, expected }, k) => {
    const [zero, ...prices] = values.subarray(5 * k, 5 * k + 5);
    const n = params.annual_yields.length;
    expect(zero).toBeCloseTo((1 + params.annual_yields[n - 1]) ** -n, 13);
    const { bond, european_call, european_put, callable_bond } = expected;
    [bond, european_call, european_put, callable_bond].forEach((price, i) => expect(prices[i]).toBeCloseTo(price, 10));
    ratesOf(5 * k).forEach(([lowest, factor], i) =>
      expected.short_rates[i].forEach((rate, j) => expect(lowest * factor ** j).toBeCloseTo(rate, 11)),
    );
  });
  expect(references).toHaveLength(2);
});

test.each([
  [
    "would have rates below 0",
    [
      [0.1, 0.2],
      [0.01, 0.2],
    ],
  ],
  [
    "are met by no rates, though all would be above 0",
    [
      [0.0194, 0.187],
      [0.1146, 0.439],
      [0.0897, 0.214],
      [0.0547, 0.111],
      [0.1489, 0.57],
    ],
  ],
] as const)("yields that %s have no value", async (_name, yields) => {
  const trade: ShortRateTrade = { kind: "bond", flows: [[yields.length, 100]], dates: [] };
  const { values } = await new LatticeEngine(device).values([{ trade, yields }]);
  expect(values[0]).toBeNaN();
});

test("a right to sell comes before a right to buy on the same date: the holder's floor above the cap", async () => {
  // Held, the bond is worth about 100·e⁻ʳ: the issuer would take it at 50, but the holder has sold it for 90.
  const yields = [
    [0.05, 0.2],
    [0.05, 0.2],
  ] as const;
  const flows: readonly (readonly [number, number])[] = [[2, 100]];
  const trade: ShortRateTrade = { kind: "bond", flows, dates: [{ time: 1, settlement: 1, floor: 90, cap: 50 }] };
  const { values } = await new LatticeEngine(device).values([{ trade, yields }]);
  expect(values[0]).toBeCloseTo(90 / 1.05, 12);
});
