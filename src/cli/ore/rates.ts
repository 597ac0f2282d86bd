/** Swaps, forward rate agreements, caps, floors and swaptions of ORE's portfolio. */
import { conventionsOf } from "../../market/conventions/index.ts";
import { type Fields, NotImported } from "./fields.ts";
import { indexOf, type OreLeg, readLeg } from "./legs.ts";

type PlainTrade = Readonly<Record<string, unknown>>;

const sideOf = (data: Fields): 1 | -1 => (data.word("LongShort", ["Long", "Short"], "Long") === "Long" ? 1 : -1);

/** The two legs of a swap that begin and end together: one that is paid and one that is received. */
function legsOf(data: Fields): { readonly paid: OreLeg; readonly received: OreLeg } {
  const legs = data.all("LegData").map(readLeg);
  const [paid, ...others] = legs.filter(({ pays }) => pays);
  const received = legs.find(({ pays }) => !pays);
  if (legs.length !== 2 || paid === undefined || others.length > 0 || received === undefined)
    throw new NotImported("LegData: expected one leg that is paid and one that is received");
  if (paid.start !== received.start || paid.end !== received.end)
    throw new NotImported("ScheduleData: the legs begin or end on different days");
  return { paid, received };
}

/** A leg as the field of a swap in a book. */
function legOf({ rate, index, spread, currency, notional, exchange, dates, dayCount, payment, overnight }: OreLeg) {
  const interest = index === undefined ? { rate } : { index, ...(spread === 0 ? {} : { spread }), ...overnight };
  return { ...interest, currency, notional, exchange, ...dates, dayCount, ...payment };
}

/** Imports a swap. @throws NotImported */
export function swap(data: Fields): PlainTrade {
  data.onlyKnown(["LegData"]);
  const { paid, received } = legsOf(data);
  const { start, end } = paid;
  const [first] = data.all("LegData");
  return { swap: { start, end, currency: first.text("Currency"), pay: legOf(paid), receive: legOf(received) } };
}

/** Imports a forward rate agreement. @throws NotImported */
export function forwardRateAgreement(data: Fields, notes: string[]): PlainTrade {
  data.onlyKnown(["StartDate", "EndDate", "Currency", "Index", "LongShort", "Strike", "Notional"]);
  const index = indexOf(data, data.text("Currency"));
  if (conventionsOf(index).months === undefined) throw new NotImported(`Index: ${index} is an overnight rate`);
  const isLong = data.word("LongShort", ["Long", "Short"]) === "Long";
  notes.push(
    `LongShort is read as ORE prices it: a ${isLong ? "long" : "short"} position ${isLong ? "pays" : "receives"} ` +
      "the agreed rate; its user guide says the opposite",
  );
  return {
    fra: {
      index,
      start: data.date("StartDate"),
      end: data.date("EndDate"),
      rate: data.inside("Strike").ownNumber(),
      notional: data.positive("Notional"),
      side: isLong ? "pay" : "receive",
    },
  };
}

/** Imports a cap or a floor. @throws NotImported */
export function capFloor(data: Fields, notes: string[]): PlainTrade {
  data.onlyKnown(["LongShort", "LegData", "Caps", "Floors", "Premiums"]);
  premiums(data, notes);
  const strikes = (list: string, item: string): number[] =>
    data
      .maybe(list)
      ?.all(item)
      .map((one) => one.ownNumber()) ?? [];
  const [caps, floors] = [strikes("Caps", "Cap"), strikes("Floors", "Floor")];
  if (caps.length + floors.length !== 1) throw new NotImported("Caps, Floors: expected one rate in all");
  const leg = readLeg(data.inside("LegData"));
  const terms = indexTerms(leg);
  if (conventionsOf(terms.index).months === undefined)
    throw new NotImported(`Index: a cap or a floor on the overnight rate ${terms.index}`);
  return {
    quantity: sideOf(data),
    strike: caps[0] ?? floors[0],
    [caps.length > 0 ? "cap" : "floor"]: { ...terms, start: leg.start, end: leg.end },
  };
}

/** The terms of a leg that has the rates of an index alone, as caps, floors and swaptions have it. */
function indexTerms({ index, spread, notional, exchange, dayCount, dates, payment }: OreLeg) {
  if (index === undefined) throw new NotImported("LegData: expected a floating leg");
  if (spread !== 0) throw new NotImported("Spreads: expected 0");
  if (typeof notional !== "number" || exchange !== "none")
    throw new NotImported("Notionals: expected one, not exchanged");
  const own = conventionsOf(index).dayCount;
  if (dayCount !== own) throw new NotImported(`DayCounter: ${dayCount}, and ${index} has ${own}`);
  return { index, notional, ...dates, ...payment };
}

const OPTION = [
  "LongShort",
  "OptionType",
  "Style",
  "Settlement",
  "SettlementMethod",
  "PayOffAtExpiry",
  "ExerciseDates",
];

/** Imports a swaption with physical settlement. @throws NotImported */
export function swaption(data: Fields, notes: string[]): PlainTrade {
  data.onlyKnown(["OptionData", "LegData"]);
  const option = data.inside("OptionData");
  option.onlyKnown([...OPTION, "Premiums"]);
  premiums(option, notes);
  option.word("Settlement", ["Physical"], "Physical");
  option.word("OptionType", ["Call"], "Call");
  if (option.flag("PayOffAtExpiry", false)) throw new NotImported("PayOffAtExpiry: expected false");
  const style = option.word("Style", ["European", "Bermudan"]);
  const exercise = option
    .inside("ExerciseDates")
    .all("ExerciseDate")
    .map((one) => one.ownDate());
  if (exercise.length === 0 || (style === "European" && exercise.length > 1))
    throw new NotImported(`ExerciseDates: ${exercise.length}, of one ${style}`);
  const { paid, received } = legsOf(data);
  const [fixed, floating] = paid.index === undefined ? [paid, received] : [received, paid];
  const { index, ...terms } = indexTerms(floating);
  if (typeof fixed.rate !== "number") throw new NotImported("Rates: expected a fixed leg of one rate");
  if (fixed.notional !== terms.notional || fixed.exchange !== "none" || fixed.currency !== floating.currency)
    throw new NotImported("Notionals: expected the same for both legs, not exchanged");
  const { start, end, dates, dayCount, payment } = fixed;
  return {
    quantity: sideOf(option),
    strike: fixed.rate,
    swaption: fixed.pays ? "payer" : "receiver",
    ...(style === "European" ? { expiry: exercise[0] } : { exercise }),
    swap: { index, ...terms, start, end, fixed: { ...dates, dayCount, ...payment } },
  };
}

/** Notes premiums, which are no part of trades here. */
export function premiums(data: Fields, notes: string[]): void {
  for (const premium of data.maybe("Premiums")?.all("Premium") ?? []) {
    const [amount, currency, date] = [premium.text("Amount"), premium.text("Currency"), premium.date("PayDate")];
    notes.push(`the premium of ${amount} ${currency} on ${date} is not imported`);
  }
}
