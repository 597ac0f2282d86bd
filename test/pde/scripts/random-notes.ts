/** Random notes on one underlying, from the library and with early rights, and random markets for them. */

/** A note of the book, with its market. */
export interface RandomNote {
  readonly trade: { readonly script: unknown; readonly [name: string]: unknown };
  readonly market: object;
}

/** The same numbers on every run: a linear congruential generator. */
export function uniforms(seed: number): (low: number, high: number) => number {
  let state = seed;
  return (low, high) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  };
}

/** Returns a note of a kind (by number) and a market, by random numbers. */
export function randomNote(kind: number, random: ReturnType<typeof uniforms>): RandomNote {
  const whole = (low: number, high: number): number => Math.floor(random(low, high + 1));
  const dates = (count: number, life: number): number[] =>
    Array.from({ length: count }, (_, k) => (life * (k + 1)) / count);
  const count = whole(1, 6);
  const life = random(0.2, 3);
  const on = dates(count, life);
  const list = (low: number, high: number): number[] => on.map(() => random(low, high));
  const knockIn = { knockInDates: on, knockIn: random(0.5, 0.9), putStrike: random(0.8, 1.1) };
  const exercise = (text: string) => ({ events: [{ on: "dates", do: text }] });
  const kinds: readonly ((() => object) | undefined)[] = [
    () => ({
      script: "autocallable",
      initial: random(80, 120),
      data: {
        notional: 100,
        observations: on,
        barriers: list(0.9, 1.2),
        premiums: list(0, 0.3),
        ...knockIn,
        maturity: life,
      },
    }),
    () => ({
      script: "phoenix",
      initial: random(80, 120),
      data: {
        notional: 100,
        observations: on,
        payments: on.map((time) => time + 0.02),
        coupons: list(0, 0.05),
        couponBarriers: list(0.6, 1),
        callBarriers: list(0.95, 1.2),
        memory: whole(0, 1),
        missed: 0,
        ...knockIn,
        maturity: life,
        redemption: life + 0.02,
      },
    }),
    () => ({
      script: "reverseConvertible",
      initial: random(80, 120),
      data: {
        notional: 100,
        couponDates: on,
        coupons: list(0, 0.05),
        monitoring: dates(3 * count, life),
        barrier: random(0.5, 0.95),
        strike: random(0.9, 1.1),
        maturity: life,
      },
    }),
    () => ({
      script: "sharkFin",
      initial: random(80, 120),
      data: {
        notional: 100,
        protection: 0.95,
        participation: random(0.3, 1),
        strike: random(0.8, 1.1),
        knockOut: random(1.1, 1.5),
        rebate: random(0, 0.1),
        observations: on,
        maturity: life,
      },
    }),
    () => ({
      script: "ladder",
      data: {
        shares: 1,
        strike: random(80, 120),
        observations: on,
        first: random(95, 110),
        step: random(5, 15),
        rungs: whole(1, 5),
        reached: 0,
        maturity: life,
      },
    }),
    () => ({
      script: "rangeAccrual",
      data: {
        notional: 100,
        rate: random(0.02, 0.1),
        fixings: dates(5 * count, life),
        lower: random(70, 95),
        upper: random(105, 140),
        payments: on,
        fractions: on.map(() => life / count),
        totals: on.map(() => 5),
        past: 0,
        maturity: life,
      },
    }),
    () => ({
      script: "accumulator",
      data: {
        shares: 1,
        leverage: random(1, 3),
        strike: random(85, 98),
        knockOut: random(103, 120),
        buysAtKnockOut: whole(0, 1),
        fixings: on,
      },
    }),
    () => ({ script: exercise("exercise(strike - S)"), data: { dates: on, strike: random(80, 120) } }),
    () => ({
      script: {
        events: [
          { on: "dates", do: "if (S >= 90) pay(100 * coupon); call(100)" },
          { on: "maturity", do: "pay(S < 80 ? S : 100)" },
        ],
      },
      data: { dates: on, coupon: random(0, 0.1), maturity: life + 0.1 },
    }),
    // A target redemption forward; without a notional, accuracies are relative to the spot.
    () => ({
      script: {
        state: { gains: 0 },
        events: [
          {
            on: "dates",
            do: `
              const gain = S - strike
              if (gain >= 0) {
                if (gains + gain >= target) { pay(target - gains); stop() }
                pay(gain)
                gains += gain
              } else pay(2 * gain)`,
          },
        ],
      },
      data: { dates: on, strike: random(85, 110), target: random(5, 30) },
    }),
    () => ({
      script: "asianBarrier",
      data: {
        shares: 1,
        sign: random(0, 1) < 0.5 ? 1 : -1,
        strike: random(80, 120),
        fixings: on,
        past: 0,
        count,
        barrier: random(110, 140),
        side: 1,
        rebate: random(0, 3),
        maturity: life,
      },
    }),
    () => ({
      script: "bestEntry",
      data: {
        notional: 100,
        protection: 0.9,
        participation: 1,
        cap: random(0.1, 0.5),
        entries: dates(count, 0.5 * life),
        lowest: 1e9,
        maturity: life,
      },
    }),
    () => ({
      script: "forwardStart",
      start: 0.3 * life,
      data: { shares: 1, sign: 1, strike: random(0.8, 1.2), maturity: life },
    }),
  ];
  const volatility = random(0.1, 0.45);
  const dividends = {
    yield: random(0, 0.04),
    discrete: random(0, 1) < 0.3 ? [{ date: random(0.1, 0.9) * life, cash: random(0.5, 4) }] : [],
  };
  const models = [volatility, { local: `${volatility} + 0.05*exp(-S/100)` }] as const;
  return {
    trade: kinds[kind % kinds.length]!() as RandomNote["trade"],
    market: { spot: 100, currency: "EUR", dividends, volatility: models[random(0, 1) < 0.75 ? 0 : 1] },
  };
}

/** The number of kinds of notes. */
export const KINDS = 13;
