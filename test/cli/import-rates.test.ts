import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { importPortfolio } from "../../src/cli/ore/portfolio.ts";
import { parseXml } from "../../src/cli/ore/xml.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, readBook } from "../../src/index.ts";

/** Whether the optional parser is installed, as `npm ci` does. */
const hasParser = ((): boolean => {
  try {
    return createRequire(import.meta.url).resolve("@xmldom/xmldom") !== "";
  } catch {
    return false;
  }
})();

type Plain = Readonly<Record<string, unknown>>;

async function imported(...trades: readonly string[]) {
  return importPortfolio(await parseXml(`<Portfolio>${trades.join("")}</Portfolio>`));
}

const trade = (id: string, kind: string, data: string): string =>
  `<Trade id="${id}"><TradeType>${kind}</TradeType><${kind}Data>${data}</${kind}Data></Trade>`;

interface Rules {
  readonly start?: string;
  readonly end?: string;
  readonly tenor?: string;
  readonly calendar?: string;
  readonly more?: string;
}
const schedule = ({ start = "2026-11-24", end = "2031-11-24", tenor = "6M", calendar = "TARGET", more = "" }: Rules) =>
  `<ScheduleData><Rules><StartDate>${start}</StartDate><EndDate>${end}</EndDate><Tenor>${tenor}</Tenor>` +
  `<Calendar>${calendar}</Calendar><Convention>MF</Convention><TermConvention>MF</TermConvention>` +
  `<Rule>Forward</Rule><EndOfMonth/><FirstDate/><LastDate/>${more}</Rules></ScheduleData>`;

interface Leg extends Rules {
  readonly pays?: boolean;
  readonly currency?: string;
  readonly notional?: string;
  readonly dayCounter?: string;
  readonly beside?: string;
}
const leg = (kind: "Fixed" | "Floating", inner: string, { pays = false, ...of }: Leg): string =>
  `<LegData><LegType>${kind}</LegType><Payer>${pays}</Payer><Currency>${of.currency ?? "EUR"}</Currency>` +
  `<Notionals>${of.notional ?? "<Notional>1000000</Notional>"}</Notionals>` +
  `<DayCounter>${of.dayCounter ?? (kind === "Fixed" ? "30/360 (Bond Basis)" : "A360")}</DayCounter>` +
  `<PaymentConvention>MF</PaymentConvention>${of.beside ?? ""}<${kind}LegData>${inner}</${kind}LegData>` +
  `${schedule(of)}</LegData>`;
const fixed = (rates: readonly number[], of: Leg = {}): string =>
  leg("Fixed", `<Rates>${rates.map((rate) => `<Rate>${rate}</Rate>`).join("")}</Rates>`, { tenor: "1Y", ...of });
const floating = (index: string, of: Leg & { readonly inner?: string } = {}): string =>
  leg("Floating", `<Index>${index}</Index><Spreads/>${of.inner ?? ""}`, of);

const fra = (side: string): string =>
  "<StartDate>20270526</StartDate><EndDate>20271126</EndDate><Currency>EUR</Currency><Index>EUR-EURIBOR-6M</Index>" +
  `<LongShort>${side}</LongShort><Strike>0.025</Strike><Notional>1000000</Notional>`;
const option = (style: string, dates: readonly string[], more = "", side = "Long"): string =>
  `<OptionData><LongShort>${side}</LongShort><OptionType>Call</OptionType><Style>${style}</Style>${more}` +
  `<ExerciseDates>` +
  `${dates.map((date) => `<ExerciseDate>${date}</ExerciseDate>`).join("")}</ExerciseDates></OptionData>`;
const cap = (rates: string, legData: string, side = "Short"): string =>
  `<LongShort>${side}</LongShort>${legData}${rates}`;

const zeros = (first: number) => [
  { date: "1Y", zero: first },
  { date: "10Y", zero: first + 0.007 },
];
const market = {
  curves: {
    "EUR-ESTR": { index: "ESTR", zeros: zeros(0.019) },
    "EUR-6M": { index: "EURIBOR-6M", zeros: zeros(0.021) },
    "EUR-3M": { index: "EURIBOR-3M", zeros: zeros(0.02) },
    "GBP-SONIA": { index: "SONIA", zeros: zeros(0.04) },
  },
  rates: {
    EUR: { hullWhite: { meanReversion: 0.03, volatility: 0.009, curve: { discount: "EUR-ESTR" } } },
    GBP: { discount: "GBP-SONIA" },
  },
};

/** The values of a book's trades, by quantity. */
async function valuesOf(trades: readonly Plain[]): Promise<number[]> {
  using device = createCpuDevice({ threads: 1, share: "always" });
  const book = readBook({ asOf: "2026-11-20", market, trades });
  const { results } = await priceBook(book, { device, greeks: "none" });
  return results.map((result, i) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result.value * Number(trades[i]["quantity"] ?? 1);
  });
}

