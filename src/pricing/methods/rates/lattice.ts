/** Claims on whole years in the model of Black, Derman and Toy. */
import type { RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import { LatticeEngine, type LatticeInstance, type ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { MovesOfMarkets, type RatesDifferences, ratesDifferences, sensitivitiesBy } from "./sensitivities.ts";
import type { RatesMethod, RatesOutcome, RatesRow } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";
import { datedTrade, hasNotice, notDated } from "./claims.ts";

/** Rounding of the lattice and of its fit, relative to the largest payment. */
const ROUNDING = 1e-12;
const ONLY_F64 = 'bdt: the lattice is fitted in f64; ask for precision "f64"';

/**
 * The method of Black, Derman and Toy's short-rate lattice (1990) with steps of one year: bonds with calls and puts,
 * options on bonds and swaptions, with payments and rights on whole years. For a scenario's shift of the curve or the
 * volatilities the lattice is calibrated again.
 *
 * Error: rounding, since the lattice is the model. Theta would need other times than whole years, and is null.
 * Verified: test/quadrature/rates/lattice.test.ts, test/pricing/short-rate.test.ts.
 */
export const latticeRates: RatesMethod = {
  name: "lattice",
  refuses,
  open: (device, precision) => {
    const engine = new LatticeEngine(device);
    // The fit of the lattice asks for more digits than f32 has.
    const price = async (rows: readonly RatesRow[]): Promise<readonly RatesOutcome[]> =>
      precision === "f64" ? priceBy(engine, rows) : rows.map(() => new SpecError(ONLY_F64));
    return { price, [Symbol.dispose]() {} };
  },
};

function refuses(trade: RatesTrade): string | undefined {
  const { rates, product } = trade;
  if (rates.kind !== "bdt") return `a model without a lattice, ${rates.kind}`;
  if (product.kind === "capFloor") return "a sum of options";
  const lacking = notDated(product);
  if (lacking !== undefined) return lacking;
  if (hasNotice(product)) return "a period of notice";
  const dated = datedTrade(trade, new RatesMarket(trade.rates), 1);
  if (dated.hasWindows) return "rights at any time, where the lattice knows whole years";
  const { flows, dates } = dated.claim;
  const between = [...flows.map(([time]) => time), ...dates.map(({ time }) => time)].find(
    (time) => Math.abs(time - Math.round(time)) > ONE_SECOND,
  );
  if (between !== undefined)
    return `a payment or a right ${between} years from asOf, where the lattice knows whole years`;
  const years = Math.round(flows[flows.length - 1][0]);
  const known = rates.annualYields.length;
  return years > known ? `a payment in ${years} years, where the yields of the book end with ${known}` : undefined;
}

/** The yields and volatilities of a market, whatever has moved them. */
function instanceOf(trade: RatesTrade, market: RatesMarket): LatticeInstance {
  const { model } = market;
  const dated = datedTrade(trade, new RatesMarket(trade.rates), 1);
  if (model.kind !== "bdt") throw new SpecError("expected a claim under bdt");
  const claim: ShortRateTrade = dated.claim;
  const years = Math.round(claim.flows[claim.flows.length - 1][0]);
  const yields = Array.from({ length: years }, (_, i) => {
    const volatility = Math.max(model.yieldVolatilities[i] + market.volatilityShift, 0);
    return [Math.expm1(-market.logDiscount(i + 1) / (i + 1)), volatility] as const;
  });
  return { trade: claim, yields };
}

interface Plan {
  /** The instance of the value, which those of the moved copies follow. */
  readonly first: number;
  readonly size: number;
  readonly differences: RatesDifferences;
}

async function priceBy(engine: LatticeEngine, rows: readonly RatesRow[]): Promise<readonly RatesOutcome[]> {
  const instances: LatticeInstance[] = [];
  const moves = new MovesOfMarkets();
  const plans = rows.map(({ trade, market, greeks }): Plan | SpecError => {
    if (market.years > 0) return new SpecError("a later date is not on the lattice, whose periods begin at asOf");
    const isMoved = greeks === "all";
    const wanted = { theta: false, model: isMoved, curve: isMoved };
    const differences = ratesDifferences(trade, moves.of(market), wanted);
    const first = instances.length;
    for (const one of [{ trade, market }, ...differences.copies]) instances.push(instanceOf(one.trade, one.market));
    const size = Math.max(...instances[first].trade.flows.map(([, amount]) => Math.abs(amount)));
    return { first, size, differences };
  });
  const { values } = await engine.values(instances);
  return plans.map((plan) => (plan instanceof SpecError ? plan : resultOf(plan, values)));
}

function resultOf({ first, size, differences }: Plan, values: Float64Array): RatesOutcome {
  const own = Array.from(values.subarray(first, first + 1 + differences.copies.length));
  const [value] = own;
  if (Number.isNaN(value))
    return new SpecError(
      "bdt: no lattice has these yields and volatilities with rates above 0; check that discount factors fall from " +
        "year to year and that the volatilities vary little from one to the next",
    );
  return { value, errorEstimate: ROUNDING * size, ...sensitivitiesBy(differences, own) };
}
