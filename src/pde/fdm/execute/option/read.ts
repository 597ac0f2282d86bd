import { fn, i32, read, real } from "../../../../kernel/index.ts";
import { WINDOW } from "../../read/interpolation.ts";
import { pointValue, pointWords } from "../../read/point.ts";
import { Launch } from "../variant.ts";
import { Place } from "../place.ts";
import type { OptionPlan } from "./plan.ts";

/**
 * Returns the function that writes the results of an option, in the layout of `solverKernel`. They are the solution at
 * the six nodes about the spot, from which the host interpolates value, delta and gamma; these nodes themselves where
 * the device made the mesh; and the values at further spots. The function reads the solution `u` at all nodes `x`.
 * `row` is the index of the coefficients of the problem at the further spots. `slope` and `kink` are the slope and the
 * strike of a payoff that depends on time.
 */
export function readValues({ items, early, timeDependent, variant }: OptionPlan) {
  const { closed, points = false, knockIns = 0 } = variant;
  const hasKnockIns = knockIns > 0;
  return fn({
    name: "readValues",
    params: {
      launch: Launch,
      place: Place,
      x: read(real),
      u: read(real),
      dormant: read(real),
      row: i32,
      slope: real,
      kink: real,
    },
    env: {
      items,
      closed,
      hasKnockIns,
      hasPoints: points,
      WINDOW,
      pointWords: pointWords(closed),
      pointValue: pointValue({ closed, american: early, timeDependent, hasKnockIns }),
    },
    body({ launch, place, x, u, dormant, row, slope, kink }, _gpu, env) {
      const { pitch, nodes, obstacleColumn, start, out } = launch;
      const { instance, isOwner, table, parameters: coefficients, item } = place;
      const windows = isOwner ? launch.windows : 0;
      for (let k = item; k < windows * env.WINDOW; k += env.items) {
        const window = (k / env.WINDOW) | 0;
        const i = start[window * pitch + instance] + k - window * env.WINDOW;
        if (env.hasKnockIns && i >= nodes) out[k * pitch + instance] = dormant[i - nodes];
        else out[k * pitch + instance] = u[i];
        if (env.closed) out[(launch.windows * env.WINDOW + k) * pitch + instance] = x[i];
      }
      if (env.hasPoints) {
        const points = isOwner ? launch.points : 0;
        const read = (env.closed ? 2 : 1) * launch.windows * env.WINDOW;
        const of = { table, coefficients, nodes, x, u, dormant, obstacleRow: obstacleColumn * nodes, slope, kink };
        for (let point = item; point < points; point += env.items)
          out[(read + point) * pitch + instance] = env.pointValue({ of, row: row + point * env.pointWords });
      }
    },
  });
}