describe.skipIf(!hasParser)("rates of ORE's portfolio (skipped where @xmldom/xmldom is not installed)", () => {
  // What is written by hand leaves the conventions of the market to the index, and has none of the importer's fields.
  const [start, end, notional] = ["2026-11-24", "2031-11-24", 1e6];
  const index = "EURIBOR-6M";
  const own = { index, start: "2027-11-24", end: "2032-11-24", notional };
  const underlying = fixed([0.026], { pays: true, start: own.start, end: own.end });
  const later = floating("EUR-EURIBOR-6M", { start: own.start, end: own.end });

  test.each<readonly [name: string, xml: string, byHand: Plain]>([
    [
      "a payer swap",
      trade("T", "Swap", fixed([0.025], { pays: true }) + floating("EUR-EURIBOR-6M")),
      { swap: { start, end, notional, pay: { rate: 0.025 }, receive: { index } } },
    ],
    [
      "a receiver swap with a step-up, a notional that falls and a spread",
      trade(
        "T",
        "Swap",
        floating("EUR-EURIBOR-3M", {
          pays: true,
          tenor: "3M",
          end: "2028-11-24",
          inner: "<Gearings><Gearing>1</Gearing></Gearings><Spreads><Spread>0.001</Spread></Spreads>",
          notional: "<Notional>1000000</Notional><Notional>900000</Notional>",
        }).replace("<Spreads/>", "") +
          fixed([0.02, 0.03], {
            end: "2028-11-24",
            notional: "<Notional>1000000</Notional><Notional>500000</Notional>",
          }),
      ),
      {
        swap: {
          start,
          end: "2028-11-24",
          pay: { index: "EURIBOR-3M", spread: 0.001, notional: [1e6, 9e5] },
          receive: { rate: [0.02, 0.03], notional: [1e6, 5e5] },
        },
      },
    ],
    [
      "a basis swap",
      trade("T", "Swap", floating("EUR-EURIBOR-6M", { pays: true }) + floating("EUR-EURIBOR-3M", { tenor: "3M" })),
      { swap: { start, end, notional, pay: { index }, receive: { index: "EURIBOR-3M" } } },
    ],
    [
      "a swap of overnight rates with a payment lag",
      trade(
        "T",
        "Swap",
        fixed([0.022], { pays: true, dayCounter: "ACT/360", beside: "<PaymentLag>1</PaymentLag>" }) +
          floating("EUR-ESTER", { tenor: "1Y", beside: "<PaymentLag>1D</PaymentLag>" }),
      ),
      { swap: { start, end, notional, pay: { rate: 0.022 }, receive: { index: "ESTR" } } },
    ],
    [
      "a swap in pounds",
      trade(
        "T",
        "Swap",
        fixed([0.04], { pays: true, currency: "GBP", dayCounter: "A365", calendar: "UK" }) +
          floating("GBP-SONIA", { currency: "GBP", dayCounter: "A365", tenor: "1Y", calendar: "GBP" }),
      ),
      { swap: { start, end, notional, pay: { rate: 0.04 }, receive: { index: "SONIA" } } },
    ],
    [
      "a forward rate agreement",
      trade("T", "ForwardRateAgreement", fra("Short")),
      { fra: { index, start: "2027-05-26", end: "2027-11-26", rate: 0.025, notional, side: "receive" } },
    ],
    [
      "a cap that is sold",
      trade("T", "CapFloor", cap("<Caps><Cap>0.03</Cap></Caps><Floors/>", floating("EUR-EURIBOR-6M"))),
      { quantity: -1, strike: 0.03, cap: { index, start, end, notional } },
    ],
    [
      "a floor",
      trade("T", "CapFloor", cap("<Floors><Floor>0.02</Floor></Floors>", floating("EUR-EURIBOR-6M"), "Long")),
      { strike: 0.02, floor: { index, start, end, notional } },
    ],
    [
      "a payer swaption",
      trade("T", "Swaption", option("European", ["2027-11-22"]) + underlying + later),
      { strike: 0.026, swaption: "payer", expiry: "2027-11-22", swap: own },
    ],
    [
      "a Bermudan receiver swaption that is sold",
      trade(
        "T",
        "Swaption",
        option("Bermudan", ["2027-11-22", "2028-11-22"], "<Settlement>Physical</Settlement>", "Short") +
          underlying.replace("<Payer>true", "<Payer>false") +
          later.replace("<Payer>false", "<Payer>true"),
      ),
      { quantity: -1, strike: 0.026, swaption: "receiver", exercise: ["2027-11-22", "2028-11-22"], swap: own },
    ],
  ])("%s has the value of the same trade written by hand", async (_, xml, byHand) => {
    const [one] = await imported(xml);
    expect(one.trades).toHaveLength(1);
    const [value, expected] = await valuesOf([one.trades![0], { id: "H", ...byHand }]);
    expect(Math.abs(expected)).toBeGreaterThan(1);
    expect(value).toBeCloseTo(expected, 6);
  });

  test("long and short agreements are opposite, and a note says how they are read", async () => {
    const both = await imported(
      trade("L", "ForwardRateAgreement", fra("Long")),
      trade("S", "ForwardRateAgreement", fra("Short")),
    );
    const [long, short] = await valuesOf(both.flatMap(({ trades = [] }) => trades));
    // The forward rate is above the agreed one for whoever pays that.
    expect(long + short).toBeCloseTo(0, 9);
    const [{ trades = [], ...first }] = both;
    expect(trades[0]).toMatchObject({ fra: { side: "pay" } });
    expect("notes" in first && first.notes).toEqual([
      expect.stringMatching(/^LongShort is read as ORE prices it: a long /),
    ]);
  });

  const swapOf = (other: string): string => fixed([0.025], { pays: true }) + other;
  const physical = option("European", ["2027-11-22"]);
  test.each<readonly [reason: string, kind: string, data: string]>([
    ["Index: USD-LIBOR-3M is not known", "Swap", swapOf(floating("USD-LIBOR-3M"))],
    ["Index: SOFR is of USD, and the leg of EUR", "Swap", swapOf(floating("USD-SOFR"))],
    [
      "<LegType>: expected Fixed, Floating, got CMS",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M").replace("Floating", "CMS")),
    ],
    [
      "LegData: expected one leg that is paid and one that is received",
      "Swap",
      fixed([0.02]) + floating("EUR-EURIBOR-6M"),
    ],
    [
      "ScheduleData: the legs begin or end on different days",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { end: "2030-11-24" })),
    ],
    [
      "Gearings: expected 1",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { inner: "<Gearings><Gearing>2</Gearing></Gearings>" })),
    ],
    [
      "<Caps> of <FloatingLegData> is not known",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { inner: "<Caps><Cap>0.05</Cap></Caps>" })),
    ],
    [
      "IsInArrears: a term rate that is fixed in arrears",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { inner: "<IsInArrears>true</IsInArrears>" })),
    ],
    [
      "FixingDays: 0, and EURIBOR-6M has 2",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { inner: "<FixingDays>0</FixingDays>" })),
    ],
    ["Calendar: XYZ is not known", "Swap", swapOf(floating("EUR-EURIBOR-6M", { calendar: "XYZ" }))],
    ["DayCounter: BUS/252 is not known", "Swap", swapOf(floating("EUR-EURIBOR-6M", { dayCounter: "BUS/252" }))],
    [
      "<RemoveLastDate> of <Rules> is not known",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M", { more: "<RemoveLastDate>true</RemoveLastDate>" })),
    ],
    [
      "TermConvention: Unadjusted is not known",
      "Swap",
      swapOf(floating("EUR-EURIBOR-6M")).replace("<TermConvention>MF", "<TermConvention>Unadjusted"),
    ],
    [
      "Notional: values by date",
      "Swap",
      swapOf(
        floating("EUR-EURIBOR-6M", { notional: '<Notional>1</Notional><Notional startDate="2028-01-01">2</Notional>' }),
      ),
    ],
    [
      "Caps, Floors: expected one rate in all",
      "CapFloor",
      cap("<Caps><Cap>0.03</Cap></Caps><Floors><Floor>0.01</Floor></Floors>", floating("EUR-EURIBOR-6M")),
    ],
    [
      "DayCounter: Act/365F, and EURIBOR-6M has Act/360",
      "CapFloor",
      cap("<Caps><Cap>0.03</Cap></Caps>", floating("EUR-EURIBOR-6M", { dayCounter: "A365" })),
    ],
    [
      "Index: a cap or a floor on the overnight rate ESTR",
      "CapFloor",
      cap("<Caps><Cap>0.03</Cap></Caps>", floating("EUR-ESTER")),
    ],
    [
      "<Settlement>: expected Physical, got Cash",
      "Swaption",
      physical.replace("<Style>", "<Settlement>Cash</Settlement><Style>") + underlying + later,
    ],
    [
      "<ExerciseFees> of <OptionData> is not known",
      "Swaption",
      option("European", ["2027-11-22"], "<ExerciseFees><ExerciseFee>1</ExerciseFee></ExerciseFees>") +
        underlying +
        later,
    ],
    [
      "ExerciseDates: 2, of one European",
      "Swaption",
      option("European", ["2027-11-22", "2028-11-22"]) + underlying + later,
    ],
    [
      "Spreads: expected 0",
      "Swaption",
      physical + underlying + later.replace("<Spreads/>", "<Spreads><Spread>0.01</Spread></Spreads>"),
    ],
    [
      "Notionals: expected the same for both legs, not exchanged",
      "Swaption",
      physical + underlying.replace("1000000", "2000000") + later,
    ],
  ])("left out: %s", async (reason, kind, data) => {
    expect(await imported(trade("T", kind, data))).toEqual([{ id: "T", kind, reason }]);
  });
});
