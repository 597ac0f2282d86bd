/** Trades on rates. */
import type { Method } from "../../../src/pricing/index.ts";
import { noncentral } from "../../properties/closed-forms.ts";
import { cdf, density } from "../../properties/normal.ts";
import type { Random } from "../../properties/random.ts";
import { drawShortRate } from "../../properties/short-rates.ts";
import { type Case, exactly, type Family, type Json, type Known } from "../case.ts";
import { panels, root } from "../references/rules.ts";
import {
  bondValue,
  deflated,
  type GaussMarkov,
  hullWhite,
  optionValue,
  type Payment,
  type Right,
} from "../references/short-rate.ts";

const NOTIONAL = 100;

const rateCase = (rates: unknown, trade: Json, reference: () => Known, method?: Method): Case => ({
  rates,
  trade: { currency: "C", ...trade },
  scale: NOTIONAL,
  reference,
  ...(method === undefined ? {} : { method }),
});

/** Zero rates by date, with r·t linear between. */
interface Curve {
  readonly nodes: readonly { readonly date: number; readonly zero: number }[];
  readonly discount: (t: number) => number;
}

function drawCurve(random: Random): Curve {
  const level = random.uniform(-0.005, 0.06);
  const nodes = [1, 4, 12, 30].map((date) => ({ date, zero: level + random.uniform(-0.01, 0.01) }));
  const discount = (t: number): number => {
    const k = Math.max(
      nodes.findIndex(({ date }) => date >= t),
      0,
    );
    const [low, high] = [k === 0 ? { date: 0, zero: 0 } : nodes[k - 1], nodes[k]];
    const [a, b] = [low.zero * low.date, high.zero * high.date];
    return Math.exp(-(a + ((b - a) * (t - low.date)) / (high.date - low.date)));
  };
  return { nodes, discount };
}

interface Gaussian {
  readonly rates: Json;
  readonly model: GaussMarkov;
}

/** Hull and White's model; with "falling", σ by date that falls to a fiftieth. */
function drawHullWhite(random: Random, form: "any" | "falling"): Gaussian {
  const meanReversion = random.chance(0.15) ? 0 : random.logUniform(0.002, 0.5);
  const { nodes, discount } = drawCurve(random);
  const high = random.logUniform(0.002, 0.03);
  const count = form === "falling" ? 2 + random.integer(2) : random.choice([1, 1, 2, 3]);
  const levels = Array.from({ length: count }, (_, k) =>
    form === "falling"
      ? high / (k === 0 ? 1 : random.logUniform(2, 50) ** (k / (count - 1)))
      : high * random.logUniform(0.4, 1.5),
  );
  const dates = random.sorted(count, () => random.uniform(0.3, 5));
  const volatility = levels.map((own, k) => ({ date: dates[k], volatility: own }));
  return {
    rates: {
      hullWhite: { meanReversion, volatility: count === 1 ? levels[0] : volatility, curve: nodes },
    },
    model: hullWhite(meanReversion, volatility, discount),
  };
}

/** A swap or bond of annual or half-yearly dates. */
interface Schedule {
  readonly start: number;
  readonly end: number;
  readonly frequency: number;
  readonly resets: readonly number[];
  readonly coupon: number;
  readonly payments: readonly Payment[];
}

function drawSchedule(random: Random, { discount }: GaussMarkov): Schedule {
  const frequency = random.choice([1, 2]);
  const start = random.choice([0.25, 0.5, 1, 2, 5]);
  const periods = 2 + random.integer(10);
  const end = start + periods / frequency;
  const forward = Math.log(discount(start) / discount(end)) / (end - start);
  const coupon = Math.max(forward + random.uniform(-0.015, 0.015), -0.005);
  const resets = Array.from({ length: periods }, (_, k) => start + k / frequency);
  const payments = resets.map((time, k): Payment => [
    time + 1 / frequency,
    NOTIONAL * (coupon / frequency + (k === periods - 1 ? 1 : 0)),
  ]);
  return { start, end, frequency, resets, coupon, payments };
}

