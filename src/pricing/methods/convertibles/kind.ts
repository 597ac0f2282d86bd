/** Convertible bonds: by closed forms where they exist, else by finite differences of two coupled equations. */
import type { ConvertibleTrade } from "../../../book/index.ts";
import { TRUNCATED } from "../../../pde/convertible/index.ts";
import { doubtsOf } from "../../fit-doubts.ts";
import type { Limits, TradeKind } from "../../plan/kind.ts";
import type { Batch } from "../../plan/method.ts";
import { expiryWarnings, MIN_DAYS } from "../../unit-warnings.ts";
import { boundsOf } from "./bounds.ts";
import { convertibleExplanation } from "./market.ts";
import { closedFormConvertibles, finiteConvertibles } from "./pricing.ts";
import { accuracyOf, convertibleRowsOf } from "./rows.ts";

/** The kind of convertible bonds. */
export const convertibleKind: TradeKind<ConvertibleTrade> = {
  methods: [closedFormConvertibles, finiteConvertibles],
  add: (batch, trade) => void convertibleRowsOf(batch)(trade),
  askedOf: (batch, trade, method) => (method === closedFormConvertibles ? Number.NaN : accuracyOf(batch, trade)),
  limitsOf: (batch) => Promise.resolve(limitsOf(batch)),
  warnings: ({ expiry, credit, underlying }) => [
    ...expiryWarnings(expiry, MIN_DAYS.bond),
    ...(credit === undefined ? [`market.credit has no "${underlying.name}": priced without credit risk`] : []),
  ],
  doubts: (trade) => doubtsOf([trade], trade.expiry),
  ...convertibleExplanation,
};

function limitsOf(batch: Batch): Limits {
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
      return TRUNCATED * (today.contract.notional + today.spots[spot]);
    },
  };
}
