/** Alternating directions for trades in many markets that differ in coefficients alone. */
import type { Device } from "../../../device/index.ts";
import type { Opens } from "../../backend.ts";
import { payoffOf } from "../../equations/equation.ts";
import type { EquationEstimator } from "../../equations/estimator.ts";
import type { GridEstimate } from "../../equations/solver.ts";
import { type Lift, liftOf, type NodeSolver, OF_CHANGE, type TradeAtNodes } from "../../plan/at-nodes.ts";
import { type Batch, TimeBudget } from "../../plan/method.ts";
import { newRequest, type Request, type RequestSettings, targetOf } from "../../plan/request.ts";
import { isExercisable, termsOf } from "../../terms.ts";

type GridRequest = Request<GridEstimate>;
type Estimating = Pick<EquationEstimator<unknown>, "accuracy" | "accuracyOfF32" | "estimate" | "finerLevel">;

/** The part of the target error that may be missed where a coarse solution with a lift stands for a fine one. */
const OF_TARGET = 0.5;

/** What prices trades at nodes on one device. */
class AdiAtNodes implements NodeSolver {
  readonly #device: Device;

  constructor(device: Device) {
    this.#device = device;
  }

  /**
   * Prices trades whose method is alternating directions at their nodes. The first nodes of a trade are refined
   * together, until the worst of them is as exact as was asked for. Their last solutions but one tell what a coarse
   * solution is off by. Where that changes little from market to market, coarse solutions are enough at all other
   * nodes.
   *
   * @returns the trades that are to be priced node by node as trades of their own
   * @throws the signal's reason; the error of a lost device
   */
  async price<T extends TradeAtNodes>(
    batch: Batch,
    trades: readonly T[],
    signal: AbortSignal | undefined,
  ): Promise<readonly T[]> {
    if (trades.length === 0) return [];
    const [{ solver }, { EquationEstimator: Estimator }] = await Promise.all([
      import("./solver.ts"),
      import("../../equations/estimator.ts"),
    ]);
    const { settings, precision } = batch;
    const estimator: Estimating = new Estimator(solver, batch, this.#device);
    const asked = settings.accuracy ?? estimator.accuracy;
    const accuracy = precision === "f32" ? Math.max(asked, estimator.accuracyOfF32) : asked;
    const common = { accuracy, precision, seed: settings.seed, budget: new TimeBudget(undefined), signal };
    const left: T[] = [];
    let going: readonly Going<T>[] = trades.map((at) => new Going(at, batch));
    while (going.length > 0) {
      await estimator.estimate(
        going.flatMap(({ requests }) => requests),
        common,
      );
      const next: Going<T>[] = [];
      for (const one of going) {
        const state = one.advance(estimator, common);
        if (state === "left") left.push(one.at);
        else if (state === "going") next.push(one);
      }
      going = next;
    }
    return left;
  }

  [Symbol.dispose](): void {}
}

/** The solver of trades at nodes, which an engine opens (`SessionOf`). */
export const adiAtNodes = { open: (device) => new AdiAtNodes(device) } as const satisfies Opens<NodeSolver>;

/** A trade on its way: its first nodes on finer and finer levels, then the others. */
class Going<T extends TradeAtNodes> {
  readonly at: T;
  /** The requests that are to be answered next, at the nodes that are wanted. */
  requests: readonly GridRequest[];
  readonly #batch: Batch;
  readonly #spots: GridRequest["spots"];
  #nodes: readonly number[];
  /** An answer on the last level, once it is found, and the error estimate of all values. */
  #answer: GridEstimate | undefined;
  #error = 0;
  /** What coarse values are off by; undefined where all nodes are solved on the last level. */
  #lift: Lift | undefined;

  constructor(at: T, batch: Batch) {
    this.at = at;
    this.#batch = batch;
    const { columns } = batch;
    this.#spots = Array.from({ length: columns.cases.spots }, (_, k) => [columns.spotAt(at.trade, k + 1)]);
    this.#nodes = at.wanted();
    this.requests = this.#nodes.map((node) => this.#requestAt(node, 0));
  }

  /** Goes on from answered requests to those of the next nodes, or of a finer level. */
  advance(estimator: Estimating, settings: RequestSettings): "going" | "done" | "left" {
    const { requests } = this;
    if (requests.some(({ failure }) => failure !== undefined)) return "left";
    if (this.#answer === undefined) {
      const level = this.#finerLevel(estimator, settings.accuracy);
      if (level === undefined) return "left";
      if (level > requests[0].level) {
        for (const request of requests) request.level = level;
        return "going";
      }
      this.#found(settings.accuracy);
      this.#nodes.forEach((node, k) => this.at.take(node, Float64Array.from(valuesOf(requests[k])), this.#error));
    } else
      this.#nodes.forEach((node, k) => {
        const lift = this.#lift?.at(this.at.placeOf(node));
        const values = Float64Array.from(valuesOf(requests[k]), (value, s) => value + (lift?.[s] ?? 0));
        this.at.take(node, values, this.#error);
      });
    this.#nodes = this.at.wanted();
    const level = this.#lift === undefined ? this.#answer!.level : this.#answer!.coarser!.level;
    this.requests = this.#nodes.map((node) => this.#requestAt(node, level));
    return this.#nodes.length > 0 ? "going" : "done";
  }

  /** The level that the first nodes need; undefined where that is none, or values are known without a solution. */
  #finerLevel(estimator: Estimating, accuracy: number): number | undefined {
    const { requests } = this;
    let level = requests[0].level;
    for (const request of requests) {
      const { errors, known } = request.estimate!;
      if (known.some((one) => one !== undefined)) return undefined;
      const ratio = Math.max(...errors) / targetOf(request.terms, accuracy);
      if (ratio <= 1) continue;
      const finer = estimator.finerLevel(request, ratio);
      if (!(finer > request.level)) return undefined;
      level = Math.max(level, finer);
    }
    return level;
  }

  /** Takes the last level for found: keeps its errors, and what a coarse solution is off by. */
  #found(accuracy: number): void {
    const { requests } = this;
    this.#answer = requests[0].estimate!;
    this.#error = Math.max(...requests.flatMap(({ estimate }) => estimate!.errors));
    const off = requests.map((request) => offOf(request));
    if (off.includes(undefined)) return;
    const lift = liftOf(off as Float64Array[]);
    const missed = OF_CHANGE * lift.change;
    if (!(missed <= OF_TARGET * targetOf(requests[0].terms, accuracy))) return;
    this.#error += missed;
    this.#lift = lift;
  }

  #requestAt(node: number, level: number): GridRequest {
    const { trade } = this.at;
    const own = { ...this.#batch.columns.tradeOf(trade), ...this.at.assetAt(node) };
    const terms = termsOf(own, 0, { volatility: 0, rate: 0 })!;
    const request = newRequest<GridEstimate>({ trade, terms, spots: this.#spots, original: undefined, level });
    // A request with an answer is not solved on a coarser level as well.
    request.estimate = this.#answer;
    return request;
  }
}

const valuesOf = ({ estimate }: GridRequest): readonly number[] => estimate!.values;

/** What the coarse values of an answer are off by, [spot]; undefined without any. */
function offOf({ terms, spots, estimate }: GridRequest): Float64Array | undefined {
  const { values, coarser, level } = estimate!;
  if (coarser === undefined || coarser.level >= level) return undefined;
  const paid = isExercisable(terms) ? payoffOf(terms) : () => Number.NEGATIVE_INFINITY;
  return Float64Array.from(values, (value, k) => value - Math.max(coarser.solved[k], paid(spots[k])));
}