/** Rights to enter what is left of a swap; a single one is a European swaption. */
function swaption(random: Random, { rates, model }: Gaussian, isBermudan: boolean, method?: Method): Case {
  const { start, end, frequency, resets, coupon, payments } = drawSchedule(random, model);
  const side = random.choice(["payer", "receiver"] as const);
  const dates = isBermudan ? resets.filter((_, k) => k === 0 || random.chance(0.6)) : [start];
  const sign = side === "payer" ? -1 : 1;
  const rights = dates.map((time): Right => {
    const left = deflated(model, time, [[time, -NOTIONAL], ...payments.filter(([at]) => at > time)]);
    return { time, value: (z) => sign * left(z) };
  });
  const trade = {
    swaption: side,
    strike: coupon,
    swap: { start, end, frequency, notional: NOTIONAL },
    ...(isBermudan ? { exercise: dates } : { expiry: start }),
  };
  return rateCase(rates, trade, () => ({ value: optionValue(model, rights), error: 1e-8 * NOTIONAL }), method);
}

/** A cap or floor: an option on a bond of each period. */
function cap(random: Random, { rates, model }: Gaussian, method?: Method): Case {
  const { start, end, frequency, resets, coupon } = drawSchedule(random, model);
  const side = random.choice(["cap", "floor"] as const);
  const sign = side === "cap" ? 1 : -1;
  const reference = (): Known => {
    const value = resets.reduce((sum, time) => {
      const pays = deflated(model, time, [
        [time, NOTIONAL],
        [time + 1 / frequency, -NOTIONAL * (1 + coupon / frequency)],
      ]);
      return sum + optionValue(model, [{ time, value: (z) => sign * pays(z) }]);
    }, 0);
    return { value, error: 1e-8 * NOTIONAL };
  };
  const trade = { [side]: { start, end, frequency, notional: NOTIONAL }, strike: coupon };
  return rateCase(rates, trade, reference, method);
}

/** An option on a bond, European or on dates. */
function bondOption(random: Random, { rates, model }: Gaussian, isBermudan: boolean, method?: Method): Case {
  const { resets, payments } = drawSchedule(random, model);
  const payoff = random.choice(["call", "put"] as const);
  const dates = isBermudan ? resets.filter((_, k) => k === 0 || random.chance(0.5)) : [resets[0]];
  const strike = NOTIONAL * random.uniform(0.85, 1.12);
  const sign = payoff === "call" ? 1 : -1;
  const rights = dates.map((time): Right => {
    const left = deflated(model, time, [[time, -strike], ...payments.filter(([at]) => at > time)]);
    return { time, value: (z) => sign * left(z) };
  });
  const trade = {
    payoff,
    strike,
    strikeIs: "dirty",
    on: { cashflows: payments },
    ...(isBermudan ? { exercise: dates } : { expiry: dates[0] }),
  };
  return rateCase(rates, trade, () => ({ value: optionValue(model, rights), error: 1e-8 * NOTIONAL }), method);
}

/** A bond that its issuer may call, its holder put, on some of its dates. */
function callable(random: Random, { rates, model }: Gaussian, method?: Method): Case {
  const { resets, payments } = drawSchedule(random, model);
  const chosen = resets.filter((_, k) => k === 0 || random.chance(0.5));
  const rights = chosen.map((date) => ({
    date,
    price: NOTIONAL * random.uniform(0.9, 1.1),
    isCall: random.chance(0.7),
  }));
  const of = (isCall: boolean): readonly Json[] =>
    rights.filter((one) => one.isCall === isCall).map(({ date, price }) => ({ date, price }));
  const trade = { cashflows: payments, notional: NOTIONAL, calls: of(true), puts: of(false) };
  const reference = (): Known => {
    const own = rights.map(({ date, price, isCall }): Right => ({
      time: date,
      value: deflated(model, date, [[date, price]]),
      isOther: isCall,
    }));
    return { value: bondValue(model, payments, own), error: 1e-8 * NOTIONAL };
  };
  return rateCase(rates, trade, reference, method);
}

/** Swaptions, caps and options on bonds without rights on several dates. */
function european(random: Random, drawn: Gaussian, method?: Method): Case {
  return random.choice([
    () => swaption(random, drawn, false, method),
    () => cap(random, drawn, method),
    () => bondOption(random, drawn, false, method),
  ])();
}

