import { SpecError } from "../../../base/errors.ts";
import type { Alignment } from "../problem/equation.ts";

/** A point to be aligned with a mesh. */
export interface Target {
  /** The position of the point in the mesh without alignment, as a fractional node index. */
  readonly place: number;
  readonly align: Alignment;
  /** The path of the point for error messages: "axes.S.points[2]". */
  readonly path: string;
}

/**
 * Returns the increasing, piecewise linear map of node indices that moves the nearest node, or midpoint, of each target
 * to the position of the target. Between two targets the spacing changes by a fraction 1/(number of intervals between
 * them), so that neighbouring intervals still differ by O(h²) and three-point differences keep their second order. The
 * indices of aligned nodes are multiples of `stride`, so that a mesh of every stride-th node is aligned too. `last` is
 * the index of the last node.
 * @throws SpecError two targets too close for the mesh
 */
export function alignment(targets: readonly Target[], last: number, stride: number): (node: number) => number {
  const sorted = targets.toSorted((a, b) => a.place - b.place);
  const numbers = [0];
  const places = [0];
  for (const target of sorted) {
    const number = alignedNumber(target, last, stride);
    if (target.place <= 0 || target.place >= last) continue;
    if (number - numbers[numbers.length - 1] < 1 || last - number < 1)
      throw new SpecError(
        `${target.path}: closer to the point or the end beside it than the mesh's spacing there, so both cannot be aligned; ` +
          'more nodes, or align: "none"',
      );
    numbers.push(number);
    places.push(target.place);
  }
  numbers.push(last);
  places.push(last);
  return (node) => {
    let piece = 1;
    while (piece < numbers.length - 1 && node > numbers[piece]) piece++;
    const share = (node - numbers[piece - 1]) / (numbers[piece] - numbers[piece - 1]);
    return places[piece - 1] + share * (places[piece] - places[piece - 1]);
  };
}

function alignedNumber({ place, align }: Target, last: number, stride: number): number {
  if (align === "midway") return Math.min(Math.max(Math.floor(place), 1), last - 2) + 0.5;
  return Math.min(Math.max(stride * Math.round(place / stride), stride), last - stride);
}
