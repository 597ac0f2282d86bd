import type { Device } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { CIR_OPTION, cirKernel, cirLogFactor, cirSlope } from "../../../market/models/index.ts";
import { launchOptions, type OptionKernel } from "./exchange-batch.ts";
import { cirAt, CurveSlopes, type RatesMarket } from "./rates-market.ts";
import { MarketMoves, ratesDifferences, sensitivitiesBy } from "./sensitivities.ts";
import type { RatesMethod, RatesOutcome, RatesRow } from "./method.ts";
import { type PaymentSum, partsOf, quotesOf, type RateOption, presentValueOf } from "./parts.ts";

/** Rounding errors relative to the sizes of payments, of sums of a hundred terms. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 2e-13, f32x2: 1e-8, f32: 5e-5 };

/**
 * The method of closed forms in the model of Cox, Ingersoll and Ross: caps, floors, European swaptions and European
 * options on bonds.
 *
 * Error: rounding. Sensitivities to parameters and time are differences. Verified: test/pricing/rates.test.ts.
 */
export const cirRates: RatesMethod = {
  name: "closed-form",
  refuses({ product, rates }) {
    if (rates.kind !== "cir") return `rates (${rates.kind}) under which options have no closed form here`;
    if (product.kind === "bond") return "a bond's rights";
    if (quotesOf(product).length > 0) return "a quoted volatility";
    if (product.kind === "capFloor") return undefined;
    if (product.exercise.kind === "american" || product.exercise.times.length > 1) return "early exercise";
    return undefined;
  },
  open: (device, precision) => ({ price: (rows) => price(device, precision, rows), [Symbol.dispose]() {} }),
};

const OPTIONS: OptionKernel = { kernel: cirKernel, outputs: 2, flowOutputs: 1, microseconds: 20 };
/** The move of a parameter, relative to it if it is not small. */
const stepOf = (own: number): number => 1e-4 * Math.max(own, 1e-2);

async function price(
  device: Device,
  precision: Precision,
  rows: readonly RatesRow[],
): Promise<readonly RatesOutcome[]> {
  const differences = rows.map(({ trade, market, greeks }) => {
    const wanted = { theta: greeks !== "none", model: greeks === "all", curve: false };
    return ratesDifferences(trade, new MarketMoves(market, stepOf), wanted);
  });
  const moved = rows.map((row, i) =>
    differences[i].copies.map((copy): RatesRow => ({ ...row, ...copy, greeks: "none" })),
  );
  const outcomes = await valuesOf(device, precision, [...rows, ...moved.flat()]);
  let next = rows.length;
  return rows.map((_, i) => {
    const own = outcomes.slice(next, (next += moved[i].length));
    const outcome = outcomes[i];
    if (outcome instanceof Error || own.length === 0) return outcome;
    const numbers = [outcome, ...own].map((one) => (one instanceof Error ? Number.NaN : one.value));
    return { ...outcome, ...sensitivitiesBy(differences[i], numbers), rho: outcome.rho };
  });
}

async function valuesOf(
  device: Device,
  precision: Precision,
  rows: readonly RatesRow[],
): Promise<readonly RatesOutcome[]> {
  const parts = rows.map(({ trade, market }) => partsOf(trade, market));
  const errors = rows.map((row, i) => problemOf(row, parts[i].options));
  const options = rows.flatMap(({ market }, i) =>
    errors[i] === undefined ? parts[i].options.map((option) => ({ option, market })) : [],
  );
  const found = await launch(device, precision, options);
  let next = 0;
  return rows.map((row, i): RatesOutcome => {
    const error = errors[i];
    if (error !== undefined) return error;
    const own = found.slice(next, (next += parts[i].options.length));
    return outcomeOf(row, parts[i].certain, parts[i].options, own, ROUNDING[precision]);
  });
}