function bermudan(random: Random, drawn: Gaussian, method?: Method): Case {
  return random.choice([() => swaption(random, drawn, true, method), () => bondOption(random, drawn, true, method)])();
}

/** A short rate by formulas that vary in time (`tools/properties/short-rates.ts`). */
function byFormulas(random: Random): Case {
  const { book, value } = drawShortRate(random);
  const { market, trades } = book as { market: { rates: { EUR: unknown } }; trades: readonly Json[] };
  const { id: _, currency: _currency, ...trade } = trades[0];
  return rateCase(market.rates.EUR, trade, () => ({ value, error: 1e-6 }));
}

/** The G2++ model: European swaptions and options on zero bonds, by the integral of Brigo & Mercurio (2006, 4.2). */
function twoFactors(random: Random): Case {
  const rho = random.choice([-1, 1]) * (1 - random.logUniform(1e-6, 0.3));
  const own = {
    a: random.logUniform(0.02, 0.5),
    sigma: random.logUniform(0.003, 0.02),
    b: random.logUniform(0.05, 1.5),
    eta: random.logUniform(0.003, 0.02),
    rho,
  };
  const { nodes, discount } = drawCurve(random);
  const model: GaussMarkov = { discount, H: (t) => t, zeta: (t) => t };
  const { start, end, frequency, coupon, payments } = drawSchedule(random, model);
  const side = random.choice(["payer", "receiver"] as const);
  const trade = { swaption: side, strike: coupon, expiry: start, swap: { start, end, frequency, notional: NOTIONAL } };
  const reference = (): Known => ({
    value: twoFactorSwaption(own, discount, start, payments, side === "payer" ? -1 : 1),
    error: 1e-7 * NOTIONAL,
  });
  return rateCase({ g2: { ...own, curve: nodes } }, trade, reference);
}

interface TwoFactors {
  readonly a: number;
  readonly sigma: number;
  readonly b: number;
  readonly eta: number;
  readonly rho: number;
}

/**
 * The value of (sign·(Σ payments − notional))⁺ at T: x and y are Gaussian under the forward measure of T, where they
 * have the means M and the bonds P(T, t) = A(t)·exp(−B_a·x − B_b·y). Given x what is paid falls or rises in y between
 * roots.
 */
