/** What becomes of structured products: the probability that each ends early, and the means of its states. */
import type { Device } from "../../../device/index.ts";
import type { ScriptedTrade, StateOutlook } from "../../../book/index.ts";
import { ALIVE, type Program } from "../../../market/scripts/index.ts";
import { intervalWidth, monteCarlo } from "../../../montecarlo/index.ts";
import { type ResultColumns, STATUS } from "../../columns/result-columns.ts";
import type { Batch } from "../../plan/method.ts";
import { grouped, newRequest } from "../../plan/request.ts";
import { assetsOf, termsOf } from "../../terms.ts";
import { errorAtLevel, UNSEEN } from "../montecarlo/error.ts";
import { jobOf, keyOfJob } from "../montecarlo/job.ts";
import { pathsOf } from "../montecarlo/measures.ts";
import { streamOf } from "../montecarlo/montecarlo.ts";
import { carriedFromToday, knownOfScript, scriptProduct } from "../montecarlo/script-product.ts";
import type { PathEstimate } from "../montecarlo/without-paths.ts";

/** Sobol' points in so many scramblings: probabilities to about half a percent. */
const POINTS = { sampling: "sobol", scramblings: 16, paths: 2 ** 13 } as const;

/** The name under which the end by `stop()` stands beside the states; no state can have it. */
const STOPPED = "stop()";

/** A carried number whose mean is told, and what it is told as. */
interface Carried {
  readonly name: string;
  readonly at: number;
  readonly told: (carried: number) => number;
}

/** Returns the numbers of a program that are told: whether it has stopped, and states of one number. */
function carriedOf({ states, stops }: Program): readonly Carried[] {
  const named = states
    .filter(({ isEach }) => !isEach)
    .map(({ name, at }): Carried => ({ name, at, told: (carried) => carried }));
  return stops ? [{ name: STOPPED, at: ALIVE, told: (alive) => 1 - alive }, ...named] : named;
}

/**
 * Adds to the results of structured products the states of today, and what is expected of them at the end, by a short
 * simulation. Products with early rights are left out: their ends depend on a rule. @throws the signal's reason
 */
export async function addOutlook(
  device: Device,
  { columns, settings, precision }: Batch,
  trades: readonly number[],
  results: ResultColumns,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (settings.greeks === "none") return;
  const jobs = trades.flatMap((trade) => {
    const given = columns.givenOf(trade) as ScriptedTrade;
    const { program } = given.payoff;
    const terms = termsOf(given, 0, { volatility: 0, rate: 0 });
    if (results.status[trade] !== STATUS.priced || program.rightAt !== undefined || terms === undefined) return [];
    const spots = assetsOf(given).map(({ underlying }) => underlying.spot);
    const now = carriedFromToday(terms, spots);
    const isOver = knownOfScript(terms, spots) !== undefined;
    const states = carriedOf(program).map(({ name, at, told }): [string, StateOutlook] => [
      name,
      { now: told(now[at]), expected: told(now[at]), errorEstimate: isOver ? 0 : null },
    ]);
    if (states.length === 0) return [];
    results.own.set(trade, { figures: { states: Object.fromEntries(states) }, figureErrors: {}, notes: [] });
    const request = newRequest<PathEstimate>({ trade, terms, spots: [spots], original: undefined, level: 0 });
    return isOver ? [] : [jobOf(request, streamOf(given), 0)];
  });
  for (const group of grouped(jobs, keyOfJob)) {
    const [{ path, substeps }] = group;
    const { program } = (columns.givenOf(group[0].request.trade) as ScriptedTrade).payoff;
    const carried = carriedOf(program);
    const paths = group.flatMap((job) => carried.map(() => job.path));
    const reads = Float64Array.from(paths, (_, i) => carried[i % carried.length].at);
    const { value, standardError } = await monteCarlo({
      device,
      ...pathsOf(paths, { substeps, kind: "none", original: path.terms }),
      product: scriptProduct(paths, program, substeps, reads),
      control: "none",
      ...POINTS,
      substeps,
      seed: settings.seed,
      streams: group.flatMap(({ stream }) => carried.map(() => stream)),
      precision,
      ...(signal === undefined ? {} : { signal }),
    });
    const freedom = POINTS.scramblings - 1;
    const width = intervalWidth(freedom);
    group.forEach(({ request: { trade } }, i) => {
      const { states } = results.own.get(trade)!.figures;
      const found = carried.map(({ name, told }, k): [string, StateOutlook] => {
        const at = i * carried.length + k;
        const unseen = (UNSEEN / POINTS.paths) * Math.max(1, Math.abs(value[at]));
        const errorEstimate = errorAtLevel(width * standardError[at], freedom) + unseen;
        return [name, { now: states![name].now, expected: told(value[at]), errorEstimate }];
      });
      results.own.set(trade, { figures: { states: Object.fromEntries(found) }, figureErrors: {}, notes: [] });
    });
  }
}
