/** The risk of trades on rates by bucket: the curve's nodes, quotes or key rates, and the volatility of the model. */
import { memoizeBy } from "../../../base/memoize.ts";
import {
  type Bucket,
  curveInputs,
  inputsOf,
  functionInputs,
  type MovableInput,
  type PricedTrade,
  type RatesTrade,
} from "../../../book/index.ts";
import { KEY_NAMES, KEY_TIMES, type RatesModel } from "../../../market/index.ts";
import type { Buckets } from "../../plan/kind.ts";
import { directionsOfInputs } from "../../plan/underlying-directions.ts";
import { quotesOf } from "./parts.ts";
import { lastPayment } from "./sensitivities.ts";

/** The inputs of a model's curve, each of which makes a model for all trades; none of key rates. */
const curveInputsOf = memoizeBy((model: RatesModel): readonly MovableInput<RatesModel>[] =>
  "curve" in model ? shared(inputsOf(curveInputs, model.curve) ?? [], (curve) => ({ ...model, curve })) : [],
);

/** The inputs of a model's volatility; none where it moves as a whole. */
const volatilityInputsOf = memoizeBy((model: RatesModel): readonly MovableInput<RatesModel>[] =>
  model.kind === "hullWhite"
    ? shared(inputsOf(functionInputs, model.volatility) ?? [], (volatility) => ({ ...model, volatility }))
    : [],
);

/** A part of a trade's rates that has inputs: its model, or the curve that projects its floating rates. */
type Parts = Pick<RatesTrade, "rates" | "projection">;

/** The inputs of both curves of a trade; an input that both have moves both. */
function inputsOfCurves({ rates, projection }: Parts): readonly MovableInput<Parts>[] {
  const own = curveInputsOf(rates).map((input): MovableInput<Parts> => ({
    ...input,
    moved: (by) => ({ rates: input.moved(by), ...(projection === undefined ? {} : { projection }) }),
  }));
  if (projection === undefined) return own;
  const projecting = (inputsOf(curveInputs, projection) ?? []).map((input): MovableInput<Parts> => {
    const both = own.find((one) => isSame(one, input));
    return {
      ...input,
      from: Math.min(input.from, both?.from ?? Number.POSITIVE_INFINITY),
      moved: (by) => ({ rates: both?.moved(by).rates ?? rates, projection: input.moved(by) }),
    };
  });
  return [...own.filter((input) => !projecting.some((one) => isSame(one, input))), ...projecting];
}

/** The place of an input in the market. */
type Place = Pick<MovableInput<never>, "of" | "at">;
const isSame = (one: Place, other: Place): boolean => one.of === other.of && one.at === other.at;

/** Inputs of a model, given those of a part of it. */
function shared<T extends object>(
  inputs: readonly MovableInput<T>[],
  made: (part: T) => RatesModel,
): readonly MovableInput<RatesModel>[] {
  return inputs.map((input) => {
    const model = memoizeBy(made);
    return { ...input, moved: (by) => model(input.moved(by)) };
  });
}

/** A volatility of its own stands in the place of a model. */
const hasQuote = ({ product }: RatesTrade): boolean => quotesOf(product).length > 0;

/** The buckets of trades on rates. */
export const ratesBuckets: Buckets<RatesTrade> = {
  known(trade: RatesTrade, { vega, keyRates = [], sensitivityErrorEstimates: errors }: PricedTrade) {
    const { currency, rates } = trade;
    const isParallel = hasQuote(trade) || volatilityInputsOf(rates).length === 0;
    const volatility: readonly Bucket[] =
      vega === null || vega === 0 || !isParallel
        ? []
        : [{ factor: "volatility", of: currency, at: "parallel", value: vega, errorEstimate: errors?.vega ?? null }];
    if (curveInputsOf(rates).length > 0) return volatility;
    const byKey = keyRates.map(([time, value]): Bucket => ({
      factor: "rate",
      of: currency,
      at: KEY_NAMES[KEY_TIMES.indexOf(time)],
      value,
      errorEstimate: null,
    }));
    return [...volatility, ...byKey];
  },
  directions(trade, sizes) {
    const { currency, rates: model, expiry } = trade;
    const made = (parts: Parts): RatesTrade => ({ ...trade, ...parts });
    const last = lastPayment(trade);
    const byRate = { factor: "rate", of: currency, size: sizes.rate, last } as const;
    const byVolatility = { factor: "volatility", of: currency, size: sizes.rate, last: expiry } as const;
    return [
      ...directionsOfInputs(inputsOfCurves(trade), byRate, made),
      ...(hasQuote(trade)
        ? []
        : directionsOfInputs(volatilityInputsOf(model), byVolatility, (rates) => made({ rates }))),
    ];
  },
};
