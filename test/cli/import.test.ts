import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { normalCdf } from "../support/normal.ts";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-import-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether the optional parser is installed, as `npm ci` does. */
const hasParser = ((): boolean => {
  try {
    return createRequire(import.meta.url).resolve("@xmldom/xmldom") !== "";
  } catch {
    return false;
  }
})();

const option = (more = "", type = "Call", style = "European", side = "Long", dates = ["2027-11-20"]): string =>
  `<OptionData><LongShort>${side}</LongShort><OptionType>${type}</OptionType><Style>${style}</Style><ExerciseDates>${dates
    .map((date) => `<ExerciseDate>${date}</ExerciseDate>`)
    .join("")}</ExerciseDates>${more}</OptionData>`;
const trade = (id: string, kind: string, data: string, element = `${kind}Data`): string =>
  `<Trade id="${id}"><TradeType>${kind}</TradeType><Envelope><CounterParty>Bank &amp; Co</CounterParty></Envelope>` +
  `<${element}>${data}</${element}></Trade>`;
const equity = "<Name>ACME</Name><Currency>EUR</Currency><Strike>90</Strike><Quantity>5</Quantity>";
const currencyOf = (currency: string): string =>
  `the strike is taken to be in the currency of ACME in the market, and must be in ${currency}`;
const fx =
  "<BoughtCurrency>EUR</BoughtCurrency><BoughtAmount>1000</BoughtAmount>" +
  "<SoldCurrency>USD</SoldCurrency><SoldAmount>1100</SoldAmount>";
const barrier = (type: string, levels: readonly number[], more = ""): string =>
  `<BarrierData><Type>${type}</Type><Levels>${levels.map((one) => `<Level>${one}</Level>`).join("")}</Levels>${more}</BarrierData>`;
const premium =
  "<Premiums><Premium><Amount>10</Amount><Currency>EUR</Currency><PayDate>2027-01-04</PayDate></Premium></Premiums>";
const cds = (end: string): string =>
  "<CreditCurveId>ACME-CDS</CreditCurveId><LegData><LegType>Fixed</LegType><Payer>true</Payer><Currency>EUR</Currency>" +
  "<Notionals><Notional>1e6</Notional></Notionals><DayCounter>A360</DayCounter><FixedLegData><Rates><Rate>0.01</Rate>" +
  `</Rates></FixedLegData><ScheduleData><Rules><StartDate>20261120</StartDate><EndDate>${end}</EndDate><Tenor>3M</Tenor>` +
  "<Calendar>TARGET</Calendar><Convention>F</Convention><Rule>CDS2015</Rule></Rules></ScheduleData></LegData>";

interface Imported {
  readonly status: number;
  readonly trades: readonly Readonly<Record<string, unknown>>[];
  readonly left: readonly (readonly [id: string, reason: string])[];
}

