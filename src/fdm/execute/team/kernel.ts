import { LastUsed } from "../../../last-used.ts";
import { type Kernel, kernel, type Precision } from "../../../kernel/index.ts";
import { barrierWords, CROSSING_WORDS } from "../../conditions/barrier.ts";
import { STEPS_SHIFT } from "../../time/flags.ts";
import { MAX_VARIANTS, solverParams, type SolverVariant, variantKey, variantName } from "../variant.ts";
import { pointValue, pointWords } from "../../read/point.ts";
import { CLOSED_WORDS, coefficientWords, readClosed, readCoefficients } from "../../operator/read-coefficients.ts";
import { PIECE_WORDS, readSurface } from "../../operator/read-surface.ts";
import { AHEAD_WORDS, coefficientsAhead, readAhead } from "./ahead.ts";
import { assembleRuns, rescaleRuns } from "./assemble.ts";
import { cutRuns, holdRuns, knockOutRuns, pinRuns, settleRuns } from "./barrier.ts";
import { payRuns } from "./dividend.ts";
import { exerciseRuns, obstacleRuns, sourceRuns, thresholdRuns } from "./exercise.ts";
import { factorRuns } from "./factor.ts";
import { assembleByMetrics, END_WORDS, layMetrics } from "./metrics.ts";
import { layNodes, layWeights } from "./nodes.ts";
import { policyRuns } from "./policy.ts";
import { FAR } from "./scan.ts";
import { advanceRuns } from "./step.ts";
import { advanceSums, weighRuns } from "./sums.ts";
import { groupSize, multipliers, multiplierWords, partsOf, placeIn, scratchWords, type Team } from "./team.ts";

/**
 * Subgroups of one multiprocessor that 2,048 options give an H200, whose registers hold them with 128 each: with more,
 * the sixteenth would wait for the first.
 */
const RESIDENT = 16;
/**
 * Of longer runs too much would be spilled. Those have workgroup memory left, too, for what running sums keep from one
 * factorisation to the next.
 */
const MAX_RESIDENT_ROWS = 9;
/** Arrays of a word a node: what the state was multiplied by, and the first rows' a and c. */
const KEPT = 3;

/**
 * Two options a subgroup have runs twice as long: in f64 there are eight subgroups, for nothing less than all registers
 * will do; in f32 room for more registers than sixteen subgroups leave is worth more than these.
 */
const PAIRED_RESIDENT = 12;

const residents = ({ options, shuffles }: Team, rows: number): Pick<Kernel, "residentGroups"> => {
  if (options === 2) return { residentGroups: { f32: PAIRED_RESIDENT } };
  return shuffles && rows <= MAX_RESIDENT_ROWS ? { residentGroups: RESIDENT } : {};
};

/**
 * The same time loop, tables and results as `solverKernel`, split the other way: one team of items an option, a
 * workgroup each, launched with as many groups as instances, or half as many where a group has two options side by
 * side. Each item has a run of capacity/items consecutive nodes, in private arrays short enough for registers.
 *
 * Both sweeps of Thomas' algorithm, and the recurrence of its pivots, are scans over the items (Stone 1973; `scan.ts`,
 * `factor.ts`): an item needs what enters its run, no more. So it is the same elimination, with the same pivots and the
 * same projection, not another algorithm, and its results differ by rounding only (with early exercise see `stepRuns`).
 * Barriers and dates of exercise work on the runs at their events; there is no value before a knock-in.
 *
 * Cost of a step: 10 to 14 flops a node (early exercise 11 to 19), no workgroup memory a node; an item has 24 flops
 * beside, and either 12 shuffles, or 28 words of workgroup memory and 14 barriers. Policy iteration: see `policyRuns`,
 * a round. Workgroup memory: `teamWords`.
 */
export function teamKernel(variant: SolverVariant, team: Team, homogeneous: boolean): Kernel {
  const name = `${team.name} ${homogeneous} ${variantKey(variant)}`;
  return kernels.getOrMake(name, () => makeKernel(variant, team, homogeneous));
}

