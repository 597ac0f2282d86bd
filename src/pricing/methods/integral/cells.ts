/** The cells of American options: columns of puts, and families of them that are refined together. */
import { type IntegralEngine, PUT_INPUTS, type PutFamily, PutValues } from "../../../quadrature/integral/index.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import type { CellMoves, TradeCells } from "../../plan/cells.ts";
import { type Batch, TARGET_ERRORS } from "../../plan/method.ts";
import { constantMarket, type ConstantMarket, longestFor, ROUNDING, type TradePuts } from "./integral.ts";

/** Cells that tell how fine a scheme a trade needs: so many by each of the moves. */
const SAMPLES = 8;

/**
 * Prices the cells of trades. The cells of a trade have one scheme, which some of them find, at the ends and between
 * them by each move. A cell whose error stays too large has no value. @throws the signal's reason; the error of a lost
 * device
 */
export async function priceCells(
  { columns, settings }: Batch,
  all: readonly TradeCells[],
  engine: IntegralEngine,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { accuracy = TARGET_ERRORS.integral } = settings;
  const puts = putsOf(columns, all);
  const found = new PutValues(puts.unit.length);
  const errorOf = (put: number): number => puts.unit[put] * (found.estimate[put] + ROUNDING);
  // Half of what is allowed, as for trades.
  const isEnough = (put: number): boolean => 2 * errorOf(put) <= accuracy * puts.spot[put];
  await engine.solveFamilies(puts, familiesOf(puts, all), found, isEnough, signal);
  let put = 0;
  for (const { moves, values, errors } of all)
    for (let k = 0; k < moves.count; k++, put++) {
      errors[k] = errorOf(put);
      values[k] = Number.isFinite(errors[k]) ? puts.unit[put] * found.all[5 * put] : Number.NaN;
    }
}

/** Puts of cells, with the spots of the trades in them. */
interface CellPuts extends TradePuts {
  readonly spot: Float64Array;
}

/**
 * Returns the cells of trades as puts with strike 1 (`putsOf`). Trades in equal markets share the boundaries of their
 * cells. A cell without volatility has boundary −1.
 */
function putsOf(columns: TradeColumns, all: readonly TradeCells[]): CellPuts {
  const count = all.reduce((sum, { moves }) => sum + moves.count, 0);
  const column = (): Float64Array => new Float64Array(count);
  const [unit, logSpot, expiry, spot] = [column(), column(), column(), column()];
  const boundary = new Int32Array(count);
  const inputs = new Float64Array(PUT_INPUTS * count);
  const shared = new Map<CellMoves, Map<string, Int32Array>>();
  let [put, made] = [0, 0];
  for (const { trade, moves } of all) {
    const row = columns.rowOf(trade);
    const strike = columns.strike[trade];
    const isCall = columns.sign[trade] > 0;
    const market = constantMarket(columns, trade, row) as ConstantMarket;
    const longest = longestFor(columns.expiry[row]);
    const key = [market.rate, market.dividendYield, market.sigma, longest, isCall].join();
    if (!shared.has(moves)) shared.set(moves, new Map());
    let own = shared.get(moves)!.get(key);
    if (own === undefined) {
      shared.get(moves)!.set(key, (own = new Int32Array(moves.count).fill(-1)));
      for (let k = 0; k < moves.count; k++) {
        const sigma = market.sigma + moves.volatility[k];
        if (!(sigma > 0 && moves.spot[k] > 0)) continue;
        const at = PUT_INPUTS * made;
        inputs[at + (isCall ? 1 : 0)] = market.rate + moves.rate[k];
        inputs[at + (isCall ? 0 : 1)] = market.dividendYield + moves.dividend[k];
        inputs[at + 2] = sigma;
        inputs[at + 3] = longest;
        inputs[at + 4] = isCall ? -1 : 1;
        own[k] = made++;
      }
    }
    boundary.set(own, put);
    expiry.fill(columns.expiry[row], put, put + moves.count);
    for (let k = 0; k < moves.count; k++, put++) {
      spot[put] = columns.spot[trade] * moves.spot[k];
      unit[put] = isCall ? spot[put] : strike;
      logSpot[put] = isCall ? Math.log(strike / spot[put]) : Math.log(spot[put] / strike);
    }
  }
  return { unit, logSpot, expiry, boundary, boundaries: inputs.subarray(0, PUT_INPUTS * made), spot };
}

/** Returns the puts of each trade as a family. */
function familiesOf({ boundary }: CellPuts, all: readonly TradeCells[]): readonly PutFamily[] {
  let first = 0;
  return all.map(({ moves }) => {
    const from = first;
    first += moves.count;
    const isSample = samplesOf(moves);
    const open = Array.from({ length: moves.count }, (_, k) => k).filter((k) => boundary[from + k] >= 0);
    return {
      samples: Int32Array.from(
        open.filter((k) => isSample[k] === 1),
        (k) => from + k,
      ),
      others: Int32Array.from(
        open.filter((k) => isSample[k] === 0),
        (k) => from + k,
      ),
    };
  });
}

/** The samples among cells (1), by their moves, which trades share. */
const known = new WeakMap<CellMoves, Uint8Array>();

/** Returns which cells are samples: those with quantiles of each move, whatever their order. */
function samplesOf(moves: CellMoves): Uint8Array {
  let isSample = known.get(moves);
  if (isSample === undefined) {
    isSample = new Uint8Array(moves.count);
    known.set(moves, isSample);
    for (const column of [moves.spot, moves.volatility, moves.rate, moves.dividend]) {
      const sorted = Array.from(column.keys()).toSorted(
        (a, b) => column[a] - column[b] || moves.spot[a] - moves.spot[b],
      );
      const last = sorted.length - 1;
      if (last < 0 || column[sorted[0]] === column[sorted[last]]) continue;
      for (let n = 0; n < SAMPLES; n++) isSample[sorted[Math.round((n * last) / (SAMPLES - 1))]] = 1;
    }
    if (!isSample.includes(1)) isSample.fill(1);
  }
  return isSample;
}
