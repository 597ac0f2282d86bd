import { type MarketCalibration, parseJson, readHeader } from "../../book/index.ts";
import { runBlockingNext } from "../../base/event-loop.ts";
import { calibrationCharts, sheetSvg } from "../../output/charts/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { calibrationTables } from "../format/calibration.ts";
import { openOutput } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { inFile, readText } from "../whole-file.ts";

/** The options of the command `feynkac calibrate`. */
export interface CalibrateOptions {
  /** The path to which the fitted market is written, in the form that a book can contain. */
  readonly output: string | undefined;
  readonly format: "table" | "json";
  /** The path of an SVG file with the quotes and the fits. */
  readonly picture: string | undefined;
}

/**
 * Runs `feynkac calibrate`, which fits curves and volatilities to the quotes of a market. @returns the exit status, 1
 * if a fit failed @throws CliError | BookError input that cannot be used
 */
export async function calibrate(path: string, options: CalibrateOptions, terminal: Terminal): Promise<number> {
  const text = await readText(path, terminal);
  const read = (): readonly [unknown, MarketCalibration] => {
    const given = parseJson(text);
    return [given, readHeader(given).market.calibration];
  };
  const [book, calibration] = await inFile(path, () => runBlockingNext(read));
  const { underlyings, rates } = calibration;
  const names = [...Object.keys(underlyings), ...Object.keys(rates)];
  if (names.length === 0)
    throw new CliError(
      `${path === "-" ? "standard input" : path}: ` +
        'there are no quotes to fit: give market.rates "instruments", ' +
        'or the volatility of an underlying "quotes" and a "fit"',
    );
  if (options.output !== undefined)
    await write(options.output, `${JSON.stringify(fittedBook(book, calibration), undefined, 2)}\n`, terminal);
  if (options.picture !== undefined) await write(options.picture, pictureOf(calibration), terminal);
  const shown =
    options.format === "json" ? `${JSON.stringify(calibration, undefined, 2)}\n` : calibrationTables(calibration);
  if (options.output !== "-" && options.picture !== "-") terminal.stdout.write(shown);
  for (const [name, { warnings }] of Object.entries(underlyings))
    for (const warning of warnings) terminal.stderr.write(`feynkac: ${name}: ${warning}\n`);
  const doubts = doubtsOf(calibration);
  for (const doubt of doubts) terminal.stderr.write(`feynkac: ${doubt}\n`);
  const all = [...Object.values(underlyings), ...Object.values(rates)];
  return all.every(({ status }) => status === "converged") ? EXIT_STATUS.ok : EXIT_STATUS.failedTrades;
}

async function write(path: string, text: string, { stdout }: Terminal): Promise<void> {
  const output = await openOutput(path, stdout);
  try {
    await output.write(text);
    await output.commit();
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** What is doubtful about the fits, as far as the warnings do not say it. */
function doubtsOf({ underlyings, rates }: MarketCalibration): string[] {
  const all = [...Object.entries(underlyings), ...Object.entries(rates)];
  return all.flatMap(([name, { doubts, ...fit }]) =>
    doubts.filter((doubt) => !("warnings" in fit && fit.warnings.includes(doubt))).map((doubt) => `${name}: ${doubt}`),
  );
}

type Plain = Readonly<Record<string, unknown>>;

/** The book with fitted curves and volatilities in place of the quotes that they were fitted to. */
export function fittedBook(book: unknown, { rates, underlyings }: MarketCalibration): Plain {
  const { market, ...rest } = book as { readonly market: Plain };
  const written = market as { readonly rates: Plain; readonly underlyings?: Readonly<Record<string, Plain>> };
  const curves = Object.entries(written.rates).map(([currency, rate]) => {
    const fit = rates[currency];
    if (fit === undefined) return [currency, rate] as const;
    if (fit.model === "hull-white") {
      const { curve: quoted } = (rate as { readonly hullWhite: { readonly curve: unknown } }).hullWhite;
      return [currency, { hullWhite: { ...fit.parameters, curve: quoted } }] as const;
    }
    const curve = fit.curve.map(({ date, zero }) => ({ date, zero }));
    // The quotes stand alone, or are the curve of a model of the short rate.
    const [[model, parameters]] = Object.entries(rate as Readonly<Record<string, Plain>>);
    const isAlone = Object.hasOwn(rate as Plain, "instruments");
    return [currency, isAlone ? curve : { [model]: { ...parameters, curve } }] as const;
  });
  const fitted = Object.entries(written.underlyings ?? {}).map(([name, underlying]) => {
    const { volatility, parity } = underlyings[name] ?? {};
    if (volatility === undefined || volatility === null) return [name, underlying] as const;
    const dividends =
      parity === undefined ? {} : { dividends: { ...(underlying.dividends as Plain), yield: parity.yield } };
    return [name, { ...underlying, ...dividends, volatility }] as const;
  });
  const { doubts = {} } = market as { readonly doubts?: { readonly rates?: Plain; readonly underlyings?: Plain } };
  const all = {
    rates: { ...doubts.rates, ...doubtsByName(rates) },
    underlyings: { ...doubts.underlyings, ...doubtsByName(underlyings) },
  };
  const hasDoubts = Object.values(all).some((named) => Object.keys(named).length > 0);
  return {
    ...rest,
    market: {
      ...market,
      rates: Object.fromEntries(curves),
      underlyings: Object.fromEntries(fitted),
      ...(hasDoubts ? { doubts: all } : {}),
    },
  };
}

/** The doubts about fits, which results from the written market repeat. */
const doubtsByName = (fits: Readonly<Record<string, { readonly doubts: readonly string[] }>>): Plain =>
  Object.fromEntries(Object.entries(fits).flatMap(([name, { doubts }]) => (doubts.length > 0 ? [[name, doubts]] : [])));

function pictureOf(calibration: MarketCalibration): string {
  const charts = calibrationCharts(calibration);
  const rows = charts.map((chart) => [chart]);
  return sheetSvg({ title: "Quotes and fits", subtitle: "", rows }, { width: 720, height: 400 });
}
