import { SpecError } from "../../errors.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import { stencilStart } from "./fornberg.ts";

/** A box of a grid's nodes: on each axis `counts` of them from `starts` on. */
export interface NodeWindow {
  readonly starts: readonly number[];
  readonly counts: readonly number[];
  /** The values of each axis there. */
  readonly nodes: readonly Float64Array[];
  /** The point that the nodes are about; undefined where they are all nodes. */
  readonly point: readonly number[] | undefined;
}

/**
 * The nodes of an axis about a point that are read: six for derivatives of fourth order, and on a mesh of half as many
 * intervals those from which values at the finer mesh's six are interpolated.
 */
const ABOUT = 10;

/** The window of all nodes of a grid. */
export const wholeWindow = (meshes: readonly AxisMesh[]): NodeWindow => ({
  starts: meshes.map(() => 0),
  counts: meshes.map(({ values }) => values.length),
  nodes: meshes.map(({ values }) => values),
  point: undefined,
});

/** The nodes of an axis about a value. */
interface AxisWindow {
  readonly start: number;
  readonly nodes: Float64Array;
}

/**
 * The windows about points. Those about one value of one mesh have its nodes in one array, by which weights of readings
 * are found again.
 */
export class NodeWindows {
  readonly #names: readonly string[];
  readonly #axes = new Map<AxisMesh, Map<number, AxisWindow>>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Returns the window of the nodes about a point. @throws SpecError a point outside the axes */
  about(meshes: readonly AxisMesh[], point: readonly number[]): NodeWindow {
    const axes = meshes.map((mesh, k) => this.#onAxis(mesh, point[k], this.#names[k]));
    return {
      starts: axes.map(({ start }) => start),
      counts: axes.map(({ nodes }) => nodes.length),
      nodes: axes.map(({ nodes }) => nodes),
      point,
    };
  }

  #onAxis(mesh: AxisMesh, x: number, name: string): AxisWindow {
    const { values } = mesh;
    let known = this.#axes.get(mesh);
    if (known === undefined) this.#axes.set(mesh, (known = new Map()));
    let window = known.get(x);
    if (window === undefined) {
      const last = values.length - 1;
      if (!(x >= values[0] && x <= values[last]))
        throw new SpecError(`at.${name}: ${x} is outside the axis, ${values[0]} to ${values[last]}`);
      const count = Math.min(ABOUT, values.length);
      const start = stencilStart(values, x, count);
      known.set(x, (window = { start, nodes: values.subarray(start, start + count) }));
    }
    return window;
  }
}