function twoFactorSwaption(
  { a, sigma, b, eta, rho }: TwoFactors,
  discount: (t: number) => number,
  T: number,
  payments: readonly Payment[],
  sign: 1 | -1,
): number {
  const B = (z: number, t: number): number => -Math.expm1(-z * t) / z;
  const variances = [sigma ** 2 * B(2 * a, T), eta ** 2 * B(2 * b, T)];
  const [sx, sy] = variances.map(Math.sqrt);
  const correlation = (rho * sigma * eta * B(a + b, T)) / (sx * sy);
  // Variance of ∫(x + y) from t to T (Brigo & Mercurio 2006, 4.10).
  const V = (t: number): number => {
    const one = (s: number, z: number): number =>
      (s / z) ** 2 * (t + (2 / z) * Math.exp(-z * t) - Math.exp(-2 * z * t) / (2 * z) - 3 / (2 * z));
    const both = ((2 * rho * sigma * eta) / (a * b)) * (t - B(a, t) - B(b, t) + B(a + b, t));
    return one(sigma, a) + one(eta, b) + both;
  };
  const mx =
    -(sigma ** 2 / a ** 2 + (rho * sigma * eta) / (a * b)) * -Math.expm1(-a * T) +
    (sigma ** 2 / (2 * a ** 2)) * -Math.expm1(-2 * a * T) +
    ((rho * sigma * eta) / (b * (a + b))) * -Math.expm1(-(a + b) * T);
  const my =
    -(eta ** 2 / b ** 2 + (rho * sigma * eta) / (a * b)) * -Math.expm1(-b * T) +
    (eta ** 2 / (2 * b ** 2)) * -Math.expm1(-2 * b * T) +
    ((rho * sigma * eta) / (a * (a + b))) * -Math.expm1(-(a + b) * T);
  const bonds = payments.map(([t, amount]) => {
    const A = (discount(t) / discount(T)) * Math.exp(0.5 * (V(t - T) - V(t) + V(T)));
    return { amount: amount * A, ba: B(a, t - T), bb: B(b, t - T) };
  });
  const rest = sy * Math.sqrt(1 - correlation ** 2);
  const given = (x: number): number => {
    const centre = my + correlation * sy * ((x - mx) / sx);
    const paid = (y: number): number =>
      bonds.reduce((sum, { amount, ba, bb }) => sum + amount * Math.exp(-ba * x - bb * y), -NOTIONAL);
    // With coupons of one sign what is paid falls in y; the last may have the other sign, which matters far out only.
    const edge = root(paid, centre - 12 * rest - 1e-12, centre + 12 * rest + 1e-12);
    const term = (bb: number): number => {
      const z = (edge - centre) / rest + bb * rest;
      return Math.exp(-bb * centre + 0.5 * (bb * rest) ** 2) * cdf(sign * z);
    };
    return (
      sign *
      (bonds.reduce((sum, { amount, ba, bb }) => sum + amount * Math.exp(-ba * x) * term(bb), 0) - NOTIONAL * term(0))
    );
  };
  // Where the rest is small beside sx, the integrand turns fast about the edge of exercise.
  const flip = (x: number): number =>
    bonds.reduce(
      (sum, { amount, ba, bb }) => sum + amount * Math.exp(-ba * x - bb * (my + correlation * sy * ((x - mx) / sx))),
      -NOTIONAL,
    );
  const [low, high] = [mx - 9 * sx, mx + 9 * sx];
  const middle = flip(low) > 0 === flip(high) > 0 ? mx : root(flip, low, high);
  const widths = Array.from({ length: 60 }, (_, k) => 9 * sx * 1.5 ** -k);
  const { nodes, weights } = panels(low, high, 0.3 * sx, [middle, ...widths.flatMap((w) => [middle - w, middle + w])]);
  const mean = nodes.reduce((sum, x, i) => sum + (weights[i] * density((x - mx) / sx) * given(x)) / sx, 0);
  return discount(T) * mean;
}

/** Cox, Ingersoll and Ross: options on bonds, also as one right of an issuer, by the noncentral χ² distribution. */
function squareRoot(random: Random): Case | undefined {
  const kappa = random.logUniform(0.1, 1.5);
  const theta = random.uniform(0.01, 0.08);
  const sigma = Math.sqrt(2 * kappa * theta) * random.logUniform(0.25, 1.2);
  const r0 = theta * random.logUniform(0.3, 2.5);
  const expiry = random.choice([0.5, 1, 2, 5]);
  const years = 1 + random.integer(6);
  const coupon = random.uniform(0, 0.09);
  const payments = Array.from({ length: years }, (_, k): Payment => [
    expiry + k + 1,
    NOTIONAL * (coupon + (k === years - 1 ? 1 : 0)),
  ]);
  const strike = NOTIONAL * random.uniform(0.8, 1.1);
  const rates = { cir: { r0, kappa, theta, sigma } };
  const call = (): number => squareRootCall({ r0, kappa, theta, sigma }, expiry, payments, strike);
  const bond = (): number =>
    payments.reduce((sum, [t, amount]) => sum + amount * squareRootBond({ kappa, theta, sigma }, t, r0), 0);
  const error = 1e-8 * NOTIONAL;
  return random.choice<() => Case>([
    () =>
      rateCase(rates, { payoff: "call", strike, strikeIs: "dirty", expiry, on: { cashflows: payments } }, () => ({
        value: call(),
        error,
      })),
    () =>
      rateCase(rates, { cashflows: payments, notional: NOTIONAL, calls: [{ date: expiry, price: strike }] }, () => ({
        value: bond() - call(),
        error,
      })),
    () =>
      rateCase(
        rates,
        { payoff: "call", strike, strikeIs: "dirty", expiry, on: { cashflows: payments } },
        () => ({ value: call(), error }),
        "fdm",
      ),
  ])();
}

