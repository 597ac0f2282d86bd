/** Trades of ORE's portfolio (Open Source Risk Engine) as trades of a book, and the reasons for those left out. */
import { Fields, NotImported } from "./fields.ts";
import { capFloor, forwardRateAgreement, premiums, swap, swaption } from "./rates.ts";
import type { XmlElement } from "./xml.ts";

/** A trade as plain data, as a book contains it. */
export type PlainTrade = Readonly<Record<string, unknown>>;

/** A trade of a portfolio: what it is in a book, or why it is left out. */
export type ImportedTrade = { readonly id: string; readonly kind: string } & (
  | { readonly trades: readonly PlainTrade[]; /** What of it is not imported. */ readonly notes: readonly string[] }
  | { readonly trades?: undefined; readonly reason: string }
);

/** What a kind of trade becomes, without id and tags. Several trades have endings of their ids. */
type Importer = (data: Fields, notes: string[]) => PlainTrade | Readonly<Record<string, PlainTrade>>;

/** The kinds of trades that are imported, by their names, with the names of the elements of their terms. */
const KINDS: ReadonlyMap<string, readonly [element: string, Importer]> = new Map([
  ["EquityOption", ["EquityOptionData", equityOption]],
  ["EquityBarrierOption", ["EquityBarrierOptionData", equityBarrier]],
  ["EquityDoubleBarrierOption", ["EquityDoubleBarrierOptionData", equityBarrier]],
  ["EquityForward", ["EquityForwardData", equityForward]],
  ["FxOption", ["FxOptionData", fxOption]],
  ["FxForward", ["FxForwardData", fxForward]],
  ["FxSwap", ["FxSwapData", fxSwap]],
  ["Swap", ["SwapData", swap]],
  ["ForwardRateAgreement", ["ForwardRateAgreementData", forwardRateAgreement]],
  ["CapFloor", ["CapFloorData", capFloor]],
  ["Swaption", ["SwaptionData", swaption]],
  ["CreditDefaultSwap", ["CreditDefaultSwapData", creditDefaultSwap]],
]);

/** Imports the trades of a portfolio, in its order. @throws NotImported for an element that is no portfolio */
export function importPortfolio(root: XmlElement): ImportedTrade[] {
  if (root.name !== "Portfolio") throw new NotImported(`expected <Portfolio>, got <${root.name}>`);
  return root.children.filter(({ name }) => name === "Trade").map(importTrade);
}

function importTrade(trade: XmlElement, index: number): ImportedTrade {
  const id = trade.attributes.get("id") ?? String(index + 1);
  const fields = new Fields(trade);
  const kind = fields.optional("TradeType") ?? "";
  const known = KINDS.get(kind);
  if (known === undefined)
    return { id, kind, reason: `trades of the kind ${kind || "that is missing"} are not imported` };
  const [element, importer] = known;
  const notes: string[] = [];
  try {
    const terms = importer(fields.inside(element), notes);
    const tags = tagsOf(fields);
    const complete = (own: PlainTrade, ending = ""): PlainTrade => ({
      id: `${id}${ending}`,
      ...own,
      ...(Object.keys(tags).length === 0 ? {} : { tags }),
    });
    // The names of several trades begin with a slash.
    const several = Object.keys(terms).every((name) => name.startsWith("/"));
    const trades = several
      ? Object.entries(terms as Readonly<Record<string, PlainTrade>>).map(([ending, own]) => complete(own, ending))
      : [complete(terms)];
    return { id, kind, trades, notes };
  } catch (error) {
    if (error instanceof NotImported) return { id, kind, reason: error.message };
    throw error;
  }
}

/** The counterparty, the netting set, the portfolios and the additional fields of a trade. */
function tagsOf(trade: Fields): Readonly<Record<string, string>> {
  const envelope = trade.maybe("Envelope");
  if (envelope === undefined) return {};
  const named = { counterparty: "CounterParty", nettingSet: "NettingSetId" };
  const own = Object.entries(named).flatMap(([tag, element]) => {
    const text = envelope.optional(element);
    return text === undefined ? [] : [[tag, text]];
  });
  const more = envelope.maybe("AdditionalFields")?.texts() ?? [];
  return Object.fromEntries([...own, ...more]) as Readonly<Record<string, string>>;
}

