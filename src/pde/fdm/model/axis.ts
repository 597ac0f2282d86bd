import { SpecError } from "../../../base/errors.ts";
import { isList, isObject, knownKeys, oneOf } from "../../../base/argument-checks.ts";
import type { MeshDescription, MeshPoint } from "../mesh/axis-mesh.ts";
import { toCoordinate } from "../mesh/axis-mesh.ts";
import type { Axis, AxisPoint } from "../problem/equation.ts";
import { type ParameterValues, quantityOf, shown } from "../problem/quantity.ts";

/** The smallest number of nodes: what a stencil of order 4 for a second derivative takes. */
const MIN_NODES = 7;

/**
 * Returns a function that describes the mesh of an axis for each entry of a batch. `halved` requires that half the
 * intervals make a mesh too. `nodes` is the default number of nodes. @throws SpecError with the path of the field
 */
export function axisOf(
  name: string,
  axis: Axis,
  names: readonly string[],
  { halved, nodes: byDefault }: { readonly halved: boolean; readonly nodes: number },
): (entry: ParameterValues) => MeshDescription {
  const path = `axes.${name}`;
  isObject(path, axis, "an object with from and to");
  if (axis.points !== undefined) isList(`${path}.points`, axis.points, "points");
  knownKeys(path, axis, ["from", "to", "nodes", "coordinate", "points", "density", "width"]);
  const { nodes = byDefault, coordinate = "linear", density = "sinh" } = axis;
  oneOf(`${path}.coordinate`, coordinate, ["linear", "log"]);
  oneOf(`${path}.density`, density, ["uniform", "sinh", "tanh"]);
  checkNodes(path, nodes, halved);
  const from = quantityOf(`${path}.from`, axis.from, names);
  const to = quantityOf(`${path}.to`, axis.to, names);
  const width = axis.width === undefined ? undefined : quantityOf(`${path}.width`, axis.width, names);
  const points = (axis.points ?? []).map((point, k) => pointOf(`${path}.points[${k}]`, point, names));
  return (entry) => {
    const [low, high] = [from(entry), to(entry)];
    checkEnds(path, low, high, coordinate, names, entry);
    const length = toCoordinate(coordinate, high) - toCoordinate(coordinate, low);
    const wide = width?.(entry) ?? length / 20;
    if (!(wide > 0)) throw new SpecError(`${path}.width: ${wide}, expected a positive length`);
    const inside = points.map((point) => point(entry, low, high));
    return { coordinate, from: low, to: high, nodes, density, width: wide, points: inside };
  };
}

function checkNodes(path: string, nodes: number, halved: boolean): void {
  const min = halved ? 2 * MIN_NODES - 1 : MIN_NODES;
  if (!Number.isInteger(nodes) || nodes < min)
    throw new SpecError(`${path}.nodes: got ${nodes}, expected a whole number from ${min}`);
  if (halved && nodes % 2 === 0)
    throw new SpecError(
      `${path}.nodes: got ${nodes}, expected an odd number, so that every second node makes a mesh; use ${nodes + 1}`,
    );
}

function checkEnds(
  path: string,
  from: number,
  to: number,
  coordinate: string,
  names: readonly string[],
  entry: ParameterValues,
): void {
  if (!(from < to))
    throw new SpecError(`${path}: from ${from} to ${to} for ${shown(names, entry)}; expected from below to`);
  if (coordinate === "log" && !(from > 0))
    throw new SpecError(
      `${path}.from: got ${from}, expected a positive number with the coordinate "log"; or take "linear"`,
    );
}

/** One point, checked against the ends when they are known. */
function pointOf(
  path: string,
  point: Required<Axis>["points"][number],
  names: readonly string[],
): (entry: ParameterValues, from: number, to: number) => MeshPoint {
  const given: AxisPoint = typeof point === "object" ? point : { at: point };
  knownKeys(path, given, ["at", "align", "concentrate"]);
  const { align = "node", concentrate = true } = given;
  oneOf(`${path}.align`, align, ["node", "midway", "none"]);
  const quantity = quantityOf(path, given.at, names);
  return (entry, from, to) => {
    const at = quantity(entry);
    if (!(at >= from && at <= to))
      throw new SpecError(
        `${path}: ${at} is outside the axis, ${from} to ${to}, for ${shown(names, entry)}; widen the axis`,
      );
    return { at, align, concentrate, path };
  };
}
