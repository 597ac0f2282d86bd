/** The schemas of trades on interest rates. */
import { DAY_COUNTS, type DayCount } from "../../market/conventions/index.ts";
import { calendar, indexName } from "./curves.ts";
import { dates } from "./linear.ts";
import { exerciseSchema, right } from "./trade.ts";
import {
  choose,
  finite,
  isPlainObject,
  list,
  name,
  notNegative,
  numberWhere,
  object,
  positive,
  rate,
  tags,
  time,
  tuple,
  volatility,
  businessDays,
  wholeNumberFrom,
  word,
  type Input,
  type Output,
} from "./values.ts";

const frequency = wholeNumberFrom(1, 365, "payments a year, a whole number from 1 to 365");

const flow = tuple([time, finite], "[time, amount]");
const flows = list(flow, "a list of [time, amount], at least one", 1);

const redeemed = { price: positive, notice: time.optional() };
const redemption = choose('{ "date", "price" } or { "from", "to", "price" }', {
  marked: {
    date: object({ date: time, ...redeemed }).transform(({ date, ...rest }) => ({ from: date, to: date, ...rest })),
    from: object({ from: time, to: time, ...redeemed }),
  },
});
/** A right to redeem a bond, after validation by its schema. */
export type RedemptionSpec = Output<typeof redemption>;
const redemptions = list(redemption, 'a list of { "date", "price" } or { "from", "to", "price" }').optional();

const couponTerms = { maturity: time, coupon: rate.optional(), frequency: frequency.optional(), notional: positive };
const listedTerms = { cashflows: flows, notional: positive.optional() };
const rights = { calls: redemptions, puts: redemptions };

const plainBond = choose('{ "maturity", "coupon", "frequency", "notional" } or { "cashflows" }', {
  marked: { cashflows: object(listedTerms), maturity: object(couponTerms) },
});
const bond = choose('{ "maturity", "coupon", "frequency", "notional", "calls", "puts" } or { "cashflows" }', {
  marked: { cashflows: object({ ...listedTerms, ...rights }), maturity: object({ ...couponTerms, ...rights }) },
});
/** A bond after validation by its schema. */
export type BondSpec = Output<typeof bond>;

const legTerms = { start: time, end: time, frequency, notional: positive };
const leg = object({ ...legTerms, fixing: rate.optional() });
/** A swap leg after validation by its schema. */
export type LegSpec = Output<typeof leg>;

const onIndexTerms = {
  index: indexName,
  start: time.optional(),
  end: time,
  notional: positive,
  ...dates,
  paymentLag: businessDays.optional(),
  paymentCalendar: calendar.optional(),
};
const capOnIndex = object(onIndexTerms);
const swapOnIndex = object({
  ...onIndexTerms,
  fixed: object({
    ...dates,
    dayCount: word(Object.keys(DAY_COUNTS) as DayCount[]).optional(),
    paymentLag: businessDays.optional(),
    paymentCalendar: calendar.optional(),
  }).optional(),
});
/** A leg that takes its conventions from its index, after validation by its schema. */
export type IndexLegSpec = Output<typeof capOnIndex>;
/** A swap whose legs take their conventions from its index, after validation by its schema. */
export type IndexSwapSpec = Output<typeof swapOnIndex>;
/** Such a leg, as a book contains it. */
export type IndexLegInput = Input<typeof capOnIndex>;
/** Such a swap, as a book contains it. */
export type IndexSwapInput = Input<typeof swapOnIndex>;
const LEGS = '{ "index", "end", "notional" } or { "start", "end", "frequency", "notional" }';
const capLeg = choose(LEGS, { object: leg, marked: { index: capOnIndex } });
const swapLeg = choose(LEGS, { object: object(legTerms), marked: { index: swapOnIndex } });

const sigma = notNegative;
const quote = choose('a volatility, { "normal" } or { "displaced" }', {
  number: volatility.transform((black) => ({ kind: "displaced" as const, sigma: black, shift: 0 })),
  marked: {
    normal: object({
      normal: numberWhere("a normal volatility from 0 to 1 (0.01 is 1 %)", { minimum: 0, maximum: 1 }),
    }).transform(({ normal }) => ({ kind: "normal" as const, sigma: normal })),
    displaced: object({ displaced: object({ sigma, shift: notNegative }) }).transform(({ displaced }) => ({
      kind: "displaced" as const,
      ...displaced,
    })),
  },
});

const terms = { id: name, currency: name, quantity: finite.optional(), tags: tags.optional() };
const when = { expiry: time.optional(), exercise: exerciseSchema.optional() };
const marketPrice = positive.optional();

const bondTrade = object({ ...terms, bond, marketPrice }).transform((spec) => ({ kind: "bond" as const, ...spec }));
const flowsTrade = object({ ...terms, ...listedTerms, ...rights, marketPrice }).transform(
  ({ cashflows, notional, calls, puts, ...spec }) => ({
    kind: "bond" as const,
    ...spec,
    bond: { cashflows, notional, calls, puts },
  }),
);
const onBond = choose('{ "bond" } or { "cashflows" }', {
  marked: {
    bond: object({ bond: plainBond }).transform(({ bond: of }) => of),
    cashflows: object(listedTerms),
  },
});
const bondOption = object({
  ...terms,
  payoff: right,
  strike: positive,
  strikeIs: word(["clean", "dirty"]).optional(),
  ...when,
  on: onBond,
}).transform((spec) => ({ kind: "bondOption" as const, ...spec }));
const capTerms = { ...terms, currency: name.optional(), strike: rate, volatility: quote.optional() };
const cap = object({ ...capTerms, cap: capLeg }).transform(({ cap: of, ...spec }) => ({
  kind: "capFloor" as const,
  right: "cap" as const,
  leg: of,
  ...spec,
}));
const floor = object({ ...capTerms, floor: capLeg }).transform(({ floor: of, ...spec }) => ({
  kind: "capFloor" as const,
  right: "floor" as const,
  leg: of,
  ...spec,
}));
const swaption = object({
  ...capTerms,
  ...when,
  swaption: word(["payer", "receiver"]),
  swap: swapLeg,
}).transform(({ swaption: side, swap, ...spec }) => ({ kind: "swaption" as const, right: side, leg: swap, ...spec }));

const forms = { on: bondOption, bond: bondTrade, cashflows: flowsTrade, cap, floor, swaption };

/** The schema that validates a trade on the interest rates of a currency. */
export const ratesTradeSchema = choose(
  'a trade on rates: { "currency" } and "bond", "cashflows", "on", "cap", "floor" or "swaption"',
  { marked: forms },
  remedyOf,
);

/** Says what to write instead of a trade that this version does not support. */
function remedyOf(value: unknown): string {
  if (!isPlainObject(value)) return "";
  if (Object.hasOwn(value, "underlying") || Object.hasOwn(value, "underlyings"))
    return (
      '; a trade on an underlying pays in the currency of the underlying, so leave "currency" out, and write "quanto" ' +
      'or "composite" for a payment in another one'
    );
  return "";
}
/** A trade on interest rates after validation by its schema, before its dates become years. */
export type RatesTradeSpec = Output<typeof ratesTradeSchema>;

/** The fields that only trades on interest rates have. */
export const RATES_FIELDS: readonly string[] = ["currency", ...Object.keys(forms)];
