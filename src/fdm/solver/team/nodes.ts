import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { closedNode, readClosed } from "../rows.ts";
import type { Team } from "./team.ts";

/** A lane's nodes into workgroup memory, each item some: from the table, or in closed form. A barrier has to follow. */
export function layNodes({ items }: Team, closed: boolean): KernelFunction<any, any> {
  return fn({
    name: "layNodes",
    params: [write(real), read(real), i32, i32, i32],
    env: { items, closed, closedNode, readClosed },
    body([x, table, pitch, lane, nodes], gpu, { items, closed, closedNode, readClosed }: any) {
      const item = gpu.localId();
      if (closed) {
        const { kink, width, meshStep, at, zeroAt } = readClosed(table, pitch, lane);
        for (let i = item; i < nodes; i += items) x[i] = closedNode(i, kink, width, meshStep, at, zeroAt);
      } else for (let i = item; i < nodes; i += items) x[i] = table[i * pitch + lane];
    },
  });
}
