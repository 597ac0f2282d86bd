/**
 * Random short rates whose mean reversion and volatility are formulas of the time, beside the closed forms of the
 * Gaussian model that they are: dr = a(t)·(m − r) dt + σ(t) dW, fitted to a curve.
 */
import type { Device } from "../../src/device/index.ts";
import { priceBook, readBook } from "../../src/index.ts";
import { cdf } from "./normal.ts";
import { Random } from "./random.ts";

/** A function of time: its formula, itself, and where it has jumps or kinks. */
interface InTime {
  readonly text: string;
  readonly at: (t: number) => number;
  readonly breaks: readonly number[];
}

const constantly = (value: number): InTime => ({ text: String(value), at: () => value, breaks: [] });

/** Smooth functions of time about a level. */
function smooth(random: Random, level: number): InTime {
  const [decay, size, speed] = [random.uniform(0.05, 1), random.uniform(0.1, 0.8), random.uniform(0.5, 6)];
  return random.choice<InTime>([
    { text: `${level}*exp(-${decay}*t)`, at: (t) => level * Math.exp(-decay * t), breaks: [] },
    {
      text: `${level}*(1 + ${size}*sin(${speed}*t))`,
      at: (t) => level * (1 + size * Math.sin(speed * t)),
      breaks: [],
    },
    {
      text: `${level}*(0.5 + 3*t*exp(-${decay}*t))`,
      at: (t) => level * (0.5 + 3 * t * Math.exp(-decay * t)),
      breaks: [],
    },
  ]);
}

/** Functions of time that jump at one or two times, or have a kink. */
function broken(random: Random, level: number): InTime {
  const [one, two] = random.sorted(2, () => random.uniform(0.05, 5));
  const [low, middle, high] = [0, 1, 2].map(() => level * random.uniform(0.3, 2));
  return random.choice<InTime>([
    { text: `t < ${one} ? ${low} : ${high}`, at: (t) => (t < one ? low : high), breaks: [one] },
    {
      text: `t < ${one} ? ${low} : t < ${two} ? ${middle} : ${high}`,
      at: (t) => (t < one ? low : t < two ? middle : high),
      breaks: [one, two],
    },
    {
      text: `${low}*max(1 - t/${one}, 0) + ${high}`,
      at: (t) => low * Math.max(1 - t / one, 0) + high,
      breaks: [one],
    },
  ]);
}

const drawn = (random: Random, level: number): InTime =>
  random.choice([smooth, broken, (_: Random, of: number) => constantly(of)])(random, level);

/** The variance of x and the weights of its bonds, by the middles of short intervals between breaks. */
class GaussianRate {
  readonly #middles: number[] = [];
  readonly #lengths: number[] = [];
  readonly #decays: number[] = [];
  readonly #sigma: (t: number) => number;
  readonly #reversion: (t: number) => number;

  constructor(reversion: InTime, sigma: InTime, dates: readonly number[]) {
    const ends = [...new Set([0, ...reversion.breaks, ...sigma.breaks, ...dates])].toSorted((a, b) => a - b);
    this.#sigma = sigma.at;
    this.#reversion = reversion.at;
    let integral = 0;
    ends.slice(1).forEach((end, i) => {
      const start = ends[i];
      const count = Math.ceil((end - start) * 2000);
      for (let k = 0; k < count; k++) {
        const [middle, length] = [start + ((k + 0.5) * (end - start)) / count, (end - start) / count];
        this.#middles.push(middle);
        this.#lengths.push(length);
        this.#decays.push(integral + 0.5 * length * this.#reversion(middle));
        integral += length * this.#reversion(middle);
      }
    });
  }

  #sum(from: number, to: number, of: (decay: number, middle: number) => number): number {
    return this.#middles.reduce(
      (sum, t, k) => (t > from && t < to ? sum + this.#lengths[k] * of(this.#decays[k], t) : sum),
      0,
    );
  }

  /** ∫ₛᵗ a(u) du. */
  #between(s: number, t: number): number {
    return this.#sum(s, t, (_, u) => this.#reversion(u));
  }

  /** The variance of x at t. */
  variance(t: number): number {
    const all = this.#between(0, t);
    return this.#sum(0, t, (decay, s) => this.#sigma(s) ** 2 * Math.exp(-2 * (all - decay)));
  }

  /** ∫ₜˢ exp(−∫ₜᵘ a) du, the weight of x in the logarithm of a bond. */
  weight(t: number, s: number): number {
    const before = this.#between(0, t);
    return this.#sum(t, s, (decay) => Math.exp(before - decay));
  }
}

