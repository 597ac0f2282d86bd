/** The pricing methods of convertible bonds: closed forms and finite differences. */
import { sensitivityOf } from "../../../base/differences.ts";
import type { ConvertibleTrade } from "../../../book/index.ts";
import { type Device, openDevice } from "../../../device/index.ts";
import {
  accruedInterest,
  closedFormValue,
  type ConvertiblePoint,
  covers,
  errorOfMoves,
  type RefinementLimit,
  solveConvertibles,
  DOMAIN_TRUNCATION_ERROR,
} from "../../../pde/convertible/index.ts";
import { type ResultColumns, STATUS, WARNING } from "../../columns/result-columns.ts";
import { type Batch, type MethodPlan, type MethodSession, type PricingMethod, readEach } from "../../plan/method.ts";
import {
  accuracyOf,
  bounded,
  type Bump,
  closedFormPoint,
  convertibleOf,
  convertibleRowsOf,
  type SensitivityEstimate,
  marketOf,
  rollForward,
  type Row,
  thetaAt,
} from "./rows.ts";

/** The expected times of a bond with its sensitivities in microseconds of one core. */
const COST = { "closed-form": 20, fdm: 5000 } as const;

/** The method of closed forms, for bonds without early rights of holder or issuer, in Black and Scholes' model. */
export const closedFormConvertibles: PricingMethod = {
  name: "closed-form",
  minCost: COST["closed-form"],
  accepts(batch, trade) {
    const { cases, bumps } = convertibleRowsOf(batch)(trade);
    // Asked for by name, it prices all rows.
    const rows = batch.settings.method === "auto" ? cases.slice(0, 1) : [...cases, ...bumps.copies];
    const isClosed = rows.every((row) => row?.isClosed !== false);
    return isClosed ? COST["closed-form"] : "rights to end early, or other terms without one";
  },
  open: (device) => sessionOf("closed-form", device),
};

/**
 * The method of finite differences of two coupled equations, for all convertible bonds. Rows that have a closed form
 * are priced by it.
 */
export const finiteConvertibles: PricingMethod = {
  name: "fdm",
  minCost: COST.fdm,
  accepts: () => COST.fdm,
  open: (device) => sessionOf("fdm", device),
};

function sessionOf(name: keyof typeof COST, device: Device): MethodSession {
  const cpu = new CpuBeside(device);
  return {
    plan: (batch, trades) => Promise.resolve(planOf(name, cpu, batch, trades)),
    finish(batch, trades, results) {
      for (const trade of trades) addFigures(batch, trade, results);
      return Promise.resolve();
    },
    [Symbol.dispose]: () => cpu[Symbol.dispose](),
  };
}

type Points = ReadonlyMap<Row, readonly ConvertiblePoint[]>;

function planOf(name: keyof typeof COST, cpu: CpuBeside, batch: Batch, trades: readonly number[]): MethodPlan {
  let points: Points = new Map();
  return {
    async run(signal) {
      const rows = trades.flatMap((trade) => {
        const { cases, bumps } = convertibleRowsOf(batch)(trade);
        return [...cases.filter((row) => row !== undefined), ...bumps.copies];
      });
      points = await solve(rows, cpu, batch, signal);
    },
    read: (results, signal) =>
      readEach(trades, results, signal, (trade) => {
        readToday(batch, trade, points, results);
        if (batch.columns.cases.scenarios !== undefined) readScenarios(batch, trade, points, results);
        results.priced(trade, name);
      }),
    [Symbol.dispose]() {},
  };
}

async function solve(
  rows: readonly Row[],
  cpu: CpuBeside,
  { budget }: Batch,
  signal: AbortSignal | undefined,
): Promise<Points> {
  const points = new Map<Row, readonly ConvertiblePoint[]>();
  const open = rows.filter((row) => !row.isClosed);
  const indicesOf = (numbers: readonly number[]): number[] => [...new Set(numbers.map((i) => open[i].index))];
  const refinement: RefinementLimit = {
    spend: (numbers, work) => budget.spend(indicesOf(numbers), work),
    allows: (i, times) => budget.allowsTimes(open[i].index, times),
  };
  const solved = open.length === 0 ? [] : await solveConvertibles(await cpu.device, open, signal, refinement);
  open.forEach((row, i) => points.set(row, solved[i]));
  for (const row of rows)
    if (row.isClosed)
      points.set(
        row,
        row.spots.map((spot) => closedFormPoint(row.contract, row.market, spot)),
      );
  return points;
}

