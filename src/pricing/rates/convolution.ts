/** Bonds with calls and puts, and options with several dates, under Gaussian short rates. */
import type { RatesTrade } from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import { constant, type RatesModel } from "../../market/index.ts";
import { type Fineness, type GaussianMarket, mostNodes, nodesNeeded, ShortRateEngine } from "../../rates/index.ts";
import { Evaluations, type Weighted } from "./evaluations.ts";
import type { RatesMethod, RatesOutcome, RatesRow, RatesSession, RatesValue } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";
import { type DatedTrade, datedTrade } from "./rights.ts";
import { MovesOfMarkets, type Sensitivity, sensitivitiesOf } from "./sensitivities.ts";

/** Rights on dates are priced by two resolutions, whose difference tells the error. */
const FINE: Fineness = { density: 2.5, reach: 7 };
const COARSE: Fineness = { density: 1.75, reach: 6 };
/** The fineness of sensitivities, whose errors cancel for the most part. */
const MOVED: Fineness = { density: 2, reach: 6.5 };
/** The fineness of rights at any time, where the number of dates decides. */
const WINDOW: Fineness = { density: 1.6, reach: 6.5 };
/** Dates a year that stand for a window. Values converge to first order, so two of them are extrapolated. */
const PER_YEAR = [6, 12, 24] as const;
/**
 * The number of times that a difference counts as an error, and the part that is added to it, relative to the largest
 * payment.
 */
const MARGIN = { dates: 2, windows: 3, least: 2e-9 };

/**
 * Recursion from date to date by the exact transition of Hull and White's and Vasicek's rates.
 *
 * Error: that of rights on dates from two resolutions, 1e-8 of the notional as a rule. Rights at any time are
 * extrapolated from 12 and 24 dates a year: 1e-6 to 1e-5 of the notional. Verified: test/pricing/short-rate.test.ts.
 */
export const convolutionRates: RatesMethod = {
  name: "convolution",
  resultName: "convolution",
  refuses,
  open: (device, precision) => new ConvolutionSession(device, precision),
};

function refuses({ rates, product }: RatesTrade): string | undefined {
  if (product.kind === "capFloor") return "a sum of options";
  if (product.kind === "swaption" && product.quote !== undefined) return "a quoted volatility";
  return !isGaussian(rates) ? `a model that is not Gaussian in one factor, ${rates.kind}` : undefined;
}

const isGaussian = ({ kind }: RatesModel): boolean => kind === "hullWhite" || kind === "vasicek";

/** The mean reversion a and the volatility σ(t) of a market. @throws SpecError other models */
function dynamicsOf(market: RatesMarket): Pick<GaussianMarket, "meanReversion" | "volatility"> {
  const { model } = market;
  switch (model.kind) {
    case "hullWhite":
      return { meanReversion: model.meanReversion, volatility: market.sigma(model.volatility) };
    case "vasicek":
      // A move of the volatility is in the market's model, since the curve depends on it.
      return { meanReversion: model.kappa, volatility: constant(model.sigma) };
    default:
      throw new SpecError(`rates: expected hullWhite or vasicek, got ${model.kind}`);
  }
}

/** The markets of a batch as the recursion takes them, with one volatility for all that have the same. */
class GaussianMarkets {
  readonly moves = new MovesOfMarkets();
  readonly #markets = new Map<RatesMarket, GaussianMarket>();
  readonly #dynamics = new Map<RatesModel, Map<string, ReturnType<typeof dynamicsOf>>>();

  of(market: RatesMarket): GaussianMarket {
    const known = this.#markets.get(market) ?? this.#made(market);
    this.#markets.set(market, known);
    return known;
  }

  #made(market: RatesMarket): GaussianMarket {
    const { model, years, volatilityShift } = market;
    const key = `${years} ${volatilityShift}`;
    const own = this.#dynamics.get(model) ?? new Map<string, ReturnType<typeof dynamicsOf>>();
    const dynamics = own.get(key) ?? dynamicsOf(market);
    this.#dynamics.set(model, own.set(key, dynamics));
    return { ...dynamics, logDiscount: (t) => market.logDiscount(t) };
  }
}

