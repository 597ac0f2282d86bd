import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { Column, valueAt } from "../../operator/column.ts";
import { closedNode, readClosed } from "../../operator/read-coefficients.ts";
import { rowWeight } from "../../operator/matrix.ts";
import { placeIn, type Team } from "./team.ts";

/**
 * Returns the function that writes an instance's nodes into workgroup memory, from the table or in closed form, with
 * the work divided among the items. A barrier must follow.
 */
export function layNodes(team: Team, closed: boolean) {
  return fn({
    name: "layNodes",
    params: [write(real), Column, i32],
    env: { items: team.items, placeIn: placeIn(team), closed, closedNode, readClosed, valueAt },
    body([x, table, nodes], _gpu, { items, placeIn, closed, closedNode, readClosed, valueAt }) {
      const { item } = placeIn();
      if (closed) {
        const { kink, width, meshStep, at, zeroAt } = readClosed(table);
        // Two at a time, for one exponential waits for the other.
        for (let i = item; i < nodes; i += 2 * items) {
          const here = closedNode(i, kink, width, meshStep, at, zeroAt);
          const further = closedNode(i + items, kink, width, meshStep, at, zeroAt);
          x[i] = here;
          if (i + items < nodes) x[i + items] = further;
        }
      } else for (let i = item; i < nodes; i += items) x[i] = valueAt(table, i);
    },
  });
}

/**
 * Returns the function that writes the mesh weight of each row (`rowWeight`) into workgroup memory. A barrier must
 * follow.
 */
export function layWeights(team: Team) {
  return fn({
    name: "layWeights",
    params: [read(real), write(real), i32],
    env: { items: team.items, placeIn: placeIn(team), rowWeight },
    body([x, weights, nodes], _gpu, { items, placeIn, rowWeight }) {
      const { item } = placeIn();
      for (let i = item; i < nodes; i += items) {
        const hDown = x[i] - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, nodes - 1)] - x[i];
        weights[i] = rowWeight(hDown, hUp, i === 0, i === nodes - 1);
      }
    },
  });
}
