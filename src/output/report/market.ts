/** The market in a report: spots, volatilities and rates, with the state of each fit to quotes. */
import type { Market } from "../../book/index.ts";
import {
  discountFactor,
  type FitState,
  impliedVolatility,
  type RatesModel,
  type Volatility,
} from "../../market/index.ts";
import { formatFixed } from "../formats/index.ts";
import { type Cell, note, numberCell, table, whole } from "./table.ts";

const MAX_ROWS = 100;

/** Returns the tables of a market. */
export function marketTables({ underlyings, rates, exchangeRates = new Map<string, number>() }: Market): string {
  const assets = [...underlyings.values()]
    .slice(0, MAX_ROWS)
    .map(({ name, spot, currency, volatility }): Cell[] => [
      name,
      numberCell(spot),
      currency,
      volatilityText(volatility),
      ...fitCells(volatility !== undefined && "fit" in volatility ? volatility.fit : undefined),
    ]);
  const pairs = [...exchangeRates].map(([name, spot]): Cell[] => [name, numberCell(spot), "", "", "", ""]);
  const curves = [...rates]
    .slice(0, MAX_ROWS)
    .map(([currency, model]): Cell[] => [
      currency,
      RATES[model.kind],
      ...ZERO_YEARS.map((years) => ({ number: zeroText(model, years) })),
      ...fitCells("curve" in model ? model.curve.fit : undefined),
    ]);
  const hidden = Math.max(underlyings.size - MAX_ROWS, 0);
  const zeros = ZERO_YEARS.map((years) => ({ number: `${years} ${years === 1 ? "year" : "years"}` }));
  return [
    assets.length + pairs.length === 0
      ? ""
      : table(["Underlying", { number: "Spot" }, "", "Volatility", "Fit", "Quoted"], [...assets, ...pairs]),
    hidden === 0 ? "" : note(`${whole(hidden)} more underlyings are not shown.`),
    curves.length === 0 ? "" : table(["Zero rates", "Model", ...zeros, "Fit", "Quoted"], curves),
  ].join("\n");
}

/** The terms at which zero rates are shown, in years. */
const ZERO_YEARS = [1, 5, 10];

/** The names of the models of rates. */
const RATES: Readonly<Record<RatesModel["kind"], string>> = {
  curve: "curve",
  hullWhite: "Hull and White",
  vasicek: "Vasicek",
  cir: "Cox, Ingersoll and Ross",
  g2: "G2++",
  blackKarasinski: "Black and Karasinski",
  bdt: "Black, Derman and Toy",
  shortRate: "formulas of the short rate",
};

/** The zero rate to a number of years, where the model has a curve. */
function zeroText(model: RatesModel, years: number): string {
  if (!("curve" in model)) return "–";
  return `${formatFixed((-100 * Math.log(discountFactor(model.curve, years))) / years, 3)} %`;
}

/** The names of the models of volatility that no number stands for. */
const VOLATILITIES: Readonly<Record<Exclude<Volatility["kind"], "deterministic">, string>> = {
  cev: "constant elasticity",
  displaced: "displaced diffusion",
  surface: "surface of local volatility",
  local: "formula of local volatility",
  heston: "Heston",
  sabr: "SABR",
  gaussianFactors: "Gaussian factors",
  stochasticLocal: "stochastic local volatility",
};

function volatilityText(volatility: Volatility | undefined): string {
  if (volatility === undefined) return "–";
  if (volatility.kind !== "deterministic") return VOLATILITIES[volatility.kind];
  const percent = (years: number): string => formatFixed(100 * impliedVolatility(volatility.sigma, years), 2);
  const isFlat = volatility.sigma.values.every((value) => value === volatility.sigma.values[0]);
  return isFlat ? `${percent(1)} %` : `${percent(0.25)} % to 3 months, ${percent(1)} % to a year`;
}

function fitCells(fit: FitState | undefined): Cell[] {
  if (fit === undefined) return ["", ""];
  const { doubts, notes = [], first, last } = fit;
  const state = doubts.length > 0 ? `doubtful: ${doubts.join("; ")}` : ["good", ...notes].join("; ");
  const day = (written: string): string => written.replace(/^quoted expiry, /, "");
  return [state, first && last ? `${day(first.written)} to ${day(last.written)}` : ""];
}