/** One kernel a variant, as for the other split. A pure function's memory. */
const kernels = new LastUsed<string, Kernel>(MAX_VARIANTS);

/**
 * Words of workgroup memory, at most: nodes and values, or four metrics, of each option, and what running sums keep;
 * what scans pass on, coefficients, two counters.
 */
export function teamWords(team: Team, capacity: number, precision: Precision): number {
  const kept = precision === "f64" && capacity > MAX_RESIDENT_ROWS * team.items ? KEPT : 0;
  const lasting = (2 + kept) * capacity + 2 * multiplierWords(team, true);
  const refactorised = 4 * capacity + 2 * multiplierWords(team, false) + team.items + END_WORDS;
  return team.options * Math.max(lasting, refactorised) + scratchWords(team) + team.options * AHEAD_WORDS + 2;
}

function makeKernel(variant: SolverVariant, team: Team, homogeneous: boolean): Kernel {
  const { exercise, shape, dividends, barriers = 0, closed, points = false, capacity, volatility } = variant;
  const rows = Math.ceil(capacity / team.items);
  const early = exercise !== "none" && exercise !== "dates";
  const dates = exercise === "dates";
  const timeDependent = exercise === "time-dependent";
  const hasBarriers = barriers > 0;
  const policy = exercise === "policy";
  // Without dividends and with constant coefficients the exercise region shrinks on the way to today.
  const held = exercise === "brennan-schwartz" && homogeneous && !dividends && !hasBarriers;
  const scaled = held || (homogeneous && !early);
  const summed = scaled && team.shuffles && rows > MAX_RESIDENT_ROWS && !dividends && !hasBarriers && !dates;
  // Factors that do not last. Local variances that a mesh and a table give once are weighed once.
  const refactorised = !homogeneous;
  const metrics = refactorised && (shape === "lognormal" || shape === "table");
  const stepping = { early, scaled, lasting: homogeneous, weighted: dates, timeDependent };
  return kernel({
    name: `fdm-${team.name}-${variantName(variant)}${scaled ? "-scaled" : refactorised ? "-refactorised" : ""}`,
    groupSize: groupSize(team),
    ...residents(team, rows),
    params: solverParams,
    env: {
      early,
      shape,
      dividends,
      dates,
      timeDependent,
      stepsShift: STEPS_SHIFT,
      hasBarriers,
      eventful: dates || hasBarriers,
      policy,
      closed,
      capacity,
      rows,
      parts: partsOf(rows).count,
      items: team.items,
      options: team.options,
      placeIn: placeIn(team),
      scratchWords: scratchWords(team),
      policyRows: policy ? rows : 1,
      throughRows: homogeneous && !policy ? rows : 1,
      scaled,
      summed,
      held,
      refactorised,
      metrics,
      far: FAR,
      few: team.few,
      levels: team.levels,
      multipliers: multipliers(team, homogeneous && !policy),
      multiplierWords: multiplierWords(team, homogeneous && !policy),
      metricWords: metrics ? capacity : 1,
      boundWords: metrics ? team.items : 1,
      endWords: END_WORDS,
      layMetrics: layMetrics(team, rows, shape),
      assembleByMetrics: assembleByMetrics(team, rows),
      layNodes: layNodes(team, closed),
      layWeights: layWeights(team),
      readClosed,
      closedWords: CLOSED_WORDS,
      readSurface: readSurface(shape),
      sliceWords: PIECE_WORDS,
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientWords: coefficientWords(shape === "formula"),
      aheadWords: refactorised ? 1 : AHEAD_WORDS,
      readAhead: readAhead(team),
      coefficientsAhead: coefficientsAhead(shape === "formula"),
      assembleRuns: assembleRuns({ team, rows, shape, volatility }),
      rescaleRuns: rescaleRuns(team, rows, shape, summed),
      weighRuns: weighRuns(rows, held),
      rescaled: homogeneous && !policy && !hasBarriers && (shape === "lognormal" || shape === "table"),
      payRuns: payRuns(team, rows, hasBarriers),
      exerciseRuns: exerciseRuns(team, rows, { closed, laid: !metrics }),
      thresholdRuns: thresholdRuns(team, rows, closed),
      sourceRuns: sourceRuns(team, rows, closed),
      obstacleRuns: obstacleRuns(team, rows, { closed, laid: true }),
      barrierWords: barrierWords(barriers),
      crossRuns: knockOutRuns(barriers, rows, true),
      crossWords: CROSSING_WORDS * barriers,
      settleRuns: settleRuns(barriers, rows, policy),
      holdRuns: holdRuns(barriers, rows),
      cutRuns: cutRuns(rows),
      pinRuns: pinRuns(rows),
      factorRuns: factorRuns(team, rows, { policy: false, lasting: !refactorised, scaled, summed }),
      advanceRuns: advanceRuns(team, rows, stepping),
      advanceSums: advanceSums(team, rows, held),
      policyRuns: policyRuns(team, rows, hasBarriers),
      reads: points,
      pointWords: pointWords(closed),
      pointValue: pointValue({ closed, american: early, timeDependent, hasKnockIns: false }),
    },
    *body(
      {
        instances,
        pitch,
        nodes,
        runs,
        windows,
        points,
        obstacleColumn,
        firstExercised,
        table,
        coefficients,
        flags,
        start,
        out,
      },
      gpu,
      env: any,
    ) {
      if (gpu.groupId() * env.options >= instances) return;
      const { item, option } = env.placeIn();
      const ownInstance = gpu.groupId() * env.options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = env.options === 1 ? ownInstance : Math.min(ownInstance, instances - 1);
      // The nodes; the weights of rows (`rowWeight`), which make place for the solution where items need more than
      // their own; or four metrics (`layMetrics`), the first two making place for nodes and solution where those are
      // needed. Memory decides how many subgroups WebGPU has on a multiprocessor.
      const x = gpu.part(gpu.sharedReal(env.options * env.capacity), option * env.capacity, env.capacity);
      const values = gpu.part(gpu.sharedReal(env.options * env.capacity), option * env.capacity, env.capacity);
      const third = gpu.part(gpu.sharedReal(env.options * env.metricWords), option * env.metricWords, env.metricWords);
      const fourth = gpu.part(gpu.sharedReal(env.options * env.metricWords), option * env.metricWords, env.metricWords);
      const bounds = gpu.part(gpu.sharedReal(env.options * env.boundWords), option * env.boundWords, env.boundWords);
      const ends = gpu.part(gpu.sharedReal(env.options * env.endWords), option * env.endWords, env.endWords);
      const scratch = gpu.sharedReal(env.scratchWords);
      const ahead = gpu.part(gpu.sharedReal(env.options * env.aheadWords), option * env.aheadWords, env.aheadWords);
      const count = gpu.sharedI32(1);
      const summed = env.summed && gpu.precision === "f64"; // see `advanceSums`
      const premium = env.held && summed; // see `sourceRuns`
      const keptWords = summed ? env.options * env.items * env.rows : 1;
      const ownKept = summed ? (option * env.items + item) * env.rows : 0;
      const multiple = gpu.part(gpu.sharedReal(keptWords), ownKept, summed ? env.rows : 1);
      const keptA = gpu.part(gpu.sharedReal(keptWords), ownKept, summed ? env.rows : 1);
      const keptC = gpu.part(gpu.sharedReal(keptWords), ownKept, summed ? env.rows : 1);
      const sum = gpu.sharedI32(1);
      const u = gpu.privateReal(env.rows); // the solution; `scaled`, after the first factorisation, times 2 / pivot
      const z = gpu.privateReal(env.rows); // after elimination
      const a = gpu.privateReal(env.rows);
      const c = gpu.privateReal(env.rows);
      const inverse = gpu.privateReal(env.rows); // 2 / pivot ("policy": 1 / pivot)
      const lower = gpu.privateReal(env.rows); // a / pivot
      const upper = gpu.privateReal(env.rows); // c / pivot
      const obstacle = gpu.privateReal(env.rows); // `held`, after the first factorisation, what elimination is held above; of premiums twice their source
      const downTo = gpu.privateReal(env.throughRows); // products of upper and lower over the rows of a part up to each
      const upTo = gpu.privateReal(env.throughRows);
      const downProduct = gpu.privateReal(env.parts);
      const upProduct = gpu.privateReal(env.parts);
      const active = gpu.privateReal(env.policyRows); // 1 where exercised
      const rhs = gpu.privateReal(env.policyRows);
      // Multipliers of the scans.
      const ofScan = option * env.multiplierWords;
      const above =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(env.options * env.multiplierWords), ofScan, env.multiplierWords);
      const below =
        gpu.precision === "f32"
          ? gpu.privateReal(env.multipliers)
          : gpu.part(gpu.sharedReal(env.options * env.multiplierWords), ofScan, env.multiplierWords);
      const first = item * env.rows;
      env.layNodes(x, table, pitch, instance, nodes);
      if (!env.refactorised) env.readAhead(ahead, coefficients, pitch, instance);
      yield;
      // The obstacle at the node before the run.
      let paidBefore = 0.0;
      // And at the one behind it.
      let paidAfter = 0.0;
      const beyond = Math.min(first + env.rows, nodes - 1);
      if (env.closed) {
        const { kink, sign } = env.readClosed({ values: table, pitch, instance });
        for (let k = 0; k < env.rows; k++) {
          u[k] = first + k < nodes ? Math.max(sign * (x[Math.min(first + k, nodes - 1)] - kink), 0) : 0.0;
          obstacle[k] = u[k];
          // Nobody exercises beyond the last node.
          if (env.timeDependent) obstacle[k] = first + k < nodes ? sign * x[Math.min(first + k, nodes - 1)] : -1e30;
        }
        const before = sign * x[Math.min(Math.max(first - 1, 0), nodes - 1)];
        paidBefore = env.timeDependent ? before : Math.max(before - sign * kink, 0);
        if (premium) paidAfter = Math.max(sign * (x[beyond] - kink), 0);
      } else {
        for (let k = 0; k < env.rows; k++) {
          const i = first + k;
          u[k] = i < nodes ? table[(nodes + Math.min(i, nodes - 1)) * pitch + instance] : 0.0;
          obstacle[k] = 0.0;
          if (env.early && i < nodes) obstacle[k] = table[(obstacleColumn * nodes + i) * pitch + instance];
        }
        if (env.early)
          paidBefore = table[(obstacleColumn * nodes + Math.min(Math.max(first - 1, 0), nodes - 1)) * pitch + instance];
        if (premium) paidAfter = table[(obstacleColumn * nodes + beyond) * pitch + instance];
      }
      // A call's first node is, whatever the rate: its row would let it grow where the rate is negative, which the
      // others would feel.
      const isExercised = firstExercised && first === 0 && x[0] > x[1] && obstacle[0] > obstacle[1] && obstacle[1] > 0;
      if (premium) for (let k = 0; k < env.rows; k++) u[k] -= obstacle[k];
      if (env.policy) for (let k = 0; k < env.rows; k++) active[k] = 0.0;
      const varianceRow = (obstacleColumn + 1) * nodes;
      if (env.metrics) {
        yield;
        yield* env.layMetrics(
          x,
          values,
          third,
          fourth,
          bounds,
          ends,
          table,
          varianceRow,
          nodes,
          pitch,
          instance,
          firstExercised,
        );
      } else env.layWeights(x, values, nodes);
      if (gpu.localId() === 0) gpu.atomicStore(count, 0, 0);
      yield;
      const tail = (env.closed ? env.closedWords : (obstacleColumn + 1) * nodes) * pitch;
      const { slice, move, pieces } = env.readSurface({ values: table, pitch, instance }, tail);
      let pieceRow = tail + 2 * pitch + 1 + slice * pieces * env.sliceWords;
      let piece = 0;
      let row = env.barrierWords;
      // Of the run's rows those up to `low` and from `high` on are knocked out.
      let low = -1;
      let high = env.rows;
      let lowHeld = -1;
      let highHeld = -1;
      if (env.hasBarriers) {
        const ends = env.settleRuns(coefficients, 0, pitch, instance, first, nodes, u, table, obstacleColumn, obstacle);
        low = ends.low;
        high = ends.high;
        lowHeld = ends.lowHeld;
        highHeld = ends.highHeld;
        env.holdRuns(coefficients, 0, pitch, instance, lowHeld, highHeld, u);
      }
      let moves = env.closedWords * pitch + instance;
      let hRate = 0.0;
      let hLast = 1.0;
      let signOfFirst = 1.0;
      let reach = 0;
      let needed = env.far;
      let flag = 0;
      let nextFlag = flags[0];
      let flagAfter = runs > 1 ? flags[1] : 0;
      let nextH = 0.0;
      let nextVariance = 0.0;
      let nextDrift = 0.0;
      let nextRate = 0.0;
      let nextTime = 0.0;
      let nextShift = 0.0;
      if (env.refactorised) {
        const firstRow = env.readCoefficients({ values: coefficients, pitch, instance }, env.barrierWords);
        nextH = firstRow.h;
        nextVariance = firstRow.hVariance;
        nextDrift = firstRow.hDrift;
        nextRate = firstRow.hRate;
        nextTime = firstRow.time;
        nextShift = firstRow.shift;
      }
      for (let run = 0; run < runs; run++) {
        // Read two runs ahead: what tells the next one is made of its word at once.
        flag = nextFlag;
        nextFlag = flagAfter;
        flagAfter = run + 2 < runs ? flags[run + 2] : 0;
        if (!env.refactorised && (flag & 1) !== 0) {
          const now = env.coefficientsAhead(ahead, coefficients, row, pitch, instance);
          nextH = now.h;
          nextVariance = now.hVariance;
          nextDrift = now.hDrift;
          nextRate = now.hRate;
          nextTime = now.time;
          nextShift = now.shift;
        }
        const h = nextH;
        const hVariance = nextVariance;
        const hDrift = nextDrift;
        const rate = nextRate;
        const time = nextTime;
        const shift = nextShift;
        if ((flag & 1) !== 0) row += env.coefficientWords;
        if (env.refactorised && (nextFlag & 1) !== 0) {
          const paid = (flag & 4) === 0 ? 0 : 2 + env.crossWords;
          const settled = env.hasBarriers && (flag & 16) !== 0 ? env.barrierWords : 0;
          const next = env.readCoefficients({ values: coefficients, pitch, instance }, row + paid + settled);
          nextH = next.h;
          nextVariance = next.hVariance;
          nextDrift = next.hDrift;
          nextRate = next.hRate;
          nextTime = next.time;
          nextShift = next.shift;
        }
        if ((flag & 1) !== 0) {
          hRate = rate;
          // Rows divided by 1 + hr spare pivots a product each; policy iteration wants them as they are.
          const rowScale = env.policy ? 1.0 : gpu.reciprocal(1 + hRate);
          // After an event the solution is as it is.
          const asItIs = env.eventful && (flags[Math.max(run - 1, 0)] & 28) !== 0;
          if (env.scaled && run > 0 && !asItIs)
            for (let k = 0; k < env.rows; k++) {
              if (premium) u[k] -= 0.5 * obstacle[k];
              u[k] *= gpu.reciprocal(summed ? multiple[k] : inverse[k]);
            }
          let found = piece;
          let again = false;
          do {
            if (env.metrics) {
              env.assembleByMetrics(
                x,
                values,
                third,
                fourth,
                bounds,
                ends,
                a,
                c,
                nodes,
                hVariance * rowScale,
                hDrift * rowScale,
                rowScale,
              );
            } else if (env.rescaled && run > 0) {
              const ratio = h * gpu.reciprocal(hLast) * rowScale;
              env.rescaleRuns(
                x,
                values,
                table,
                a,
                c,
                inverse,
                summed ? keptA : lower,
                summed ? keptC : upper,
                nodes,
                pitch,
                instance,
                firstExercised,
                ratio,
                hVariance * rowScale,
                hDrift * rowScale,
                varianceRow,
              );
            } else {
              const assembled = env.assembleRuns(
                x,
                values,
                table,
                a,
                c,
                nodes,
                pitch,
                instance,
                firstExercised,
                h * rowScale,
                hVariance * rowScale,
                hDrift * rowScale,
                time,
                shift,
                varianceRow,
                pieceRow,
                pieces,
                move,
                piece,
              );
              found = assembled.piece;
            }
            if (env.hasBarriers) env.cutRuns(a, c, low, high);
            if (env.rescaled && summed && run === 0)
              for (let k = 0; k < env.rows; k++) {
                keptA[k] = a[k];
                keptC[k] = c[k];
              }
            if (!env.policy) {
              // Neighbouring steps' reach alike: what the one before needed is tried first, and the whole scan only
              // where that proves too little.
              const near = env.refactorised && needed === 0;
              needed = yield* env.factorRuns(
                a,
                c,
                active,
                inverse,
                lower,
                upper,
                above,
                below,
                scratch,
                downTo,
                upTo,
                downProduct,
                upProduct,
                hRate,
                2.0 * rowScale,
                near,
                count,
                sum,
              );
              again = near && needed !== 0;
              reach = !env.refactorised ? needed : needed === env.far ? env.levels : env.few;
            }
          } while (again);
          if (!summed) hLast = h;
          else if (run === 0) hLast = h * rowScale;
          if (env.shape === "surface") {
            piece = found;
            pieceRow += pieces * env.sliceWords;
          }
          if (env.hasBarriers && !env.policy) env.pinRuns(inverse, lowHeld, highHeld, 2.0);
          if (summed) signOfFirst = c[0] < 0 ? -1.0 : 1.0;
          if (premium)
            env.sourceRuns(
              x,
              table,
              obstacleColumn,
              nodes,
              pitch,
              instance,
              inverse,
              lower,
              upper,
              hRate,
              paidBefore,
              paidAfter,
              isExercised,
              signOfFirst,
              u,
              obstacle,
            );
          else if (env.held)
            env.thresholdRuns(x, table, obstacleColumn, nodes, pitch, instance, lower, paidBefore, u, obstacle);
          if (env.scaled && !premium) for (let k = 0; k < env.rows; k++) u[k] *= inverse[k];
          if (summed) env.weighRuns(u, obstacle, multiple, inverse, lower, upper);
        }

        const crankNicolson = (flag & 2) !== 0;
        const runLength = env.refactorised ? 1 : flag >> env.stepsShift;
        if (env.policy) {
          for (let step = 0; step < runLength; step++)
            yield* env.policyRuns(
              u,
              z,
              a,
              c,
              obstacle,
              active,
              rhs,
              inverse,
              lower,
              upper,
              above,
              below,
              scratch,
              count,
              sum,
              hRate,
              crankNicolson,
              lowHeld,
              highHeld,
            );
        } else {
          const alexander = env.dates && (flag & 32) !== 0;
          if (summed)
            yield* env.advanceSums(
              runLength,
              u,
              z,
              lower,
              upper,
              obstacle,
              downProduct,
              upProduct,
              above,
              below,
              scratch,
              reach,
              crankNicolson,
              signOfFirst,
            );
          else
            yield* env.advanceRuns(
              runLength,
              table,
              moves,
              pitch,
              u,
              z,
              inverse,
              lower,
              upper,
              obstacle,
              isExercised,
              paidBefore,
              downTo,
              upTo,
              downProduct,
              upProduct,
              above,
              below,
              scratch,
              reach,
              crankNicolson || alexander,
              alexander ? Math.SQRT2 : 1.0,
            );
          moves += 2 * pitch * runLength;
        }

        // An event ends a segment of the time grid, so the next step factors again.
        if (env.eventful && (flag & 28) !== 0) {
          if (env.scaled) for (let k = 0; k < env.rows; k++) u[k] *= gpu.reciprocal(inverse[k]);
          if (env.dates && (flag & 8) !== 0)
            yield* env.exerciseRuns(u, z, x, table, scratch, obstacleColumn, nodes, pitch, instance);
        }
        if (env.dividends && (flag & 4) !== 0) {
          const keep = coefficients[row * pitch + instance];
          const cash = coefficients[(row + 1) * pitch + instance];
          row += 2;
          if (env.scaled && !env.eventful) for (let k = 0; k < env.rows; k++) u[k] *= gpu.reciprocal(inverse[k]);
          yield; // the last metrics or weights have been read
          if (env.metrics) env.layNodes(x, table, pitch, instance, nodes);
          for (let k = 0; k < env.rows; k++) if (first + k < nodes) values[first + k] = u[k];
          yield;
          env.payRuns(x, values, u, nodes, keep, cash, low, high);
          if (env.scaled && !env.eventful) for (let k = 0; k < env.rows; k++) u[k] *= inverse[k];
          // Before the date other nodes of a barrier's trade may be alive.
          if (env.hasBarriers && env.policy)
            for (let k = 0; k < env.rows; k++)
              u[k] = Math.max(
                u[k],
                table[(obstacleColumn * nodes + Math.min(first + k, nodes - 1)) * pitch + instance],
              );
          else if (env.early) for (let k = 0; k < env.rows; k++) u[k] = Math.max(u[k], obstacle[k]);
          if (env.hasBarriers) {
            env.crossRuns(coefficients, row, pitch, instance, first, u);
            row += env.crossWords;
          }
          yield;
          if (env.metrics)
            yield* env.layMetrics(
              x,
              values,
              third,
              fourth,
              bounds,
              ends,
              table,
              varianceRow,
              nodes,
              pitch,
              instance,
              firstExercised,
            );
          else {
            env.layWeights(x, values, nodes);
            yield;
          }
        }
        const endsRow = row;
        if (env.hasBarriers && (flag & 16) !== 0) {
          const ends = env.settleRuns(
            coefficients,
            endsRow,
            pitch,
            instance,
            first,
            nodes,
            u,
            table,
            obstacleColumn,
            obstacle,
          );
          low = ends.low;
          high = ends.high;
          lowHeld = ends.lowHeld;
          highHeld = ends.highHeld;
          row += env.barrierWords;
          if (env.policy) for (let k = 0; k < env.rows; k++) u[k] = Math.max(u[k], obstacle[k]);
        }
        if (env.hasBarriers && (flag & 16) !== 0)
          env.holdRuns(coefficients, endsRow, pitch, instance, lowHeld, highHeld, u);
      }
      yield; // the last metrics or weights have been read
      if (env.metrics) env.layNodes(x, table, pitch, instance, nodes);
      if (premium) env.obstacleRuns(x, table, obstacleColumn, nodes, pitch, instance, z);
      for (let k = 0; k < env.rows; k++) {
        if (premium && runs > 0) u[k] -= 0.5 * obstacle[k];
        const value = env.scaled && runs > 0 ? u[k] * gpu.reciprocal(summed ? multiple[k] : inverse[k]) : u[k];
        if (first + k < nodes) values[first + k] = premium ? z[k] + value : value;
      }
      yield;
      const ownWindows = ownInstance < instances ? windows : 0;
      const ownPoints = ownInstance < instances ? points : 0;
      for (let k = item; k < ownWindows * 6; k += env.items) {
        const window = (k / 6) | 0;
        const i = start[window * pitch + instance] + k - window * 6;
        out[k * pitch + instance] = values[i];
        if (env.closed) out[(windows * 6 + k) * pitch + instance] = x[i];
      }
      if (env.reads) {
        // What exercise pays is φ·(slope·x) − kink where the obstacle moves: that of the last step.
        let slope = 1.0;
        let kink = 0.0;
        if (env.timeDependent && runs > 0) {
          slope = table[moves - 2 * pitch];
          kink = table[moves - pitch];
        }
        const read = (env.closed ? 2 : 1) * windows * 6;
        for (let point = item; point < ownPoints; point += env.items)
          out[(read + point) * pitch + instance] = env.pointValue({
            of: {
              table: { values: table, pitch, instance },
              coefficients: { values: coefficients, pitch, instance },
              nodes,
              x,
              u: values,
              dormant: values,
              obstacleRow: obstacleColumn * nodes,
              slope,
              kink,
            },
            row: row + point * env.pointWords,
          });
      }
    },
  });
}