interface OptionTerms {
  readonly sign: 1 | -1;
  readonly payoff: "call" | "put";
  readonly expiry: string;
  readonly exercise: "european" | "american" | readonly string[];
}

function optionTerms(data: Fields, notes: string[]): OptionTerms {
  const option = data.inside("OptionData");
  if (option.maybe("PaymentData") !== undefined) throw new NotImported("PaymentData: a day of payment of its own");
  premiums(option, notes);
  const dates = option
    .inside("ExerciseDates")
    .all("ExerciseDate")
    .map((one) => one.ownDate());
  const expiry = dates.at(-1);
  if (expiry === undefined) throw new NotImported("ExerciseDates: there is none");
  const style = option.word("Style", ["European", "American", "Bermudan"], "European");
  if (style !== "Bermudan" && dates.length > 1)
    throw new NotImported(`ExerciseDates: ${dates.length}, of one ${style}`);
  if (style === "American" && option.optional("PayOffAtExpiry") === "true")
    throw new NotImported("PayOffAtExpiry: an American option that pays at expiry");
  return {
    sign: signOf(option),
    payoff: option.word("OptionType", ["Call", "Put"]) === "Call" ? "call" : "put",
    expiry,
    exercise: style === "Bermudan" ? dates.slice(0, -1) : style === "American" ? "american" : "european",
  };
}

const signOf = (fields: Fields): 1 | -1 => (fields.word("LongShort", ["Long", "Short"]) === "Long" ? 1 : -1);

/**
 * The name of an equity, its strike and the number of options, of either sign. A book has their currency with the
 * underlying, in the market, so that what is taken to be true is noted.
 */
function equityTerms(data: Fields, sign: 1 | -1, notes: string[]) {
  const currency = data.text("Currency");
  const strike = data.maybe("StrikeData");
  const other = strike?.optional("Currency") ?? data.optional("StrikeCurrency") ?? currency;
  if (other !== currency) throw new NotImported(`the strike is in ${other}, and the option in ${currency}`);
  const underlying = data.optional("Name") ?? data.inside("Underlying").text("Name");
  notes.push(`the strike is taken to be in the currency of ${underlying} in the market, and must be in ${currency}`);
  return {
    underlying,
    strike: strike === undefined ? data.positive("Strike") : strike.positive("Value"),
    quantity: sign * data.positive("Quantity"),
  };
}

function equityOption(data: Fields, notes: string[]): PlainTrade {
  const { sign, ...terms } = optionTerms(data, notes);
  return { ...equityTerms(data, sign, notes), ...terms };
}

function equityBarrier(data: Fields, notes: string[]): PlainTrade {
  const barrier = data.inside("BarrierData");
  if (barrier.word("Style", ["American", "European"], "American") === "European")
    throw new NotImported("BarrierData: a barrier that is looked at on the last day only");
  if (barrier.number("Rebate", 0) !== 0) throw new NotImported("BarrierData: a rebate");
  const levels = barrier
    .inside("Levels")
    .all("Level")
    .map((one) => one.ownPositive());
  const kinds = ["UpAndOut", "UpAndIn", "DownAndOut", "DownAndIn", "KnockOut", "KnockIn"] as const;
  const kind = barrier.word("Type", kinds);
  const isDouble = kind === "KnockOut" || kind === "KnockIn";
  if (levels.length !== (isDouble ? 2 : 1)) throw new NotImported(`BarrierData: ${levels.length} levels of ${kind}`);
  const ending = kind.endsWith("Out") ? "out" : "in";
  const [low, high] = levels.toSorted((a, b) => a - b);
  const barriers = isDouble
    ? [
        { type: `down-and-${ending}`, level: low },
        { type: `up-and-${ending}`, level: high },
      ]
    : [{ type: `${kind.startsWith("Up") ? "up" : "down"}-and-${ending}`, level: low }];
  const start = data.optional("StartDate");
  if (start !== undefined) notes.push(`the barrier is taken to be monitored from asOf on, not from ${start}`);
  return { ...equityOption(data, notes), barriers };
}