/** Cox, Ingersoll and Ross' rate as a user's formula, whose σ vanishes at an end of its range. */
function squareRootByFormulas(random: Random): Case {
  const kappa = random.logUniform(0.1, 1.5);
  const theta = random.uniform(0.01, 0.08);
  const sigma = Math.sqrt(2 * kappa * theta) * random.logUniform(0.25, 2);
  const r0 = theta * random.logUniform(0.1, 2.5);
  const expiry = random.choice([0.5, 1, 2, 5]);
  const years = 1 + random.integer(6);
  const coupon = random.uniform(0, 0.09);
  const payments = Array.from({ length: years }, (_, k): Payment => [
    expiry + k + 1,
    NOTIONAL * (coupon + (k === years - 1 ? 1 : 0)),
  ]);
  const model = { kappa, theta, sigma };
  const worth = payments.reduce((sum, [date, amount]) => sum + amount * squareRootBond(model, date, r0), 0);
  const strike = (worth / squareRootBond(model, expiry, r0)) * random.uniform(0.96, 1.04);
  const curve = [expiry, ...payments.map(([date]) => date)].map((date) => ({
    date,
    zero: -Math.log(squareRootBond(model, date, r0)) / date,
  }));
  const drift = `${kappa}*(${theta} - r)`;
  const volatility = `${sigma}*sqrt(max(r, 0))`;
  // Beyond, rates have a probability below 1e-12.
  const high = 4 * theta + r0 + (15 * sigma ** 2) / kappa;
  const shortRate = { r0, drift, volatility, range: [0, high * random.uniform(1, 3)], curve };
  const trade = { payoff: "call", strike, strikeIs: "dirty", expiry, on: { cashflows: payments } };
  const value = (): number => squareRootCall({ r0, ...model }, expiry, payments, strike);
  return rateCase({ shortRate }, trade, () => ({ value: value(), error: 1e-8 * NOTIONAL }));
}

interface SquareRoot {
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
}

/** P(0, t) = A·e^(−B·r) (Cox, Ingersoll & Ross 1985). */
function squareRootTerms(
  { kappa, theta, sigma }: SquareRoot,
  t: number,
): { readonly logA: number; readonly B: number } {
  const h = Math.sqrt(kappa ** 2 + 2 * sigma ** 2);
  const e = Math.expm1(h * t);
  const below = 2 * h + (kappa + h) * e;
  return {
    logA: ((2 * kappa * theta) / sigma ** 2) * (Math.log((2 * h) / below) + 0.5 * (kappa + h) * t),
    B: (2 * e) / below,
  };
}

function squareRootBond(model: SquareRoot, t: number, r: number): number {
  const { logA, B } = squareRootTerms(model, t);
  return Math.exp(logA - B * r);
}

/** Jamshidian's decomposition: each payment's call at its own strike. */
function squareRootCall(
  model: SquareRoot & { readonly r0: number },
  T: number,
  payments: readonly Payment[],
  strike: number,
): number {
  const { r0, kappa, theta, sigma } = model;
  const worth = (r: number): number =>
    payments.reduce((sum, [t, amount]) => sum + amount * squareRootBond(model, t - T, r), -strike);
  if (worth(0) <= 0) return 0;
  const edge = root(worth, 0, 10);
  const h = Math.sqrt(kappa ** 2 + 2 * sigma ** 2);
  const phi = (2 * h) / (sigma ** 2 * Math.expm1(h * T));
  const psi = (kappa + h) / sigma ** 2;
  const degrees = (4 * kappa * theta) / sigma ** 2;
  const below = (b: number): number => {
    const scale = phi + psi + b;
    return noncentral(2 * edge * scale, degrees, (2 * phi ** 2 * r0 * Math.exp(h * T)) / scale).lower;
  };
  const bonds = payments.reduce(
    (sum, [t, amount]) => sum + amount * squareRootBond(model, t, r0) * below(squareRootTerms(model, t - T).B),
    0,
  );
  return bonds - strike * squareRootBond(model, T, r0) * below(0);
}