/** A call (1) or a put (−1) at `expiry` on payments, by Jamshidian's decomposition (1989). */
function bondOption(
  rate: GaussianRate,
  discount: (t: number) => number,
  expiry: number,
  payments: readonly (readonly [time: number, amount: number])[],
  strike: number,
  sign: 1 | -1,
): number {
  const variance = rate.variance(expiry);
  const deviation = Math.sqrt(variance);
  const weights = payments.map(([time]) => rate.weight(expiry, time));
  const forward = (i: number, x: number): number =>
    (discount(payments[i][0]) / discount(expiry)) * Math.exp(-weights[i] * x - 0.5 * weights[i] ** 2 * variance);
  const worth = (x: number): number => payments.reduce((sum, [, amount], i) => sum + amount * forward(i, x), 0);
  let [low, high] = [-20 * deviation - 1, 20 * deviation + 1];
  for (let k = 0; k < 200; k++) {
    const middle = 0.5 * (low + high);
    if (worth(middle) > strike) low = middle;
    else high = middle;
  }
  return payments.reduce((sum, [time, amount], i) => {
    const own = forward(i, low);
    const spread = weights[i] * deviation;
    const up = Math.log(discount(time) / (own * discount(expiry))) / spread + 0.5 * spread;
    const [one, two] = [up, up - spread].map((d) => cdf(sign * d));
    return sum + amount * sign * (discount(time) * one - own * discount(expiry) * two);
  }, 0);
}

/** A random trade under a short rate by formulas, and its exact value. */
export interface ShortRateCase {
  readonly book: object;
  readonly value: number;
}

/** Draws a swaption, a cap, an option on a bond or a bond, under a short rate whose formulas depend on time. */
export function drawShortRate(random: Random): ShortRateCase {
  const reversion = drawn(random, random.uniform(0.05, 0.4));
  const sigma = random.chance(0.8)
    ? random.choice([smooth, broken])(random, random.uniform(0.004, 0.015))
    : constantly(random.uniform(0.004, 0.015));
  const zero = random.uniform(0.01, 0.05);
  const discount = (t: number): number => Math.exp(-zero * t);
  const [expiry, years] = [random.choice([0.5, 1, 3, random.uniform(0.3, 5)]), 1 + random.integer(5)];
  const dates = Array.from({ length: years + 1 }, (_, k) => expiry + k);
  const rate = new GaussianRate(reversion, sigma, dates);
  const strike = zero + random.uniform(-0.01, 0.015);
  const leg = { start: expiry, end: expiry + years, frequency: 1, notional: 100 };
  const coupons = dates.slice(1).map((time, k) => [time, 100 * (strike + (k === years - 1 ? 1 : 0))] as const);
  const swaption = random.choice(["payer", "receiver"] as const);
  const option = random.choice(["call", "put"] as const);
  const caplet = (k: number): number =>
    bondOption(rate, discount, dates[k], [[dates[k + 1], 100 * (1 + strike)]], 100, -1);
  const [trade, value] = random.choice<() => readonly [object, number]>([
    () => [
      { swaption, strike, expiry, swap: leg },
      bondOption(rate, discount, expiry, coupons, 100, swaption === "payer" ? -1 : 1),
    ],
    () => [{ cap: leg, strike }, coupons.reduce((sum, _, k) => sum + caplet(k), 0)],
    () => [
      { payoff: option, strike: 99, strikeIs: "dirty", expiry, on: { cashflows: coupons } },
      bondOption(rate, discount, expiry, coupons, 99, option === "call" ? 1 : -1),
    ],
    () => [{ cashflows: coupons }, coupons.reduce((sum, [time, amount]) => sum + amount * discount(time), 0)],
  ])();
  const wide = Math.max(0.3, 10 * Math.sqrt(Math.max(...dates.map((t) => rate.variance(t)))));
  const shortRate = {
    r0: zero,
    drift: `(${reversion.text})*(${zero} - r)`,
    volatility: sigma.text,
    range: [zero - wide, zero + wide] as const,
    curve: zero,
  };
  const book = { asOf: "2026-11-20", market: { rates: { EUR: { shortRate } } } };
  return { book: { ...book, trades: [{ id: "T", currency: "EUR", ...trade }] }, value };
}

/** How many random trades had a value within its error estimate, and the worst of them. */
export interface ShortRateReport {
  readonly priced: number;
  readonly within: number;
  /** The largest ratio of an error and its estimate; infinite for a trade without a value. */
  readonly worstRatio: number;
  /** The book of that trade, its value, and what is right. */
  readonly worst: string;
}

/** Prices random trades under short rates whose formulas depend on time. */
export async function checkShortRates(device: Device, trades: number, seed: number): Promise<ShortRateReport> {
  let [within, worstRatio, worst] = [0, 0, ""];
  for (let k = 0; k < trades; k++) {
    const { book, value } = drawShortRate(new Random(seed + k));
    const { results } = await priceBook(readBook(book), { device, greeks: "none" });
    const [result] = results;
    const ratio = result.status === "ok" ? Math.abs(result.value - value) / result.errorEstimate : Infinity;
    if (ratio <= 1) within++;
    if (ratio < worstRatio) continue;
    const got = result.status === "ok" ? `${result.value} ± ${result.errorEstimate}` : result.error.message;
    [worstRatio, worst] = [ratio, `${JSON.stringify(book)}: ${got}, expected ${value}`];
  }
  return { priced: trades, within, worstRatio, worst };
}
