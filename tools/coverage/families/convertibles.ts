/** Convertible bonds. */
import { blackScholes, piecesOf, survivingValue } from "../../properties/closed-forms.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, Json, Known } from "../case.ts";
import { gridValue } from "../references/grid.ts";

const NOTIONAL = 100;

interface Bond {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly maturity: number;
  readonly coupon: number;
  readonly frequency: number;
  readonly ratio: number;
}

function drawBond(random: Random): Bond {
  const isExtreme = random.chance(0.2);
  return {
    spot: 100 * Math.exp(random.uniform(-0.7, 0.5)),
    rate: random.uniform(-0.01, 0.08),
    yield: random.uniform(0, 0.05),
    volatility: isExtreme ? random.logUniform(0.06, 0.9) : random.uniform(0.15, 0.5),
    maturity: isExtreme ? random.logUniform(0.1, 15) : random.uniform(0.5, 8),
    coupon: random.uniform(0, 0.08),
    frequency: random.choice([1, 2, 4]),
    ratio: Math.exp(random.uniform(-1, 0.7)),
  };
}

/** The times of the coupons, back from maturity. */
const couponsOf = ({ maturity, frequency }: Bond): number[] =>
  Array.from({ length: Math.ceil(maturity * frequency - 1e-9) }, (_, k) => maturity - k / frequency)
    .filter((time) => time > 1e-9)
    .toReversed();

const caseOf = (bond: Bond, credit: Json, terms: Json, reference: () => Known): Case => {
  const { spot, rate, yield: q, volatility, maturity, coupon, frequency, ratio } = bond;
  return {
    rates: rate,
    underlyings: { A: { spot, volatility, dividends: { yield: q } } },
    credit,
    trade: { underlying: "A", convertible: { maturity, coupon, frequency, notional: NOTIONAL, ratio, ...terms } },
    method: "fdm",
    scale: NOTIONAL,
    reference,
  };
};

/** Conversion at maturity alone: shares where they are worth more than the notional with its coupon. */
function european(random: Random): Case {
  const bond = drawBond(random);
  const { spot, rate, yield: q, volatility, maturity, coupon, frequency, ratio } = bond;
  const paid = (NOTIONAL * coupon) / frequency;
  const last = NOTIONAL + paid;
  const edge = last / ratio;
  const coupons = (discount: number): number =>
    couponsOf(bond)
      .slice(0, -1)
      .reduce((sum, time) => sum + paid * Math.exp(-discount * time), 0);
  if (random.chance(0.5)) {
    const spread = random.uniform(0, 0.12);
    const model = { spot, rate, yield: q, volatility, expiry: maturity };
    // Cash is discounted at the rate and the spread, shares at the rate.
    const value = (): number =>
      coupons(rate + spread) +
      Math.exp(-spread * maturity) * survivingValue(model, piecesOf("digital-put", edge, last)) +
      survivingValue(model, [{ from: edge, to: Infinity, constant: 0, slope: ratio }]);
    return caseOf(bond, { spread }, { conversion: "european" }, () => ({ value: value(), error: 0 }));
  }
  const [hazard, recovery] = [random.uniform(0, 0.12), random.uniform(0, 0.6)];
  const jump = 1;
  const all = rate + hazard;
  const model = { spot, rate: all, yield: all - (rate - q + hazard * jump), volatility, expiry: maturity };
  const value = (): number =>
    coupons(all) +
    last * Math.exp(-all * maturity) +
    ratio * blackScholes(model, "call", edge) +
    (hazard * recovery * NOTIONAL * -Math.expm1(-all * maturity)) / all;
  return caseOf(bond, { hazard, recovery, jump }, { conversion: "european" }, () => ({ value: value(), error: 0 }));
}

/** Conversion at any time, calls and puts on dates, under a hazard rate that takes the whole stock. */
function withRights(random: Random): Case {
  const bond = drawBond(random);
  const { spot, rate, yield: q, volatility, maturity, coupon, frequency, ratio } = bond;
  const paid = (NOTIONAL * coupon) / frequency;
  const [hazard, recovery] = [random.uniform(0, 0.12), random.uniform(0, 0.6)];
  const times = couponsOf(bond);
  // Rights fall on dates of coupons, where nothing has accrued.
  const rights = times.slice(0, -1).filter(() => random.chance(0.4));
  const isCall = rights.map(() => random.chance(0.6));
  const prices = isCall.map((call) => NOTIONAL * (call ? random.uniform(1, 1.3) : random.uniform(0.85, 1)));
  const of = (call: boolean): readonly Json[] =>
    rights.flatMap((date, k) => (isCall[k] === call ? [{ date, price: prices[k] }] : []));
  const reference = (): Known =>
    gridValue({
      spot,
      expiry: maturity,
      rate: () => rate + hazard,
      dividendYield: q,
      sigma: () => volatility,
      level: volatility,
      payoff: (S) => Math.max(ratio * S, NOTIONAL + paid),
      kinks: [(NOTIONAL + paid) / ratio],
      source: hazard * recovery * NOTIONAL,
      obstacle: (S) => ratio * S,
      events: times.slice(0, -1).map((time) => {
        const k = rights.indexOf(time);
        return {
          time,
          value: (S: number, kept: number): number => {
            const shares = ratio * S;
            const held = k < 0 ? kept : isCall[k] ? Math.min(kept, prices[k]) : Math.max(kept, prices[k]);
            return Math.max(held, shares) + paid;
          },
        };
      }),
    });
  return caseOf(bond, { hazard, recovery, jump: 1 }, { calls: of(true), puts: of(false) }, reference);
}

export const convertibleFamilies: readonly Family[] = [
  {
    name: "convertible bonds, conversion at maturity",
    reference: "closed form",
    draws: "credit spreads and hazard rates to 12 %, to 15 years",
    draw: european,
  },
  {
    name: "convertible bonds, conversion at any time, calls, puts",
    reference: "own solution",
    draws: "hazard rates to 12 %, rights on coupon dates",
    draw: withRights,
  },
];
