import { fn, type Precision } from "../../../../kernel/index.ts";
import { AHEAD_WORDS } from "./ahead.ts";
import { END_WORDS } from "./metrics.ts";
import type { TeamPlan } from "../option/plan.ts";
import { Place } from "../place.ts";
import { MAX_RESIDENT_ROWS, multipliers, multiplierWords, scratchWords, type Team } from "./team.ts";

/** The number of arrays of a word a node: what the state was multiplied by, and the first rows' a and c. */
const KEPT = 3;

/**
 * The maximum number of reals and integers of workgroup memory: nodes and values, or four metrics, of each instance,
 * kept factors of running sums, the memory of scans, coefficients, and two counters.
 */
export function teamWords(team: Team, capacity: number, precision: Precision): number {
  const kept = precision === "f64" && capacity > MAX_RESIDENT_ROWS * team.items ? KEPT : 0;
  const lasting = (2 + kept) * capacity + 2 * multiplierWords(team, true);
  const refactorised = 4 * capacity + 2 * multiplierWords(team, false) + team.items + END_WORDS;
  return team.options * Math.max(lasting, refactorised) + scratchWords(team) + team.options * AHEAD_WORDS + 2;
}

/**
 * Returns the function that allocates the memory of a team. Workgroup memory limits the number of resident subgroups
 * under WebGPU. Where items need more than their own nodes, mesh weights therefore share arrays with the solution, and
 * metrics with nodes and solution.
 */
export function allocate({ team, variant, rows, parts, lasting, policy, metrics, summed }: TeamPlan) {
  const { capacity } = variant;
  const byNeighbours = lasting && !policy;
  return fn({
    name: "allocate",
    params: [Place],
    env: {
      options: team.options,
      items: team.items,
      capacity,
      rows,
      parts,
      metricWords: metrics ? capacity : 1,
      boundWords: metrics ? team.items : 1,
      END_WORDS,
      aheadWords: lasting ? AHEAD_WORDS : 1,
      scratchWords: scratchWords(team),
      isSummed: summed,
      throughRows: byNeighbours ? rows : 1,
      policyRows: policy ? rows : 1,
      multipliers: multipliers(team, byNeighbours),
      multiplierWords: multiplierWords(team, byNeighbours),
    },
    body([{ item, option }], gpu, env) {
      const { options, items, capacity, rows, metricWords, boundWords, aheadWords, multiplierWords, END_WORDS } = env;
      const summed = env.isSummed && gpu.precision === "f64";
      const keptWords = summed ? options * items * rows : 1;
      const ownKept = summed ? (option * items + item) * rows : 0;
      const keptRows = summed ? rows : 1;
      const ofScan = option * multiplierWords;
      const above =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(options * multiplierWords), ofScan, multiplierWords);
      const below =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(options * multiplierWords), ofScan, multiplierWords);
      return {
        mesh: {
          x: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          values: gpu.part(gpu.sharedReal(options * capacity), option * capacity, capacity),
          third: gpu.part(gpu.sharedReal(options * metricWords), option * metricWords, metricWords),
          fourth: gpu.part(gpu.sharedReal(options * metricWords), option * metricWords, metricWords),
          bounds: gpu.part(gpu.sharedReal(options * boundWords), option * boundWords, boundWords),
          ends: gpu.part(gpu.sharedReal(options * END_WORDS), option * END_WORDS, END_WORDS),
        },
        ahead: gpu.part(gpu.sharedReal(options * aheadWords), option * aheadWords, aheadWords),
        state: { u: gpu.privateReal(rows), z: gpu.privateReal(rows) },
        rows: { a: gpu.privateReal(rows), c: gpu.privateReal(rows) },
        factors: { gain: gpu.privateReal(rows), lower: gpu.privateReal(rows), upper: gpu.privateReal(rows) },
        products: {
          downProduct: gpu.privateReal(env.parts),
          upProduct: gpu.privateReal(env.parts),
          downTo: gpu.privateReal(env.throughRows),
          upTo: gpu.privateReal(env.throughRows),
        },
        scans: {
          above,
          below,
          scratch: gpu.sharedReal(env.scratchWords),
          counter: gpu.sharedI32(1),
          result: gpu.sharedI32(1),
        },
        paid: gpu.privateReal(rows),
        active: gpu.privateReal(env.policyRows),
        kept: {
          multiple: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
          rows: {
            a: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
            c: gpu.part(gpu.sharedReal(keptWords), ownKept, keptRows),
          },
        },
      };
    },
  });
}
