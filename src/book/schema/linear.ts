/** The schemas of swaps, forward rate agreements, notes, forwards on currencies and credit default swaps. */
import { DAY_COUNTS, type DayCount } from "../../market/conventions/index.ts";
import { calendar, indexName, tenor } from "./curves.ts";
import {
  choose,
  finite,
  fraction,
  list,
  name,
  object,
  positive,
  rate,
  tags,
  time,
  trueOrFalse,
  businessDays,
  wholeNumberFrom,
  word,
  type Input,
  type Output,
} from "./values.ts";

const steps = choose("a rate or a list of them, one a period", {
  number: rate,
  list: list(rate, "a list of rates, at least one", 1),
});

const notional = choose("a notional or a list of them, one a period", {
  number: positive,
  list: list(finite, "a list of notionals, at least one", 1),
});

/** The fields that define a schedule of dates. */
export const dates = {
  every: tenor.optional(),
  calendar: calendar.optional(),
  adjust: word(["unadjusted", "following", "modified-following", "preceding", "modified-preceding"]).optional(),
  roll: word(["backward", "forward"]).optional(),
  rollDay: wholeNumberFrom(1, 31, "a day of the month").optional(),
  stub: word(["short", "long"]).optional(),
  endOfMonth: trueOrFalse.optional(),
  first: time.optional(),
  penultimate: time.optional(),
};

const legTerms = {
  rate: steps.optional(),
  index: indexName.optional(),
  spread: steps.optional(),
  notional: notional.optional(),
  currency: name.optional(),
  ...dates,
  dayCount: word(Object.keys(DAY_COUNTS) as DayCount[]).optional(),
  paymentLag: businessDays.optional(),
  paymentCalendar: calendar.optional(),
  compounding: word(["compounded", "averaged"]).optional(),
  lookback: businessDays.optional(),
  shift: businessDays.optional(),
  lockout: businessDays.optional(),
  exchange: word(["none", "final", "ends", "all"]).optional(),
  zeroCoupon: trueOrFalse.optional(),
  resets: trueOrFalse.optional(),
};

const leg = object(legTerms);
/** A leg after validation by its schema. */
export type LinearLegSpec = Output<typeof leg>;

const shared = {
  id: name,
  quantity: finite.optional(),
  tags: tags.optional(),
  report: list(word(["cashflows", "nodes", "quotes"]), 'a list of "cashflows", "nodes" and "quotes"').optional(),
};

const swap = object({
  ...shared,
  swap: object({
    start: time.optional(),
    end: time,
    notional: notional.optional(),
    currency: name.optional(),
    pay: leg,
    receive: leg,
  }),
}).transform((of) => ({ kind: "swap" as const, ...of }));

const fra = object({
  ...shared,
  fra: object({
    index: indexName,
    start: time,
    end: time.optional(),
    rate,
    notional: positive,
    side: word(["pay", "receive"]).optional(),
  }),
}).transform((of) => ({ kind: "fra" as const, ...of }));

const note = object({
  ...shared,
  note: object({ ...legTerms, start: time.optional(), end: time, notional }),
}).transform((of) => ({ kind: "note" as const, ...of }));

const fxForward = object({
  ...shared,
  fxForward: object({ pair: name, amount: finite, rate: positive, delivery: time }),
}).transform((of) => ({ kind: "fxForward" as const, ...of }));

const cds = object({
  ...shared,
  cds: object({
    curve: name,
    start: time.optional(),
    end: time,
    notional: positive,
    coupon: rate,
    side: word(["buy", "sell"]).optional(),
    upfront: finite.optional(),
    recovery: fraction.optional(),
    currency: name.optional(),
  }),
}).transform((of) => ({ kind: "cds" as const, ...of }));

/** The schemas of these trades by the field that marks them. */
export const linearForms = { swap, fra, note, fxForward, cds };

/** The schema that validates a swap, or another trade that is a sum of flows. */
export const linearTradeSchema = choose('a trade with "swap", "fra", "note", "fxForward" or "cds"', {
  marked: linearForms,
});

/** Such a trade after validation by its schema, before its dates become days. */
export type LinearTradeSpec = Output<typeof linearTradeSchema>;
/** Such a trade, as a book contains it. */
export type LinearTradeInput = Input<typeof linearTradeSchema>;

/** The fields of which such a trade has one; a swaption has a swap, too. */
export const LINEAR_FIELDS: readonly string[] = Object.keys(linearForms);
