/** Convertible bonds: by closed forms where they exist, else by finite differences of two coupled equations. */
import { creditInputs, inputsOf, type ConvertibleTrade } from "../../../book/index.ts";
import { discountFactor } from "../../../market/index.ts";
import {
  closedFormValue,
  type Convertible,
  type ConvertibleMarket,
  hasClosedForm,
  ratioAtMaturity,
  DOMAIN_TRUNCATION_ERROR,
} from "../../../pde/convertible/index.ts";
import type { Bounds, Buckets, TradeBounds, TradeKind } from "../../plan/kind.ts";
import type { Batch } from "../../plan/method.ts";
import { directionsOfInputs, underlyingBuckets, underlyingDirections } from "../../plan/underlying-directions.ts";
import { doubtsOf, expiryWarnings, MIN_DAYS } from "../../term-warnings.ts";
import { accuracyOf, convertibleExplanation, convertibleRowsOf } from "./rows.ts";
import { closedFormConvertibles, finiteConvertibles } from "./pricing.ts";

/** The buckets of convertibles: those of their underlying, and the issuer's spread or hazard rate. */
const convertibleBuckets: Buckets<ConvertibleTrade> = {
  known(trade, result) {
    const { credit, underlying } = trade;
    const { creditSensitivity, sensitivityErrorEstimates: errors } = result;
    const own = underlyingBuckets(trade, result);
    if (credit === undefined || inputsOf(creditInputs, credit) !== undefined || typeof creditSensitivity !== "number")
      return own;
    const error = errors?.creditSensitivity ?? null;
    return [
      ...own,
      { factor: "spread", of: underlying.name, at: "parallel", value: creditSensitivity, errorEstimate: error },
    ];
  },
  directions(trade, sizes) {
    const { credit, underlying, expiry: last } = trade;
    const bySpread = { factor: "spread", of: underlying.name, size: sizes.spread, last } as const;
    const inputs = credit === undefined ? [] : (inputsOf(creditInputs, credit) ?? []);
    return [
      ...underlyingDirections(trade, sizes, last),
      ...directionsOfInputs(inputs, bySpread, (moved) => ({ ...trade, credit: moved })),
    ];
  },
};

/** The trade kind of convertible bonds: their pricing methods, error targets, bounds and warnings. */
export const convertibleKind: TradeKind<ConvertibleTrade> = {
  methods: [closedFormConvertibles, finiteConvertibles],
  add: (batch, trade) => void convertibleRowsOf(batch)(trade),
  targetErrorOf: (batch, trade, method) => (method.name === "closed-form" ? Number.NaN : accuracyOf(batch, trade)),
  boundsOf: (batch) => Promise.resolve(limitsOf(batch)),
  warnings: ({ expiry, credit, underlying }) => [
    ...expiryWarnings(expiry, MIN_DAYS.bond),
    ...(credit === undefined ? [`market.credit has no "${underlying.name}": priced without credit risk`] : []),
  ],
  doubts: (trade) => doubtsOf([trade], trade.expiry),
  buckets: convertibleBuckets,
  ...convertibleExplanation,
};

function limitsOf(batch: Batch): TradeBounds {
  const casesOf = (trade: number) => convertibleRowsOf(batch)(trade).cases;
  // The first row has today's spot, the others those of the scenarios alone.
  const spotOf = (trade: number, k: number, spot: number): number =>
    casesOf(trade)[k]!.spots[k === 0 ? spot : spot - 1];
  return {
    at(trade, k) {
      const row = casesOf(trade)[k];
      return row && ((spot) => boundsOf(row.contract, row.market, spotOf(trade, k, spot)));
    },
    rounding(trade, spot) {
      const today = casesOf(trade)[0]!;
      return DOMAIN_TRUNCATION_ERROR * (today.contract.notional + today.spots[spot]);
    },
  };
}

/**
 * Returns the bounds of a convertible's value at a spot. A bond without calls is worth at least what it is worth if it
 * is never converted, or at maturity only; no bond is worth more than all of its payments without credit risk and its
 * shares together.
 */
export function boundsOf(contract: Convertible, market: ConvertibleMarket, spot: number): Bounds {
  const low = contract.calls.length > 0 ? 0 : floorOf(contract, market, spot);
  return {
    low,
    high: Math.max(low, mostOf(contract, market, spot)),
    lowIs: "the bond if it is never converted early",
    highIs: "its shares and all of its payments together",
  };
}

/** The value if the holder decides nothing before maturity; 0 where that has no closed form. */
function floorOf(contract: Convertible, market: ConvertibleMarket, spot: number): number {
  const { credit } = market;
  const { maturity, puts } = contract;
  const ratio = ratioAtMaturity(contract);
  const passive = { ...contract, puts: [], conversions: [] };
  const late = { ...passive, conversions: [{ from: maturity, to: maturity, ratio }] };
  // A put turns shares into cash, which a spread discounts more: only the bond alone is less for sure.
  const isSure = !(credit.kind === "spread" && puts.length > 0);
  const least = [passive, ...(isSure && ratio > 0 ? [late] : [])].filter((one) => hasClosedForm(one, market));
  return Math.max(0, ...least.map((one) => closedFormValue(one, market, spot)));
}

function mostOf({ notional, maturity, ...contract }: Convertible, market: ConvertibleMarket, spot: number): number {
  const { rates, dividends, credit } = market;
  const at = (t: number): number => discountFactor(rates, t);
  const largest = Math.max(1, at(maturity), ...rates.times.filter((t) => t < maturity).map(at));
  const ratio = Math.max(0, ...contract.conversions.map((one) => one.ratio));
  const shares = ratio * spot * Math.max(1, Math.exp(-dividends.yield * maturity));
  const coupons = contract.coupons.reduce((sum, { time, amount }) => sum + amount * at(time), 0);
  const accrued = Math.max(0, ...contract.coupons.map(({ amount }) => amount));
  const put = contract.puts.length === 0 ? 0 : Math.max(...contract.puts.map(({ price }) => price)) + accrued;
  const recovery = credit.kind === "spread" ? 0 : credit.recovery * notional;
  return shares + coupons + notional * at(maturity) + (put + recovery) * largest;
}

/** Convertible bonds: by closed forms where they exist, else by finite differences of two coupled equations. */
