import type { RatesTrade } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import { EXCHANGE } from "../../models/index.ts";
import { ExchangeBatch, type Exchanged } from "./exchange-batch.ts";
import { type Deviation, type GaussianModel, gaussianModel } from "./gaussian.ts";
import { KEY_TIMES, keyMove, keyRatesUpTo } from "./key-rates.ts";
import type { RatesMethod, RatesOutcome, RatesRow, RatesSession } from "./method.ts";
import { type Amount, partsOf, type RateOption } from "./options.ts";
import { RatesMarket } from "./rates-market.ts";

/** Rounding errors of a sum, relative to the sum of the sizes of its parts. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 2e-15, f32x2: 1e-12, f32: 1e-6 };

/**
 * Bonds by their discount factors; caps, floors, European swaptions and European options on bonds by Jamshidian's
 * decomposition in Gaussian models of one factor, by an integral in two, and by quoted volatilities.
 *
 * Error: rounding, and for two factors that of the quadrature. Verified: test/pricing/rates.test.ts.
 */
export const closedFormRates: RatesMethod = {
  name: "closed-form",
  resultName: "closed-form",
  refuses,
  open: (device, precision) => new Session(device, precision),
};

function refuses({ product, rates }: RatesTrade): string | undefined {
  if (product.kind === "bond") {
    if (product.calls.length > 0) return "calls";
    return product.puts.length > 0 ? "puts" : undefined;
  }
  if (product.kind !== "capFloor" && (product.exercise.kind === "american" || product.exercise.times.length > 1))
    return "early exercise";
  const isQuoted = product.kind !== "bondOption" && product.quote !== undefined;
  const isGaussian = ["curve", "hullWhite", "vasicek", "g2"].includes(rates.kind);
  return isQuoted || isGaussian ? undefined : `rates (${rates.kind}) that are not Gaussian`;
}

/** An option of a row with what the kernel needs of it. */
interface Prepared {
  readonly option: RateOption;
  readonly deviations: readonly Deviation[];
  /** The direction of the inner integral. */
  readonly axis: Deviation;
}

class Session implements RatesSession {
  readonly #device: Device;
  readonly #precision: Precision;

  constructor(device: Device, precision: Precision) {
    this.#device = device;
    this.#precision = precision;
  }

