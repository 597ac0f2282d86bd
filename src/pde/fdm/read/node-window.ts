import { SpecError } from "../../../base/errors.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import { stencilStart } from "./fornberg.ts";

/** A box of a grid's nodes: on each axis it has `counts` nodes from index `starts` on. */
export interface NodeWindow {
  readonly starts: readonly number[];
  readonly counts: readonly number[];
  /** The values of each axis at the nodes of the box. */
  readonly nodes: readonly Float64Array[];
  /** The point about which the nodes lie; undefined where the box has all nodes. */
  readonly point: readonly number[] | undefined;
}

/**
 * The nodes of an axis about a point that are read: six for derivatives of fourth order, and on a mesh of half as many
 * intervals those from which values at the finer mesh's six are interpolated.
 */
const ABOUT = 10;

/** The box of all nodes of a grid. */
export const wholeWindow = (meshes: readonly AxisMesh[]): NodeWindow => ({
  starts: meshes.map(() => 0),
  counts: meshes.map(({ values }) => values.length),
  nodes: meshes.map(({ values }) => values),
  point: undefined,
});

/**
 * The box of the nodes from which the solution at a point is interpolated. @throws SpecError a point outside the axes
 */
export function windowAbout(
  meshes: readonly AxisMesh[],
  point: readonly number[],
  names: readonly string[],
): NodeWindow {
  const counts = meshes.map(({ values }) => Math.min(ABOUT, values.length));
  const starts = meshes.map(({ values }, k) => {
    const x = point[k];
    const last = values.length - 1;
    if (!(x >= values[0] && x <= values[last]))
      throw new SpecError(`at.${names[k]}: ${x} is outside the axis, ${values[0]} to ${values[last]}`);
    return stencilStart(values, x, counts[k]);
  });
  const nodes = meshes.map(({ values }, k) => values.subarray(starts[k], starts[k] + counts[k]));
  return { starts, counts, nodes, point };
}