function equityForward(data: Fields, notes: string[]): PlainTrade {
  const { strike, ...terms } = equityTerms(data, signOf(data), notes);
  return { ...terms, forward: strike, expiry: data.date("Maturity") };
}

/** What is bought and sold, as an amount of a currency pair at a rate. */
function exchange(data: Fields, before = "") {
  const [bought, sold] = [data.positive(`${before}BoughtAmount`), data.positive(`${before}SoldAmount`)];
  const pair = `${data.text(`${before}BoughtCurrency`)}${data.text(`${before}SoldCurrency`)}`;
  return { pair, amount: bought, rate: sold / bought };
}

function fxOption(data: Fields, notes: string[]): PlainTrade {
  const { sign, ...terms } = optionTerms(data, notes);
  const { pair, amount, rate } = exchange(data);
  if (terms.exercise !== "european") throw new NotImported("early exercise of an option on a currency pair");
  // It is paid at expiry, not on the delivery date of the pair.
  return { underlying: pair, strike: rate, quantity: sign * amount, ...terms, payment: terms.expiry };
}

function fxForward(data: Fields): PlainTrade {
  const delivery = data.date("ValueDate");
  const settled = data.maybe("SettlementData");
  if (settled !== undefined && (settled.optional("Date") ?? delivery) !== delivery)
    throw new NotImported("SettlementData: a day of payment of its own");
  if (settled?.maybe("Rules") !== undefined) throw new NotImported("SettlementData: rules for the day of payment");
  return { fxForward: { ...exchange(data), delivery } };
}

function fxSwap(data: Fields): Readonly<Record<string, PlainTrade>> {
  const { pair, amount, rate } = exchange(data, "Near");
  // At the far end what was sold is bought back.
  const [bought, sold] = [data.positive("FarBoughtAmount"), data.positive("FarSoldAmount")];
  return {
    "/near": { fxForward: { pair, amount, rate, delivery: data.date("NearDate") } },
    "/far": { fxForward: { pair, amount: -sold, rate: bought / sold, delivery: data.date("FarDate") } },
  };
}

/** A credit default swap that is a standard one: quarterly, Act/360, with accrual, until a 20th. */
function creditDefaultSwap(data: Fields): PlainTrade {
  const leg = data.inside("LegData");
  const rules = leg.inside("ScheduleData").inside("Rules");
  const end = rules.date("EndDate");
  const expected: readonly (readonly [what: string, isStandard: boolean])[] = [
    ["SettlesAccrual", /^(y|yes|true|1)$/i.test(data.optional("SettlesAccrual") ?? "Y")],
    ["ProtectionPaymentTime", (data.optional("ProtectionPaymentTime") ?? "atDefault") === "atDefault"],
    ["UpfrontFee", data.number("UpfrontFee", 0) === 0],
    ["DayCounter", ["A360", "ACT/360", "Act/360", "Actual/360"].includes(leg.text("DayCounter"))],
    ["Tenor", rules.text("Tenor") === "3M"],
    ["EndDate", /-(03|06|09|12)-20$/.test(end)],
  ];
  const other = expected.find(([, isStandard]) => !isStandard);
  if (other !== undefined) throw new NotImported(`${other[0]} is not that of a standard credit default swap`);
  const only = (list: string, item: string): Fields => {
    const [first, ...others] = leg.deep(list).all(item);
    if (first === undefined || others.length > 0) throw new NotImported(`${list}: expected one ${item}`);
    return first;
  };
  return {
    cds: {
      curve: data.optional("CreditCurveId") ?? data.text("IssuerId"),
      currency: leg.text("Currency"),
      side: leg.word("Payer", ["true", "false"]) === "true" ? "buy" : "sell",
      start: data.optional("ProtectionStart") ?? rules.date("StartDate"),
      end,
      notional: only("Notionals", "Notional").ownPositive(),
      coupon: only("Rates", "Rate").ownNumber(),
    },
  };
}