  async price(rows: readonly RatesRow[]): Promise<readonly RatesOutcome[]> {
    const batch = new ExchangeBatch();
    const all = rows.map((row) => prepare(row, batch));
    const exchanged = await batch.run(this.#device, this.#precision);
    let next = 0;
    return all.map((prepared, i) => {
      if (prepared instanceof Error) return prepared;
      const own = exchanged.slice(next, (next += prepared.length));
      return outcomeOf(rows[i], prepared, own, ROUNDING[this.#precision]);
    });
  }

  [Symbol.dispose](): void {}
}

function prepare({ trade, market }: RatesRow, batch: ExchangeBatch): readonly Prepared[] | Error {
  const model = gaussianModel(market);
  const { options } = partsOf(trade.product);
  const prepared: Prepared[] = [];
  for (const option of options) {
    if (option.flows.length === 0) return new SpecError("expiry: the bond pays nothing after it");
    if (option.quote === undefined && model === undefined) return new SpecError("rates: no closed form");
    const raw = deviationsOf(option, model, market, 0);
    const strike = worth(option.strike, market);
    const amounts = option.flows.map(({ amount }) => worth(amount, market));
    if (option.quote?.kind === "displaced" && (!(strike > 0) || !(amounts[0] > 0)))
      return new SpecError(
        "volatility: a lognormal quote needs a forward rate and a strike above −shift; " +
          "write { displaced } or { normal }",
      );
    if (option.quote === undefined && signChanges([-strike, ...amounts]) > 1)
      return new SpecError(
        "on.cashflows: expected payments whose sign changes at most once, from negative to positive",
      );
    const axis = axisOf(raw, amounts);
    const deviations = raw.map((one) => rotated(one, axis));
    const kind =
      option.quote?.kind === "normal"
        ? EXCHANGE.normal
        : deviations.some(([u]) => u !== 0)
          ? EXCHANGE.twoFactors
          : EXCHANGE.oneFactor;
    batch.add({ strike, sign: option.sign, kind, amounts, deviations });
    prepared.push({ option, deviations, axis });
  }
  return prepared;
}

/** The number of changes of sign between one number and the next, those that are 0 left out. */
function signChanges(numbers: readonly number[]): number {
  const signs = numbers.filter((one) => one !== 0).map(Math.sign);
  return signs.filter((sign, i) => i > 0 && sign !== signs[i - 1]).length;
}

const worth = (amount: Amount, market: RatesMarket): number =>
  amount.reduce((sum, [time, coefficient]) => sum + coefficient * market.discount(time), 0);

/** The deviations of an option's flows relative to its fixed amount, `years` after the market's date. */
function deviationsOf(
  { quote, expiry, start, flows }: RateOption,
  model: GaussianModel | undefined,
  market: RatesMarket,
  years: number,
  parameters = model?.parameters ?? {},
  extra = 0,
): Deviation[] {
  const left = Math.max(expiry - years, 0);
  if (quote !== undefined) {
    const sigma = Math.max(quote.sigma + market.volatilityShift, 0) + extra;
    return flows.map((_, j) => [j === 0 ? sigma * Math.sqrt(left) : 0, 0]);
  }
  if (model === undefined) return [];
  const raw = flows.map(({ time }) =>
    model.deviation({ parameters, years, expiry: left, start: start - years, end: time - years }),
  );
  // Of one flow only the size counts.
  return raw.length === 1 ? [[Math.hypot(...raw[0]), 0]] : raw;
}

/** The direction in which the flows together move most; the inner integral runs along it. */
function axisOf(deviations: readonly Deviation[], amounts: readonly number[]): Deviation {
  if (deviations.every(([, y]) => y === 0)) return [1, 0];
  let [x, y] = [0, 0];
  deviations.forEach(([dx, dy], j) => {
    x += amounts[j] * dx;
    y += amounts[j] * dy;
  });
  const length = Math.hypot(x, y);
  return length > 0 ? [x / length, y / length] : [1, 0];
}

/** [α, β]: across the axis, and along it. */
function rotated([x, y]: Deviation, [c, s]: Deviation): Deviation {
  return s === 0 ? [y, x * c] : [y * c - x * s, x * c + y * s];
}

function outcomeOf(
  { trade, market, greeks }: RatesRow,
  prepared: readonly Prepared[],
  exchanged: readonly Exchanged[],
  rounding: number,
): RatesOutcome {
  const { certain } = partsOf(trade.product);
  /** ∂V/∂ln P by time. */
  const toDiscounts: (readonly [number, number])[] = certain.map(([t, c]) => [t, c * market.discount(t)]);
  let value = worth(certain, market);
  let error = rounding * sizeOf(certain, market);
  prepared.forEach(({ option }, i) => {
    const own = exchanged[i];
    value += own.value;
    error += own.quadrature + rounding * (sizeOf(option.strike, market) + sizes(option, market));
    if (greeks === "none") return;
    const add = (slope: number, amount: Amount): void => {
      for (const [t, c] of amount) toDiscounts.push([t, slope * c * market.discount(t)]);
    };
    add(own.toStrike, option.strike);
    option.flows.forEach(({ amount }, j) => add(own.toFlows[j], amount));
  });
  const none = { value, errorEstimate: error, theta: Number.NaN, vega: Number.NaN, rho: Number.NaN };
  if (greeks === "none") return none;
  const model = gaussianModel(market);
  const theta = market.shortRate() * value + thetaOf(prepared, exchanged, market, model);
  if (greeks === "grid") return { ...none, theta };
  const last = Math.max(0, ...toDiscounts.map(([t]) => t));
  const keyRates = KEY_TIMES.slice(0, keyRatesUpTo(last)).map((_, k) =>
    toDiscounts.reduce((sum, [t, slope]) => sum - keyMove(k, t) * slope, 0),
  );
  const rho = toDiscounts.reduce((sum, [t, slope]) => sum - t * slope, 0);
  const parameters = parametersOf(market, model, prepared, exchanged, toDiscounts);
  const quoted = bumped(prepared, exchanged, ({ option }, h) =>
    option.quote === undefined ? [] : deviationsOf(option, model, market, 0, undefined, h),
  );
  // The curve of Cox, Ingersoll and Ross' model depends on its volatility.
  const volatilities = model?.volatilities ?? (market.model.kind === "cir" ? ["sigma"] : []);
  const vega = volatilities.reduce((sum, name) => sum + parameters[name], quoted);
  return { ...none, theta, vega, rho, keyRates, parameters };
}

const sizeOf = (amount: Amount, market: RatesMarket): number =>
  amount.reduce((sum, [t, c]) => sum + Math.abs(c) * market.discount(t) * (1 + Math.abs(market.logDiscount(t))), 0);

const sizes = ({ flows }: RateOption, market: RatesMarket): number =>
  flows.reduce((sum, { amount }) => sum + sizeOf(amount, market), 0);

/** The change per year as deviations shrink with the time that is left; that of an option that expires at once is 0. */
function thetaOf(
  prepared: readonly Prepared[],
  exchanged: readonly Exchanged[],
  market: RatesMarket,
  model: GaussianModel | undefined,
): number {
  const later = ({ option }: Prepared, h: number): Deviation[] =>
    deviationsOf(option, model, market, h * option.expiry);
  return bumped(prepared, exchanged, later, ({ option }) => option.expiry);
}

/** Steps of central differences. */
const STEP = 1e-5;

/** Σ ∂V/∂s·∂s/∂h: the change of the value with the deviations, by central differences of these alone. */
function bumped(
  prepared: readonly Prepared[],
  exchanged: readonly Exchanged[],
  deviationsAt: (one: Prepared, h: number) => readonly Deviation[],
  unit: (one: Prepared) => number = () => 1,
): number {
  let sum = 0;
  prepared.forEach((one, i) => {
    const size = 2 * STEP * unit(one);
    if (size === 0) return;
    const [up, down] = [deviationsAt(one, STEP), deviationsAt(one, -STEP)];
    up.forEach((at, j) => {
      const [a, b] = rotated([at[0] - down[j][0], at[1] - down[j][1]], one.axis);
      sum += (exchanged[i].toAcross[j] * a + exchanged[i].toAlong[j] * b) / size;
    });
  });
  return sum;
}

function parametersOf(
  market: RatesMarket,
  model: GaussianModel | undefined,
  prepared: readonly Prepared[],
  exchanged: readonly Exchanged[],
  toDiscounts: readonly (readonly [number, number])[],
): Record<string, number> {
  const found: Record<string, number> = {};
  const rates = market.model;
  const given = rates.kind === "vasicek" || rates.kind === "cir" ? rates : undefined;
  const { r0 = 0, kappa = 0, theta = 0, sigma = 0 } = given ?? {};
  const own = model?.parameters ?? (given === undefined ? {} : { r0, kappa, theta, sigma });
  for (const name of Object.keys(own)) {
    const at = (h: number): Record<string, number> => ({ ...own, [name]: own[name] + h });
    const onDeviations = bumped(prepared, exchanged, ({ option }, h) => deviationsOf(option, model, market, 0, at(h)));
    let onCurve = 0;
    if (given !== undefined) {
      const [up, down] = [STEP, -STEP].map((h) => new RatesMarket({ ...given, ...at(h) }));
      for (const [t, slope] of toDiscounts) onCurve += (slope * (up.logDiscount(t) - down.logDiscount(t))) / (2 * STEP);
    }
    found[name] = onDeviations + onCurve;
  }
  return found;
}
