export { namedScenariosSchema, type NamedScenariosSpec } from "./scenarios.ts";
export { bookJsonSchema, bookSchema, scenariosSchema, type ScenariosSpec } from "./book.ts";
export type {
  BookInput,
  MarketInput,
  NamedScenarioInput,
  ScenariosInput,
  TradeInput,
  ConvertibleInput,
  ForwardInput,
  CreditInput,
} from "./input.ts";
export type { ScriptedInput } from "./scripted-input.ts";
export type { StrikeTradeInput } from "./option-input.ts";
export type { CurveInstrument, FxSpec, NamedCurveSpec } from "./curves.ts";
export {
  type FittedSpec,
  type MarketSpec,
  marketSchema,
  type NamedRatesSpec,
  type PairSpec,
  type SpotSpec,
  type OptionQuoteSpec,
  type RateSpec,
  type UnderlyingSpec,
  type VolatilitySpec,
} from "./market.ts";
export type { DeltasSpec } from "./pairs.ts";
export type { InstrumentsSpec, InstrumentSpec } from "./quotes.ts";
export {
  type AverageSpec,
  type BarrierSpec,
  type ConversionSpec,
  type ExerciseSpec,
  type LookbackSpec,
  type PayoffSpec,
  basketTradeSchema,
  type SwingSpec,
  tradeSchema,
  type TradeSpec,
  type ConvertibleTradeSpec,
  convertibleTradeSchema,
  type ForwardTradeSpec,
  forwardTradeSchema,
} from "./trade.ts";
export {
  type BondSpec,
  type IndexLegSpec,
  type IndexSwapSpec,
  RATES_FIELDS,
  type LegSpec,
  type RatesTradeSpec,
  ratesTradeSchema,
  type RedemptionSpec,
} from "./rates.ts";
export { type ScriptedTradeSpec, scriptedTradeSchema, type ScriptDataSpec, scriptDatumSchema } from "./scripted.ts";
export { scriptSchema } from "./script.ts";
export { LINEAR_FIELDS, type LinearLegSpec, type LinearTradeSpec, linearTradeSchema } from "./linear.ts";
export { REFUSED } from "./schema.ts";
export { isPlainObject, type Schema, tags } from "./values.ts";
