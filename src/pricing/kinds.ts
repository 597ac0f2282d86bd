/** The table of kinds of trades: the only module of `pricing`, apart from `methods/`, that names them. */
import type { AnyTrade } from "../book/index.ts";
import { convertibleKind } from "./methods/convertibles/index.ts";
import { ratesKind } from "./methods/rates/index.ts";
import { optionKind } from "./option-kind.ts";
import type { TradeKind } from "./plan/kind.ts";

const KINDS: { readonly [Kind in NonNullable<AnyTrade["kind"]>]: TradeKind } = {
  rates: ratesKind,
  convertible: convertibleKind,
};

/** Returns the kind of a trade. */
export const kindOf = ({ kind }: AnyTrade): TradeKind => (kind === undefined ? optionKind : KINDS[kind]);