/** The instances that are evaluated for a row, and the weights by which its results follow. */
interface Plan {
  readonly value: Weighted;
  /** The value on another resolution, with which the value is compared. */
  readonly check: Weighted;
  readonly margin: number;
  readonly least: number;
  readonly sensitivities: readonly Sensitivity[];
}

class ConvolutionSession implements RatesSession {
  readonly #engine: ShortRateEngine;

  constructor(device: Device, precision: Precision) {
    this.#engine = new ShortRateEngine(device, precision);
  }

  async price(rows: readonly RatesRow[], signal: AbortSignal | undefined): Promise<readonly RatesOutcome[]> {
    const evaluations = new Evaluations();
    const markets = new GaussianMarkets();
    const plans = rows.map((row) => {
      try {
        return planOf(row, evaluations, markets);
      } catch (error) {
        if (error instanceof SpecError) return error;
        throw error;
      }
    });
    await evaluations.run(this.#engine, signal);
    return plans.map((plan) => (plan instanceof Error ? plan : valueOf(plan, evaluations)));
  }

  [Symbol.dispose](): void {
    this.#engine[Symbol.dispose]();
  }
}

/** @throws SpecError dates that are too close to each other */
function planOf({ trade, market, greeks }: RatesRow, evaluations: Evaluations, markets: GaussianMarkets): Plan {
  const claims = new Map<number, DatedTrade>();
  const dated = (of: RatesTrade, perYear: number): DatedTrade => {
    const known = (of === trade ? claims.get(perYear) : undefined) ?? datedOrThrow(of, perYear);
    if (of === trade) claims.set(perYear, known);
    return known;
  };
  const { hasWindows, claim } = dated(trade, PER_YEAR[2]);
  const nodes = nodesNeeded(claim, markets.of(market), hasWindows ? WINDOW : FINE);
  if (nodes > mostNodes)
    throw new SpecError(
      `dates of exercise too close to each other for how far away they are: ${nodes} nodes, at most ${mostNodes}; ` +
        "leave some of the dates out",
    );
  const ask = (of: RatesTrade, at: RatesMarket, perYear: number, fineness: Fineness): number =>
    evaluations.ask(dated(of, hasWindows ? perYear : PER_YEAR[2]).claim, markets.of(at), fineness);
  const size = Math.max(...claim.flows.map(([, amount]) => Math.abs(amount)));
  const moved = (of: RatesTrade, at: RatesMarket): Weighted => {
    if (!hasWindows) return [[1, ask(of, at, PER_YEAR[0], MOVED)]];
    const [first, second] = PER_YEAR;
    return [
      [2, ask(of, at, second, WINDOW)],
      [-1, ask(of, at, first, WINDOW)],
    ];
  };
  const sensitivities = sensitivitiesOf(trade, markets.moves.of(market), greeks, moved);
  if (!hasWindows) {
    const value: Weighted = [[1, evaluations.ask(claim, markets.of(market), FINE)]];
    const check: Weighted = [[1, evaluations.ask(claim, markets.of(market), COARSE)]];
    return { value, check, margin: MARGIN.dates, least: MARGIN.least * size, sensitivities };
  }
  const [first, second, third] = PER_YEAR.map((perYear) => ask(trade, market, perYear, WINDOW));
  const value: Weighted = [
    [2, third],
    [-1, second],
  ];
  const check: Weighted = [
    [2, second],
    [-1, first],
  ];
  // Of the nodes of a window nothing is compared; at its density their error was at most 1e-6 of the largest payment.
  return { value, check, margin: MARGIN.windows, least: 1e-6 * size, sensitivities };
}

function datedOrThrow(trade: RatesTrade, perYear: number): DatedTrade {
  const found = datedTrade(trade, perYear);
  if (found === undefined) throw new SpecError("expected a bond, an option on a bond or a swaption");
  return found;
}

function valueOf({ value: of, check, margin, least, sensitivities }: Plan, evaluations: Evaluations): RatesValue {
  const value = evaluations.sum(of);
  const errorEstimate = margin * Math.abs(value - evaluations.sum(check)) + least;
  const found: RatesValue = { value, errorEstimate, theta: Number.NaN, vega: Number.NaN, rho: Number.NaN };
  return sensitivities.reduce((result, { put, of: weighted }) => put(result, evaluations.sum(weighted)), found);
}
