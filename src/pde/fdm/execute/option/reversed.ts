import { fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import type { ExerciseScheme } from "../../mesh/grid.ts";
import type { OneFactorProblem } from "../../problem/one-factor.ts";
import { coefficientReals } from "../../operator/coefficients.ts";
import { BARRIERS, DIVIDEND, EVENT_FLAGS, REFACTOR, stepCountOf, type TimeGrid } from "../../time/time-grid.ts";
import { dividendReals, eventReals } from "../coefficients.ts";
import { Launch, type SolverVariant } from "./plan.ts";

/** The number of integers before those of the rows, and of each row of the time program (`reversedProgram`). */
export const HEADER = 5;
const ROW_INTEGERS = 8;

/**
 * Returns the number of inputs of one time step: h·σ², h·(r − q) and h·r, or h·σ² and the two numbers of an obstacle
 * that depends on time; for a formula and a surface also the shift of σ.
 */
export const stepInputs = (shape: string): number => (shape === "formula" || shape === "surface" ? 4 : 3);

/**
 * Returns the number of inputs of a scheme, by which its values are differentiated: those of each time step, the
 * coefficients of events in the order of the solver's table, and σ²S² of each node for the shape "table".
 */
export function inputCount(time: TimeGrid, shape: string, problem: OneFactorProblem, nodes: number): number {
  const events = time.dividends * dividendReals(problem) + (time.barrierDates + 1) * eventReals(problem);
  return time.steps.length * stepInputs(shape) + events + (shape === "table" ? nodes : 0);
}

/** Returns the number of layers that a step keeps: y and, with policy iteration, which nodes are exercised. */
export const layersPerStep = (exercise: ExerciseScheme): number => (exercise === "policy" ? 2 : 1);
/** The number of layers that an event keeps: the solution before it, and after its barriers but for exercise. */
const LAYERS_OF_EVENT = 2;

/** Returns the number of layers that an instance keeps. */
export const layerCount = ({ steps, events }: TimeGrid, exercise: ExerciseScheme): number =>
  steps.length * layersPerStep(exercise) + events.length * LAYERS_OF_EVENT;

/** The places of a launch's numbers that the way back from today to expiry needs. */
interface Places {
  /** The first value of `out` that holds kept layers, and derivatives, in rows. */
  readonly layersAt: number;
  readonly gradientAt: number;
  readonly inputs: number;
  readonly perStep: number;
  readonly layersPerStep: number;
  /** True where some rows of matrices have more diffusion than the problem, lest drift dominate it. */
  readonly isLimited: boolean;
}

/**
 * Returns the integers by which an item goes back through the time program `program` (`encodedSteps`): the places of
 * layers and derivatives, the number of inputs, and whether rows are limited, then for each row of the program
 * `ReversedRow`.
 */
export function reversedProgram(
  program: Int32Array,
  problem: OneFactorProblem,
  { layersAt, gradientAt, inputs, perStep, layersPerStep, isLimited }: Places,
  steps: number,
): Int32Array {
  const perFactorisation = coefficientReals(problem.diffusion.kind === "formula");
  const [perDate, perDividend] = [eventReals(problem), dividendReals(problem)];
  const words = new Int32Array(HEADER + program.length * ROW_INTEGERS);
  let coefficient = perDate;
  let derivative = steps * perStep;
  let [factor, factorisation, layer, step] = [0, -1, 0, 0];
  let [date, ofDate] = [0, derivative];
  derivative += perDate;
  program.forEach((run, row) => {
    if ((run & REFACTOR) !== 0) {
      factor = coefficient;
      coefficient += perFactorisation;
      factorisation++;
    }
    words.set([factor, factorisation, coefficient, derivative, date, ofDate, layer, step], HEADER + row * ROW_INTEGERS);
    const count = stepCountOf(run);
    step += count;
    layer += count * layersPerStep + ((run & EVENT_FLAGS) === 0 ? 0 : LAYERS_OF_EVENT);
    if ((run & DIVIDEND) !== 0) {
      coefficient += perDividend;
      derivative += perDividend;
    }
    if ((run & BARRIERS) !== 0) {
      [date, ofDate] = [coefficient, derivative];
      coefficient += perDate;
      derivative += perDate;
    }
  });
  words.set([layersAt, gradientAt, inputs, isLimited ? 1 : 0, steps * perStep]);
  return words;
}

/** What the way back needs of a row of the time program. */
export const ReversedRow = record({
  /** The first coefficient of the row's factorisation, and its number. */
  factor: i32,
  factorisation: i32,
  /** The first coefficient of the events after the row's steps, and the first input that they are. */
  event: i32,
  eventInput: i32,
  /** The first coefficient of the last date of barriers before the row, and the first input. */
  date: i32,
  dateInput: i32,
  /** The number of the first layer of the row, and of its first step. */
  layer: i32,
  step: i32,
});

/** Returns the function that reads what the way back needs of a row. */
export const readReversedRow = fn({
  name: "readReversedRow",
  params: { launch: Launch, index: i32 },
  env: { HEADER, ROW_INTEGERS },
  body({ launch: { flags, programRows }, index }, _gpu, env) {
    const at = programRows + env.HEADER + index * env.ROW_INTEGERS;
    return {
      factor: flags[at],
      factorisation: flags[at + 1],
      event: flags[at + 2],
      eventInput: flags[at + 3],
      date: flags[at + 4],
      dateInput: flags[at + 5],
      layer: flags[at + 6],
      step: flags[at + 7],
    };
  },
});

/** Where a layer is kept: value i at [at + i·apart] of `values`. */
export const KeptLayer = record({ values: write(real), at: i32, apart: i32 });

/**
 * Returns the function that says where a layer is kept: in the item's private array `layers`, or behind the results of
 * a launch. Where none is kept it is not looked at.
 */
export const layerOf = ({ differentiated = false, privateLayers = 0 }: SolverVariant) =>
  fn({
    name: "layerOf",
    params: { launch: Launch, layers: write(real), instance: i32, layer: i32 },
    env: { isPrivate: privateLayers > 0 || !differentiated },
    body({ launch: { flags, programRows, nodes, pitch, out }, layers, instance, layer }, _gpu, { isPrivate }) {
      if (isPrivate) return { values: layers, at: layer * nodes, apart: 1 };
      return { values: out, at: (flags[programRows] + layer * nodes) * pitch + instance, apart: pitch };
    },
  });

/** Keeps values of all nodes as a layer. */
export const keepLayer = fn({
  name: "keepLayer",
  params: { from: read(real), kept: KeptLayer, nodes: i32 },
  body({ from, kept: { values, at, apart }, nodes }) {
    for (let i = 0; i < nodes; i++) values[at + i * apart] = from[i];
  },
});