async function launch(
  device: Device,
  precision: Precision,
  all: readonly { readonly option: RateOption; readonly market: RatesMarket }[],
): Promise<Found[]> {
  const count = all.length;
  const first = new Int32Array(count + 1);
  all.forEach(({ option }, i) => (first[i + 1] = first[i] + option.flows.length));
  const total = first[count];
  const options = new Float64Array(CIR_OPTION * count);
  const flows = new Float64Array(3 * total);
  const units = all.map(({ option, market }) => Math.abs(presentValueOf(option.strike, market)) || 1);
  all.forEach(({ option, market }, i) => {
    const { kappa, theta, sigma, r0 } = cirAt(market);
    const { expiry, start, strike } = option;
    const gamma = Math.sqrt(kappa * kappa + 2 * sigma * sigma);
    const rise = Math.expm1(gamma * expiry);
    const rho = (2 * gamma) / (sigma * sigma * rise);
    const seen = (time: number, amount: PaymentSum): readonly [number, number] => {
      const years = time - expiry;
      const slope = cirSlope({ kappa, gamma, years });
      // Beside the model's own bond, the deterministic shift of the rates from expiry on.
      const shift = market.shiftTo(time) - market.shiftTo(expiry);
      const log = cirLogFactor({ kappa, theta, sigma, gamma, slope, years }) - shift;
      return [slope, amount.reduce((sum, [, c]) => sum + c, 0) * Math.exp(log)];
    };
    const [slope, fixed] = seen(start, strike);
    const spread = rho * rho * r0 * (rise + 1);
    const freedom = (4 * kappa * theta) / (sigma * sigma);
    const factor = rho + (kappa + gamma) / (sigma * sigma);
    const numbers = [
      presentValueOf(strike, market) / units[i],
      option.sign,
      slope,
      fixed / units[i],
      factor,
      spread,
      freedom,
    ];
    numbers.forEach((one, k) => (options[k * count + i] = one));
    option.flows.forEach(({ time, amount }, j) => {
      const at = first[i] + j;
      const [own, later] = seen(time, amount);
      flows[at] = presentValueOf(amount, market) / units[i];
      flows[total + at] = own;
      flows[2 * total + at] = later / units[i];
    });
  });
  const [value, slope] = await launchOptions(device, precision, OPTIONS, { first, options, flows });
  return all.map(({ option, market }, i) =>
    option.expiry === 0
      ? atOnce(option, market)
      : {
          value: value[i] * units[i],
          toStrike: value[count + i],
          toFlows: Array.from(slope.subarray(first[i], first[i + 1])),
        },
  );
}

interface Found {
  readonly value: number;
  readonly toStrike: number;
  readonly toFlows: readonly number[];
}

/** An option that is exercised now or never. */
function atOnce({ sign, strike, flows }: RateOption, market: RatesMarket): Found {
  const gain = flows.reduce((sum, { amount }) => sum + presentValueOf(amount, market), -presentValueOf(strike, market));
  const weight = sign * gain > 0 ? sign : 0;
  return { value: weight * gain, toStrike: -weight, toFlows: flows.map(() => weight) };
}

/** The longest sums of the noncentral chi-square distribution. */
const MOST = 1e7;

/** About as many terms have the sums of an option. */
const termsOf = ({ r0, kappa, sigma }: ReturnType<typeof cirAt>, expiry: number): number =>
  (4 * r0 * Math.exp(-kappa * expiry)) / (sigma * sigma * Math.min(expiry, 1));

function problemOf({ market }: RatesRow, options: readonly RateOption[]): Error | undefined {
  const { sigma } = cirAt(market);
  for (const { flows, expiry } of options) {
    if (flows.length === 0) return new SpecError("expiry: the bond pays nothing after it");
    if (expiry > 0 && !(termsOf(cirAt(market), expiry) < MOST))
      return new SpecError(`cir.sigma: ${sigma} is too small for the closed form; write vasicek, or a curve`);
  }
  return undefined;
}

function outcomeOf(
  { market, greeks }: RatesRow,
  certain: PaymentSum,
  options: readonly RateOption[],
  found: readonly Found[],
  rounding: number,
): RatesOutcome {
  const slopes = new CurveSlopes();
  let size = 0;
  const add = (slope: number, amount: PaymentSum): void => {
    for (const [t, c, lag] of amount) {
      size += Math.abs(c) * market.discount(t);
      slopes.add(t, slope * c * market.discount(t), lag);
    }
  };
  add(1, certain);
  let value = presentValueOf(certain, market);
  options.forEach(({ strike, flows }, i) => {
    value += found[i].value;
    add(found[i].toStrike, strike);
    flows.forEach(({ amount }, j) => add(found[i].toFlows[j], amount));
  });
  const terms = options.map(({ expiry }) => (expiry > 0 ? termsOf(cirAt(market), expiry) : 0));
  const errorEstimate = rounding * size * (1 + Math.max(0, ...terms) / 100);
  const none = { value, errorEstimate, theta: Number.NaN, vega: Number.NaN, rho: Number.NaN };
  if (greeks !== "all") return none;
  return { ...none, ...slopes.byRates() };
}