function readToday(batch: Batch, trade: number, points: Points, results: ResultColumns): void {
  const { underlying, convertible } = convertibleOf(batch, trade);
  const rows = convertibleRowsOf(batch)(trade);
  const { cases, bumps } = rows;
  const today = cases[0]!;
  const first = bounded(convertible, underlying.spot, points.get(today)![0]);
  rows.today = first;
  const solved = [today, ...bumps.copies].map((row) => points.get(row)![0]);
  const slope = (name: Bump): SensitivityEstimate => {
    const measure = bumps.formulas.find((one) => one.name === name);
    if (measure === undefined) return UNKNOWN;
    const slopeOf = (of: (point: ConvertiblePoint) => number): number => sensitivityOf(measure, solved.map(of));
    const moved = errorOfMoves([slopeOf(({ moves }) => moves[0]), slopeOf(({ moves }) => moves[1])]);
    // Twice that of other figures: two solutions part where a boundary crosses a node in one of them.
    const error = 2 * moved + (today.isClosed ? 0 : DOMAIN_TRUNCATION_ERROR * convertible.notional);
    return { value: slopeOf(({ value }) => value), error };
  };
  const [vega, rho, credit] = [slope("volatility"), slope("rate"), slope("credit")];
  results.setToday(
    trade,
    first.value,
    first.errorEstimate,
    { delta: first.delta, gamma: first.gamma, vega: vega.value, rho: rho.value },
    { delta: first.errors.delta, gamma: first.errors.gamma, vega: vega.error, rho: rho.error },
  );
  if (
    !today.isClosed &&
    first.errorEstimate > accuracyOf(batch, trade) * (1 + 1e-9) &&
    !batch.budget.allowsTimes(trade, 1)
  )
    results.warnings[trade] |= WARNING.outOfTime;
  results.own.set(trade, {
    figures: { creditSensitivity: finiteOrNull(credit.value) },
    figureErrors: { creditSensitivity: finiteOrNull(credit.error) },
    notes: [],
    // Whatever device was asked for: see `CpuBeside`.
    computed: { precision: "f64", backend: "cpu" },
  });
}

function readScenarios(batch: Batch, trade: number, points: Points, results: ResultColumns): void {
  convertibleRowsOf(batch)(trade).cases.forEach((row, k) => {
    if (row === undefined) return;
    const skipped = k === 0 ? 1 : 0; // today's spot
    const solved = points
      .get(row)!
      .map((point, s) => bounded(row.contract, row.spots[s], point))
      .slice(skipped);
    results.setScenarios(
      batch.columns.rowOf(trade) + k,
      (s) => solved[s].value,
      (s) => solved[s].errorEstimate,
    );
  });
}

/** Adds theta and the figures that follow from the value. */
function addFigures(batch: Batch, trade: number, results: ResultColumns): void {
  if (results.status[trade] !== STATUS.priced) return;
  const terms = convertibleOf(batch, trade);
  const { convertible, underlying } = terms;
  const { cases, today } = convertibleRowsOf(batch)(trade);
  const { market, isClosed } = cases[0]!;
  const point = { ...today!, value: results.value[trade], errorEstimate: results.errorEstimate[trade] };
  const theta = isClosed ? closedTheta(terms, point) : thetaAt(convertible, market, underlying.spot, point);
  results.theta[trade] = theta.value;
  results.sensitivityErrors.theta[trade] = theta.error;
  const own = results.own.get(trade)!;
  const accrued = accruedInterest(convertible.coupons, 0, true);
  const ratio = convertible.conversions.find((period) => covers(period, 0, 0))?.ratio;
  const whole = Math.max(0, ...convertible.conversions.map((one) => one.ratio));
  const straight = { ...convertible, conversions: [], calls: [], puts: [] };
  // A hazard rate that depends on the spot leaves the bond without rights no closed form.
  const hasFloor = market.credit.kind !== "hazard" || market.credit.exponent === 0;
  const figures = {
    clean: results.value[trade] - accrued,
    accrued,
    parity: (ratio ?? whole) * underlying.spot,
    ...(hasFloor ? { bondFloor: closedFormValue(straight, market, underlying.spot) } : {}),
    ...own.figures,
  };
  results.own.set(trade, { ...own, figures });
}

/** The years that a closed form is moved by for its theta. */
const THETA_STEP = 1e-4;

const UNKNOWN: SensitivityEstimate = { value: Number.NaN, error: Number.NaN };

/** ∂V/∂t of a closed form: the rates, dividends and volatilities keep their dates. */
function closedTheta(trade: ConvertibleTrade, { value, errorEstimate }: ConvertiblePoint): SensitivityEstimate {
  const next = rollForward(trade, THETA_STEP);
  const { coupons, maturity } = trade.convertible;
  if (next === undefined || coupons.some(({ time }) => time <= THETA_STEP)) return UNKNOWN;
  const later = closedFormPoint(next.convertible, marketOf(next, {}), trade.underlying.spot).value;
  // The difference is of first order: its error is of the size of its relative step.
  const theta = (later - value) / THETA_STEP;
  return { value: theta, error: (2 * errorEstimate) / THETA_STEP + (Math.abs(theta) * THETA_STEP) / maturity };
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

/**
 * The CPU device on which convertibles are solved, whatever the device of the run. The kernel of convertibles keeps a
 * whole solution in private memory, of which a GPU has too little for a work item, so that the CPU solves them whatever
 * device was asked for.
 */
export class CpuBeside implements Disposable {
  readonly #device: Device;
  #own: Promise<Device> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /** The run's own device where that is a CPU, else one that is opened when it is first wanted. */
  get device(): Promise<Device> {
    if (this.#device.backend === "cpu") return Promise.resolve(this.#device);
    return (this.#own ??= openDevice({ backend: "cpu" }));
  }

  [Symbol.dispose](): void {
    void this.#own?.then((device) => device[Symbol.dispose]());
  }
}
