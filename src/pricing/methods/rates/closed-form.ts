import type { RatesTrade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { EXCHANGE } from "../../../market/models/index.ts";
import { ExchangeBatch, type ExchangeValues } from "./exchange-batch.ts";
import { type GaussianModel, gaussianModel } from "./gaussian.ts";
import { CurveSlopes, RatesMarket } from "./rates-market.ts";
import type { RatesMethod, RatesOutcome, RatesRow } from "./method.ts";
import { type PaymentSum, type ReplicatingParts, partsOf, quotesOf, type RateOption, presentValueOf } from "./parts.ts";

/** Rounding errors of a sum, relative to the sum of the sizes of its parts. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 2e-15, f32x2: 1e-12, f32: 1e-6 };

/**
 * The method of closed forms for rates: bonds by their discount factors; caps, floors, European swaptions and European
 * options on bonds. In Gaussian models of one factor these use Jamshidian's decomposition, in models of two factors an
 * integral, and with quoted volatilities Black's or Bachelier's formula.
 *
 * Error: rounding, and for two factors that of the quadrature. Verified: test/pricing/rates.test.ts.
 */
export const closedFormRates: RatesMethod = {
  name: "closed-form",
  refuses,
  open: (device, precision) => ({ price: (rows) => price(device, precision, rows), [Symbol.dispose]() {} }),
};

function refuses({ product, rates }: RatesTrade): string | undefined {
  if (product.kind === "bond") {
    if (product.calls.length > 0) return "calls";
    return product.puts.length > 0 ? "puts" : undefined;
  }
  if (product.kind !== "capFloor" && (product.exercise.kind === "american" || product.exercise.times.length > 1))
    return "early exercise";
  const isQuoted = quotesOf(product).length > 0;
  const isGaussian = ["curve", "hullWhite", "vasicek", "g2"].includes(rates.kind);
  return isQuoted || isGaussian ? undefined : `rates (${rates.kind}) that are not Gaussian`;
}

/** A row with what the kernel is given of it. */
interface Prepared {
  readonly parts: ReplicatingParts;
  readonly model: GaussianModel | undefined;
  /** The number of its first option in the batch. */
  readonly first: number;
  /** The direction of the inner integral of each option. */
  readonly axes: readonly Axis[];
}

/** A unit vector. */
type Axis = readonly [cosine: number, sine: number];
const FORWARD: Axis = [1, 0];

async function price(
  device: Device,
  precision: Precision,
  rows: readonly RatesRow[],
): Promise<readonly RatesOutcome[]> {
  const batch = new ExchangeBatch();
  const models = new Map<RatesMarket, GaussianModel | undefined>();
  const all = rows.map((row) => {
    const { market } = row;
    const model = models.get(market) ?? gaussianModel(market);
    models.set(market, model);
    return prepare(row, model, batch);
  });
  const exchanged = await batch.run(device, precision);
  return all.map((one, i) => (one instanceof Error ? one : outcomeOf(rows[i], one, exchanged, ROUNDING[precision])));
}

function prepare(
  { trade, market }: RatesRow,
  model: GaussianModel | undefined,
  batch: ExchangeBatch,
): Prepared | SpecError {
  const parts = partsOf(trade, market);
  const first = batch.count;
  const worths = parts.options.map((option) => worthsOf(option, market, model));
  const problem = parts.options.reduce<string | undefined>(
    (found, option, i) => found ?? problemOf(option, worths[i], model),
    undefined,
  );
  if (problem !== undefined) return new SpecError(problem);
  parts.options.forEach((option, i) => {
    const { strike, amounts, across, along } = worths[i];
    amounts.forEach((amount, j) => batch.addFlow(amount, across[j], along[j]));
    const isPlane = across.some((deviation) => deviation !== 0);
    const isNormal = option.quote?.kind === "normal";
    batch.add(strike, option.sign, isNormal ? EXCHANGE.normal : isPlane ? EXCHANGE.twoFactors : EXCHANGE.oneFactor);
  });
  return { parts, model, first, axes: worths.map(({ axis }) => axis) };
}

/** The present values of an option's fixed amount and flows, and the deviations of the flows in the plane. */
interface Worths {
  readonly strike: number;
  readonly amounts: readonly number[];
  readonly across: readonly number[];
  readonly along: readonly number[];
  readonly axis: Axis;
}

function worthsOf(option: RateOption, market: RatesMarket, model: GaussianModel | undefined): Worths {
  const amounts = option.flows.map(({ amount }) => presentValueOf(amount, market));
  const raw: number[] = [];
  writeDeviations({ option, model, market }, raw);
  const axis = axisOf(raw, amounts);
  const [c, s] = axis;
  const across = amounts.map((_, j) => (s === 0 ? raw[2 * j + 1] : raw[2 * j + 1] * c - raw[2 * j] * s));
  const along = amounts.map((_, j) => raw[2 * j] * c + raw[2 * j + 1] * s);
  return { strike: presentValueOf(option.strike, market), amounts, across, along, axis };
}

/** The reason why an option has no closed form here. */
function problemOf({ quote }: RateOption, worths: Worths, model: unknown): string | undefined {
  const { strike, amounts } = worths;
  if (amounts.length === 0) return "expiry: the bond pays nothing after it";
  if (quote === undefined && model === undefined) return "rates: no closed form";
  if (quote?.kind === "displaced" && (!(strike > 0) || !(amounts[0] > 0)))
    return (
      "volatility: a lognormal quote needs a forward rate and a strike above −shift; " +
      "write { displaced } or { normal }"
    );
  if (quote === undefined && signChanges(strike, amounts) > 1 && !isFalling(worths))
    return "on.cashflows: expected payments whose sign changes at most once, from negative to positive";
  return undefined;
}

/** The number of changes of sign from −strike on, amounts that are 0 left out. */
function signChanges(strike: number, amounts: readonly number[]): number {
  let changes = 0;
  let sign = -Math.sign(strike);
  for (const amount of amounts) {
    const own = Math.sign(amount);
    if (own === 0) continue;
    if (sign !== 0 && own !== sign) changes++;
    sign = own;
  }
  return changes;
}

/** The deviations up to which an exercise boundary must be the only one. */
const FAR = 9;

/**
 * Tells whether the value of the flows falls with the rates wherever these may go, although small flows are negative,
 * as where a swap projects its rates on a curve of their own. The slope Σ aⱼβⱼe^{−βⱼz} has no zero below z = `FAR` if
 * no partial sum at `FAR`, from the largest βⱼ on, is negative (Laguerre, 1883, on exponential sums).
 */
function isFalling({ amounts, across, along }: Worths): boolean {
  const order = along.map((_, j) => j).toSorted((i, j) => along[j] - along[i]);
  let sum = 0;
  return order.every((j) => {
    const aside = Math.exp(-0.5 * across[j] ** 2 - Math.sign(amounts[j]) * FAR * Math.abs(across[j]));
    sum += amounts[j] * along[j] * aside * Math.exp(-along[j] * (FAR + 0.5 * along[j]));
    return sum >= 0;
  });
}

interface DeviationsAt {
  readonly option: RateOption;
  readonly model: GaussianModel | undefined;
  readonly market: RatesMarket;
  readonly years?: number;
  readonly parameters?: readonly number[];
  /** Added to the volatility of a quote. */
  readonly extra?: number;
}

/** Writes the deviations of an option's flows relative to its fixed amount, `years` after the market's date. */
function writeDeviations(
  { option, model, market, years = 0, parameters = model?.parameters ?? [], extra = 0 }: DeviationsAt,
  out: number[],
): void {
  const { quote, start, flows } = option;
  const expiry = Math.max(option.expiry - years, 0);
  if (quote !== undefined) {
    out[0] = (Math.max(quote.sigma + market.volatilityShift, 0) + extra) * Math.sqrt(expiry);
    for (let k = 1; k < 2 * flows.length; k++) out[k] = 0;
    return;
  }
  model?.deviations({ parameters, years, expiry, start, flows }, out);
  // Of one flow only the size counts.
  if (flows.length === 1) [out[0], out[1]] = [Math.hypot(out[0], out[1]), 0];
}

/** The direction in which the flows together move most; the inner integral runs along it. */
function axisOf(deviations: readonly number[], amounts: readonly number[]): Axis {
  let [x, y] = [0, 0];
  let isLine = true;
  amounts.forEach((amount, j) => {
    isLine &&= deviations[2 * j + 1] === 0;
    x += amount * deviations[2 * j];
    y += amount * deviations[2 * j + 1];
  });
  const length = Math.hypot(x, y);
  return isLine || length === 0 ? FORWARD : [x / length, y / length];
}

function outcomeOf(
  { market, greeks }: RatesRow,
  prepared: Prepared,
  exchanged: ExchangeValues,
  rounding: number,
): RatesOutcome {
  const { parts, model, first } = prepared;
  const { certain, options } = parts;
  const slopes = new CurveSlopes();
  let size = 0;
  let value = 0;
  const add = (slope: number, amount: PaymentSum, isCertain = false): void => {
    for (const [t, coefficient, lag] of amount) {
      const log = market.logDiscount(t);
      const own = coefficient * Math.exp(log);
      size += Math.abs(own) * (1 + Math.abs(log));
      if (isCertain) value += own;
      if (greeks === "all") slopes.add(t, slope * own, lag);
    }
  };
  add(1, certain, true);
  let quadrature = 0;
  options.forEach(({ strike, flows }, i) => {
    value += exchanged.value(first + i);
    quadrature += exchanged.quadrature(first + i);
    add(exchanged.toStrike(first + i), strike);
    flows.forEach(({ amount }, j) => add(exchanged.toFlow(first + i, j), amount));
  });
  const errorEstimate = quadrature + rounding * size;
  const none = { value, errorEstimate, theta: Number.NaN, vega: Number.NaN, rho: Number.NaN };
  if (greeks === "none") return none;
  const changes = new Changes(prepared, exchanged);
  // Deviations shrink with the time that is left; those of an option that expires at once are 0.
  const shrinking = changes.along(
    (option, h, out) => writeDeviations({ option, model, market, years: h * option.expiry }, out),
    ({ expiry }) => expiry,
  );
  const theta = market.shortRate() * value + shrinking;
  if (greeks === "grid") return { ...none, theta };
  const parameters = parametersOf(market, model, changes, slopes);
  // The curve of Cox, Ingersoll and Ross' model depends on its volatility.
  const volatilities = model?.volatilities ?? (market.model.kind === "cir" ? ["sigma"] : []);
  const isQuoted = options.some(({ quote }) => quote !== undefined);
  const quoted = isQuoted
    ? changes.along((option, h, out) => writeDeviations({ option, model, market, extra: h }, out))
    : 0;
  const vega = volatilities.reduce((sum, name) => sum + parameters[name], quoted);
  return { ...none, theta, vega, ...slopes.byRates(), parameters };
}

/** Steps of central differences. */
const STEP = 1e-5;

/** Changes of a value with the deviations of its options' flows. */
class Changes {
  readonly #options: readonly RateOption[];
  /** The value's derivatives by the deviations of each flow in both directions. */
  readonly #slopes: readonly (readonly number[])[];
  readonly #up: number[] = [];
  readonly #down: number[] = [];

  constructor({ parts: { options }, first, axes }: Prepared, exchanged: ExchangeValues) {
    this.#options = options;
    this.#slopes = options.map(({ flows }, i) => {
      const [c, s] = axes[i];
      const slopes: number[] = [];
      for (let j = 0; j < flows.length; j++) {
        const [across, along] = [exchanged.toAcross(first + i, j), exchanged.toAlong(first + i, j)];
        slopes.push(along * c - across * s, across * c + along * s);
      }
      return slopes;
    });
  }

  /** Σ ∂V/∂s·∂s/∂h, by central differences of the deviations s alone, which `write` writes at h times the unit. */
  along(
    write: (option: RateOption, h: number, out: number[]) => void,
    unit: (option: RateOption) => number = () => 1,
  ): number {
    let sum = 0;
    for (let i = 0; i < this.#options.length; i++) {
      const option = this.#options[i];
      const size = 2 * STEP * unit(option);
      if (size === 0) continue;
      write(option, STEP, this.#up);
      write(option, -STEP, this.#down);
      const slopes = this.#slopes[i];
      for (let k = 0; k < slopes.length; k++) sum += (slopes[k] * (this.#up[k] - this.#down[k])) / size;
    }
    return sum;
  }
}

/** ∂V by parameter of the model: by the deviations, and by the curve where that is part of the model. */
function parametersOf(
  market: RatesMarket,
  model: GaussianModel | undefined,
  changes: Changes,
  slopes: CurveSlopes,
): Record<string, number> {
  const found: Record<string, number> = {};
  const rates = market.model;
  const given = rates.kind === "vasicek" || rates.kind === "cir" ? rates : undefined;
  const { r0 = 0, kappa = 0, theta = 0, sigma = 0 } = given ?? {};
  const own = model?.parameters ?? [r0, kappa, theta, sigma];
  const names = model?.names ?? (given === undefined ? [] : AFFINE);
  names.forEach((name, k) => {
    const at = (h: number): readonly number[] => own.map((value, l) => (l === k ? value + h : value));
    const [high, low] = [at(STEP), at(-STEP)];
    found[name] = changes.along((option, h, out) => {
      writeDeviations({ option, model, market, parameters: h > 0 ? high : low }, out);
    });
    if (given === undefined) return;
    const [up, down] = [STEP, -STEP].map((h) => new RatesMarket({ ...given, [name]: given[name as Affine] + h }));
    found[name] += slopes.along((t) => (up.logDiscount(t) - down.logDiscount(t)) / (2 * STEP));
  });
  return found;
}

const AFFINE = ["r0", "kappa", "theta", "sigma"] as const;
type Affine = (typeof AFFINE)[number];