/** Caps, floors and swaptions by quotes: Black, Bachelier, displaced. */
function quoted(random: Random): Case {
  const { nodes, discount } = drawCurve(random);
  const model: GaussMarkov = { discount, H: (t) => t, zeta: (t) => t };
  const { start, end, frequency, resets, coupon } = drawSchedule(random, model);
  const strike = Math.max(coupon, 0.002);
  const form = random.choice(["black", "normal", "displaced"] as const);
  const [sigma, shift] = [random.uniform(0.05, 0.8), random.uniform(0.01, 0.05)];
  const normal = random.uniform(0.002, 0.02);
  const option = (forward: number, sign: 1 | -1, T: number): number => {
    if (form === "normal") {
      const s = normal * Math.sqrt(T);
      const d = (sign * (forward - strike)) / s;
      return sign * (forward - strike) * cdf(d) + s * density(d);
    }
    const [F, K] = form === "displaced" ? [forward + shift, strike + shift] : [forward, strike];
    const s = sigma * Math.sqrt(T);
    const d = Math.log(F / K) / s;
    return sign * (F * cdf(sign * (d + 0.5 * s)) - K * cdf(sign * (d - 0.5 * s)));
  };
  const volatility = form === "normal" ? { normal } : form === "displaced" ? { displaced: { sigma, shift } } : sigma;
  const tau = 1 / frequency;
  const annuity = resets.reduce((sum, time) => sum + tau * discount(time + tau), 0);
  const swapRate = (discount(start) - discount(end)) / annuity;
  const sign = random.choice([1, -1] as const);
  const dated = { start, end, frequency, notional: NOTIONAL };
  const forwards = resets.map((time) => (discount(time) / discount(time + tau) - 1) / tau);
  const isPositive = (forward: number): boolean => form === "normal" || forward + (form === "black" ? 0 : shift) > 0;
  if (random.chance(0.5) && isPositive(swapRate))
    return rateCase(
      nodes,
      { swaption: sign > 0 ? "payer" : "receiver", strike, expiry: start, swap: dated, volatility },
      exactly(NOTIONAL * annuity * option(swapRate, sign, start)),
    );
  if (!forwards.every(isPositive)) return quoted(random);
  const caplets = (): number =>
    resets.reduce((sum, time, k) => sum + NOTIONAL * tau * discount(time + tau) * option(forwards[k], sign, time), 0);
  return rateCase(nodes, { [sign > 0 ? "cap" : "floor"]: dated, strike, volatility }, () => exactly(caplets())());
}

const HULL_WHITE = "mean reversion 0 to 0.5, σ 0.1 to 4 %, half-yearly or yearly, to 10 years";

export const rateFamilies: readonly Family[] = [
  {
    name: "Hull and White, swaptions, caps, options on bonds",
    reference: "quadrature",
    draws: HULL_WHITE,
    draw: (random) => european(random, drawHullWhite(random, "any")),
  },
  {
    name: "Hull and White, exercise on dates",
    reference: "quadrature",
    draws: HULL_WHITE,
    draw: (random) => bermudan(random, drawHullWhite(random, "any")),
  },
  {
    name: "Hull and White, callable and puttable bonds",
    reference: "quadrature",
    draws: HULL_WHITE,
    draw: (random) => callable(random, drawHullWhite(random, "any")),
  },
  {
    name: "Hull and White with falling σ by finite differences",
    reference: "quadrature",
    draws: "σ falls to a half to a fiftieth",
    draw: (random) => {
      const drawn = drawHullWhite(random, "falling");
      return random.choice([european, bermudan, callable])(random, drawn, "fdm");
    },
  },
  {
    name: "short rates by formulas in time",
    reference: "closed form",
    draws: "smooth, jumping and kinked mean reversion and σ",
    draw: byFormulas,
  },
  {
    name: "G2++ with |ρ| near 1, swaptions",
    reference: "quadrature",
    draws: "1 − |ρ| from 1e-6 to 0.3",
    draw: twoFactors,
  },
  {
    name: "Cox, Ingersoll and Ross, options and calls on one date",
    reference: "closed form",
    draws: "2κθ/σ² from 0.7 to 16",
    draw: squareRoot,
  },
  {
    name: "short rates by formulas whose σ vanishes at 0",
    reference: "closed form",
    draws: "2κθ/σ² from 0.25 to 16",
    draw: squareRootByFormulas,
  },
  {
    name: "caps, floors and swaptions by quotes",
    reference: "closed form",
    draws: "Black, normal, displaced",
    draw: quoted,
  },
];
