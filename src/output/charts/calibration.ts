import type { MarketCalibration } from "../../book/index.ts";
import type { PlotChart } from "./types.ts";

/**
 * Returns charts of a calibration. For each underlying there is one with quotes as dots and fits as lines by expiry,
 * and for each curve one of its zero rates.
 */
export function calibrationCharts({ underlyings, rates }: MarketCalibration): PlotChart[] {
  const smiles = Object.entries(underlyings).map(([name, { quotes, model }]): PlotChart => {
    const expiries = [...new Set(quotes.map(({ expiry }) => expiry))];
    const series = expiries.flatMap((expiry, colour) => {
      const own = quotes.filter((quote) => quote.expiry === expiry).sort((a, b) => a.strike - b.strike);
      const points = (of: "implied" | "fitted") =>
        own.map((quote) => [quote.strike, 100 * (quote[of] ?? Number.NaN)] as const);
      const dots = { label: String(expiry), points: points("implied"), style: "dots", colour } as const;
      return model === "none" ? [dots] : [dots, { label: `${expiry}, fit`, points: points("fitted"), colour }];
    });
    const what = model === "none" ? "quotes" : `quotes as dots, with their fit by ${model}`;
    const y = { label: "implied volatility, %" };
    return { kind: "plot", title: `${name}: ${what}`, x: { label: "strike" }, y, series };
  });
  const curves = Object.entries(rates).map(([name, { model, curve }]): PlotChart => ({
    kind: "plot",
    title: `${name}: ${model}`,
    x: { label: "years" },
    y: { label: "zero rate, %" },
    series: [{ label: "zero rate", points: curve.map(({ time, zero }) => [time, 100 * zero]) }],
  }));
  return [...smiles, ...curves];
}
