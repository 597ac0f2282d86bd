/** The fields of a result, from which tables, run files and the service's schema follow: a new one is one line here. */
import {
  type BucketPlace,
  type PricedTrade,
  type ReportingFigures,
  SENSITIVITIES,
  type TradeFigures,
} from "./result-types.ts";

/** What a field holds: text, a number, a list of texts, or an object or list that tables show as JSON. */
export type FieldType = "text" | "number" | "texts" | "json";

/** The numbers that pricing gives every trade: its value, the sensitivities and the value's error estimate. */
export const RESULT_NUMBERS = ["value", ...SENSITIVITIES, "errorEstimate"] as const;

const NUMBER_FIELDS = Object.fromEntries(RESULT_NUMBERS.map((name) => [name, "number"])) as Readonly<
  Record<(typeof RESULT_NUMBERS)[number], "number">
>;

/** The fields of every result, in the order of a table's columns. `error` is that of a trade without a price. */
export const RESULT_FIELDS = {
  id: "text",
  underlying: "text",
  currency: "text",
  quantity: "number",
  status: "text",
  ...NUMBER_FIELDS,
  method: "text",
  seed: "number",
  precision: "text",
  backend: "text",
  warnings: "texts",
  error: "text",
} as const satisfies Partial<Record<keyof PricedTrade | "error", FieldType>>;

/** The fields that only results of some kinds of trades have; the compiler finds one that is missing here. */
export const FIGURE_FIELDS = {
  clean: "number",
  accrued: "number",
  yield: "number",
  duration: "number",
  convexity: "number",
  optionAdjustedSpread: "number",
  keyRates: "json",
  parameters: "json",
  parity: "number",
  bondFloor: "number",
  creditSensitivity: "number",
  recoverySensitivity: "number",
  jumpToDefault: "number",
  fairRate: "number",
  fairUpfront: "number",
  fairSpread: "number",
  annuity: "number",
  legs: "json",
  cashflows: "json",
  nodeSensitivities: "json",
  quoteSensitivities: "json",
  fx: "json",
  states: "json",
} as const satisfies Record<keyof TradeFigures, FieldType>;

/** The fields of a result's numbers in the reporting currency, behind `reporting.`, without those by currency pair. */
export const REPORTING_FIELDS = {
  currency: "text",
  rate: "number",
  ...NUMBER_FIELDS,
} as const satisfies Record<
  Exclude<keyof ReportingFigures, "fxDelta" | "scenarioRates" | "scenarioValueRates">,
  FieldType
>;

/** The fields of a result under scenarios: numbers in nested lists. */
export const SCENARIO_FIELDS = ["scenarios", "scenarioErrorEstimates"] as const;

/** The fields of a result under named scenarios: a number for each of them. */
export const NAMED_SCENARIO_FIELDS = ["scenarioValues", "scenarioValueErrorEstimates"] as const;

/** The names of the fields of every result, in order. */
export const RESULT_COLUMNS = Object.keys(RESULT_FIELDS) as readonly (keyof typeof RESULT_FIELDS)[];

/** Returns the place of a bucket as text, empty for an input that has none. */
export function placeText(at: BucketPlace): string {
  if (at === null) return "";
  return typeof at === "object" ? `${at.expiry} ${at.strike}` : String(at);
}