async function imported(...trades: readonly string[]): Promise<Imported> {
  const [path, output, list] = ["portfolio.xml", "trades.ndjson", "left.json"].map((name) => join(folder, name));
  writeFileSync(path, `<?xml version="1.0"?>\n<Portfolio><!-- made by hand -->${trades.join("\n")}</Portfolio>`);
  const { status, stderr } = await feynkac(["import", path, "-o", output, "--left-out", list]);
  if (status > 1) throw new Error(stderr);
  const left = JSON.parse(readFileSync(list, "utf8")) as readonly { readonly id: string; readonly reason: string }[];
  return {
    status,
    trades: readFileSync(output, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    left: left.map(({ id, reason }) => [id, reason]),
  };
}

describe.skipIf(!hasParser)("ORE's portfolio", () => {
  test("trades that are priced, with the signs and dates that they have there", async () => {
    const { status, trades, left } = await imported(
      trade("E", "EquityOption", option() + equity),
      trade("S", "EquityOption", option("", "Put", "Bermudan", "Short", ["2027-03-01", "2027-11-20"]) + equity),
      trade("B", "EquityBarrierOption", option() + barrier("DownAndIn", [80]) + equity),
      trade("D", "EquityDoubleBarrierOption", option() + barrier("KnockOut", [120, 80]) + equity),
      trade("F", "EquityForward", `<LongShort>Short</LongShort><Maturity>2027-11-20</Maturity>${equity}`),
      trade("X", "FxOption", option("", "Put") + fx),
      trade("W", "FxForward", `<ValueDate>2027-11-22</ValueDate>${fx}`),
      trade(
        "Q",
        "FxSwap",
        `<NearDate>2026-12-20</NearDate>${fx.replaceAll("<B", "<NearB").replaceAll("<S", "<NearS").replaceAll("</B", "</NearB").replaceAll("</S", "</NearS")}` +
          "<FarDate>2027-12-20</FarDate><FarBoughtAmount>1120</FarBoughtAmount><FarSoldAmount>1000</FarSoldAmount>",
      ),
      trade("C", "CreditDefaultSwap", cds("2031-12-20")),
    );
    // No currency gets lost: a book has that of an equity in the market.
    expect([status, left]).toEqual([1, ["E", "S", "B", "D", "F"].map((id) => [id, currencyOf("EUR")])]);
    const tags = { counterparty: "Bank & Co" };
    const vanilla = { underlying: "ACME", strike: 90, expiry: "2027-11-20", tags };
    const european = { exercise: "european", payoff: "call", quantity: 5, ...vanilla };
    const pair = { pair: "EURUSD", amount: 1000, rate: 1.1 };
    expect(trades).toEqual([
      { id: "E", ...european },
      { id: "S", ...vanilla, payoff: "put", exercise: ["2027-03-01"], quantity: -5 },
      { id: "B", ...european, barriers: [{ type: "down-and-in", level: 80 }] },
      {
        id: "D",
        ...european,
        barriers: [
          { type: "down-and-out", level: 80 },
          { type: "up-and-out", level: 120 },
        ],
      },
      { id: "F", underlying: "ACME", forward: 90, expiry: "2027-11-20", quantity: -5, tags },
      {
        id: "X",
        underlying: "EURUSD",
        payoff: "put",
        strike: 1.1,
        quantity: 1000,
        expiry: "2027-11-20",
        exercise: "european",
        payment: "2027-11-20",
        tags,
      },
      { id: "W", fxForward: { ...pair, delivery: "2027-11-22" }, tags },
      { id: "Q/near", fxForward: { ...pair, delivery: "2026-12-20" }, tags },
      { id: "Q/far", fxForward: { pair: "EURUSD", amount: -1000, rate: 1.12, delivery: "2027-12-20" }, tags },
      {
        id: "C",
        cds: {
          curve: "ACME-CDS",
          currency: "EUR",
          side: "buy",
          start: "2026-11-20",
          end: "2031-12-20",
          notional: 1e6,
          coupon: 0.01,
        },
        tags,
      },
    ]);
    // All of them are trades of a book, and what is paid is worth what the formulas say.
    const book = readBook({
      asOf: "2026-11-20",
      market: {
        curves: { "ACME-CDS": { currency: "EUR", recovery: 0.4, zeros: [{ date: "5Y", zero: 0.02 }] } },
        rates: { EUR: 0, USD: 0 },
        fx: { EURUSD: { rate: 1.2, date: "2026-11-20" } },
        underlyings: {
          ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
          EURUSD: { fx: "EURUSD", volatility: 0.1 },
        },
      },
      trades,
    });
    using device = await openDevice({ backend: "cpu" });
    const { results, failed } = await priceBook(book, { device, greeks: "none" });
    expect(failed).toBe(0);
    const total = (id: string): number => {
      const at = results.findIndex((result) => result.id === id);
      return results[at].value! * ((trades[at]["quantity"] as number | undefined) ?? 1);
    };
    expect(total("W")).toBeCloseTo(1000 * (1.2 - 1.1), 9);
    expect(total("Q/near") + total("Q/far")).toBeCloseTo(-1100 + 1120, 9);
    expect(total("F")).toBeCloseTo(-5 * (100 - 90), 9);
    const d1 = Math.log(1.2 / 1.1) / 0.1 + 0.05;
    expect(total("X")).toBeCloseTo(1000 * (1.1 * normalCdf(-(d1 - 0.1)) - 1.2 * normalCdf(-d1)), 6);
    expect(total("E")).toBeGreaterThan(50);
    expect(total("S")).toBeLessThan(0);
    expect(total("B")).toBeLessThan(total("E"));
  });

  test("everything else is left out, trade by trade, for a reason", async () => {
    const rebate = barrier("UpAndOut", [120], "<Rebate>3</Rebate>");
    const { status, trades, left } = await imported(
      trade("P", "EquityOption", option(premium) + equity),
      trade("U", "EquityOption", option() + equity.replace("EUR", "USD")),
      trade("V", "VarianceSwap", ""),
      trade("R", "EquityBarrierOption", option() + rebate + equity),
      trade("L", "EquityBarrierOption", option() + barrier("UpAndOut", [80, 120]) + equity),
      trade("A", "FxOption", option("", "Call", "American") + fx),
      trade("N", "EquityOption", equity),
      trade("M", "EquityOption", option() + equity.replace("90", "x")),
      trade("K", "EquityOption", `${option()}${equity}<StrikeCurrency>USD</StrikeCurrency>`),
      trade("C", "CreditDefaultSwap", cds("2031-12-01")),
      trade(
        "W",
        "FxForward",
        `<ValueDate>2027-11-22</ValueDate>${fx}<SettlementData><Date>2027-11-24</Date></SettlementData>`,
      ),
    );
    expect([status, trades.map(({ id }) => id)]).toEqual([1, ["P", "U"]]);
    expect(left).toEqual([
      ["P", "the premium of 10 EUR on 2027-01-04 is not imported"],
      ["P", currencyOf("EUR")],
      ["U", currencyOf("USD")],
      ["V", "trades of the kind VarianceSwap are not imported"],
      ["R", "BarrierData: a rebate"],
      ["L", "BarrierData: 2 levels of UpAndOut"],
      ["A", "early exercise of an option on a currency pair"],
      ["N", "<EquityOptionData> has no <OptionData>"],
      ["M", "<Strike>: expected a number, got x"],
      ["K", "the strike is in USD, and the option in EUR"],
      ["C", "EndDate is not that of a standard credit default swap"],
      ["W", "SettlementData: a day of payment of its own"],
    ]);
  });

  test("a file that is no portfolio is an error", async () => {
    const failureOf = (text: string) => feynkac(["import", "-"], { stdin: text });
    expect(await failureOf("<Portfolio><Trade>")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("not XML"),
    });
    expect(await failureOf("<Book/>")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("expected <Portfolio>"),
    });
  });
});
