import { bool, fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { matrixRow } from "../../operator/matrix.ts";
import { surfaceSigma } from "../../operator/read-surface.ts";
import type { SolverVariant } from "../variant.ts";
import { placeIn, type Team } from "./team.ts";

/** What the matrix depends on at compile time. */
export interface Assembly {
  readonly team: Team;
  readonly rows: number;
  readonly shape: string;
  readonly volatility?: SolverVariant["volatility"] | undefined;
}

/**
 * The rows of I − hL in an item's run, off the diagonal: a and c of `matrixRow`, from the nodes x and their `weights`;
 * 0 beyond the last node. `tableRow` is where σ²S² starts in the table (shape "table"), or spots and literals do (shape "formula"), `pieceRow` where the slice of
 * the step does (shape "surface"). Returns the piece that the run's first node is in, which is where the search of the
 * next step starts.
 */
export function assembleRuns(assembly: Assembly): KernelFunction<any, any> {
  const { team, rows, shape, volatility } = assembly;
  return fn({
    name: "assembleRuns",
    params: [
      read(real),
      read(real),
      read(real),
      write(real),
      write(real),
      i32,
      i32,
      i32,
      bool,
      real,
      real,
      real,
      real,
      real,
      i32,
      i32,
      i32,
      real,
      i32,
    ],
    env: {
      rows,
      shape,
      placeIn: placeIn(team),
      matrixRow,
      surfaceSigma,
      volatility: volatility?.call,
    },
    body(
      [
        x,
        weights,
        table,
        a,
        c,
        nodes,
        pitch,
        instance,
        firstExercised,
        h,
        hVariance,
        hDrift,
        time,
        shift,
        tableRow,
        pieceRow,
        pieces,
        move,
        piece,
      ],
      _gpu,
      env: any,
    ) {
      const first = env.placeIn().item * env.rows;
      const last = nodes - 1;
      let at = piece;
      let next = piece;
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(first + k, last);
        const here = x[i];
        const hDown = here - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, last)] - here;
        let variance = hVariance * here * here;
        if (env.shape === "table") variance = hVariance * table[(tableRow + i) * pitch + instance];
        if (env.shape === "formula" && here > 0) {
          const sigma = Math.max(env.volatility({ values: table, pitch, instance }, tableRow, here, time) + shift, 0);
          variance = h * sigma * sigma * here * here;
        }
        if (env.shape === "surface") {
          const { piece: found, sigma } = env.surfaceSigma(table, pieceRow, pieces, move, at, here);
          at = found;
          if (k === 0) next = found;
          variance = h * sigma * sigma * here * here;
        }
        const row = env.matrixRow(hDrift * here, variance, hDown, hUp, weights[i], i === 0, i === last, firstExercised);
        a[k] = first + k <= last ? row.a : 0.0;
        c[k] = first + k <= last ? row.c : 0.0;
      }
      return { piece: next };
    },
  });
}

/**
 * The rows again where only the step has changed, by `ratio`: a and c are as much larger. In f64 they may be `kept`, as
 * `lower` and `upper`; else they follow from what elimination made of them, a = lower·pivot, c = upper·pivot. What the
 * ends let in depends on the step (`matrixRow`), so their two rows are made as `assembleRuns` makes them. `gain` =
 * 2/pivot. Cost: 4 flops a node, where a row takes 20, and, unless `kept`, a rounding of a and c each time.
 */
export function rescaleRuns(team: Team, rows: number, shape: string, kept: boolean): KernelFunction<any, void> {
  return fn({
    name: "rescaleRuns",
    params: [
      read(real),
      read(real),
      read(real),
      write(real),
      write(real),
      read(real),
      read(real),
      read(real),
      i32,
      i32,
      i32,
      bool,
      real,
      real,
      real,
      i32,
    ],
    env: { rows, placeIn: placeIn(team), byTable: shape === "table", matrixRow, kept },
    body(
      [
        x,
        weights,
        table,
        a,
        c,
        gain,
        lower,
        upper,
        nodes,
        pitch,
        instance,
        firstExercised,
        ratio,
        hVariance,
        hDrift,
        varianceRow,
      ],
      gpu,
      { rows, placeIn, byTable, matrixRow, kept }: any,
    ) {
      const first = placeIn().item * rows;
      const last = nodes - 1;
      for (let k = 0; k < rows; k++) {
        const scale = kept && gpu.precision === "f64" ? ratio : 2.0 * ratio * gpu.reciprocal(gain[k]);
        a[k] = lower[k] * scale;
        c[k] = upper[k] * scale;
      }
      const isFirst = first === 0;
      if (isFirst || (first <= last && last < first + rows)) {
        const i = isFirst ? 0 : last;
        const here = x[i];
        const hDown = here - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, last)] - here;
        let variance = hVariance * here * here;
        if (byTable) variance = hVariance * table[(varianceRow + i) * pitch + instance];
        const row = matrixRow(hDrift * here, variance, hDown, hUp, weights[i], isFirst, !isFirst, firstExercised);
        for (let k = 0; k < rows; k++) {
          if (first + k === i && isFirst) c[k] = row.c;
          if (first + k === i && !isFirst) a[k] = row.a;
        }
      }
    },
  });
}
