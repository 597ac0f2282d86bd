/** Formats calibration results as tables and charts of text. */
import type { CheckReport, MarketCalibration, UnderlyingCalibration } from "../../book/index.ts";
import { alignColumns, escapeControls, type TextColumn, columnWidthsOf } from "./columns.ts";

const percent = (value: number | null, digits = 3): string => (value === null ? "" : (100 * value).toFixed(digits));

/**
 * Returns the results of a calibration as text: a table of underlyings and a table of curves, with volatilities, rates
 * and errors in per cent.
 */
export function calibrationTables({ underlyings, rates }: MarketCalibration): string {
  const fits = Object.entries(underlyings).map(([name, fit]) => [
    escapeControls(name),
    fit.model,
    fit.status,
    String(fit.quotes.length),
    percent(fit.rmse, 4),
    fit.worst === null ? "" : `${percent(fit.worst.error, 4)} at ${fit.worst.strike}, ${fit.worst.expiry}`,
    checkText(fit.butterfly),
    checkText(fit.calendar),
    fit.seconds.toFixed(3),
  ]);
  const curves = Object.entries(rates).map(([name, fit]) => [
    escapeControls(name),
    fit.model,
    fit.status,
    String(fit.quotes.length),
    percent(fit.rmse, 6),
  ]);
  const parts = [
    table(["underlying", "model", "status", "quotes", "rmse %", "worst %", "butterfly", "calendar", "s"], fits),
    table(["curve", "model", "status", "quotes", "rmse %"], curves),
    ...Object.entries(underlyings).map(([name, fit]) => (fit.model === "none" ? impliedTable(name, fit) : "")),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

const checkText = (check: CheckReport | null): string => {
  if (check === null) return "";
  if (check.free || check.at === null) return "free";
  return `${check.min?.toPrecision(3)} at ${check.at.strike.toPrecision(6)}, ${check.at.expiry}`;
};

function impliedTable(name: string, { quotes }: UnderlyingCalibration): string {
  const rows = quotes.map(({ expiry, strike, type = "", implied }) => [
    escapeControls(name),
    String(expiry),
    String(strike),
    type,
    percent(implied, 6),
  ]);
  return table(["underlying", "expiry", "strike", "type", "implied %"], rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const columns = titles.map((title, i): TextColumn => ({ title, align: i < 3 ? "left" : "right" }));
  return `${alignColumns(columns, [titles, ...rows], columnWidthsOf(columns, rows)).join("\n")}\n`;
}
