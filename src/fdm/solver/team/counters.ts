/** Whole numbers over the workgroup, the same for all items to the compiler too: loops that are collective may end by them. */
import { fn, i32, type KernelFunction, write } from "../../../kernel/index.ts";
import type { Team } from "./team.ts";

/** `counter` is a word that is 0 before and after, `result` one that nobody else writes. Cost: an atomic operation an item, two barriers. */
const overGroup = (name: string, operation: "add" | "max"): KernelFunction<any, any> =>
  fn({
    name,
    params: [i32, write(i32), write(i32)],
    env: { operation },
    *body([mine, counter, result], gpu, { operation }) {
      if (operation === "add") gpu.atomicAdd(counter, 0, mine);
      else gpu.atomicMax(counter, 0, mine);
      yield;
      if (gpu.localId() === 0) {
        result[0] = gpu.atomicLoad(counter, 0);
        gpu.atomicStore(counter, 0, 0);
      }
      yield;
      return result[0];
    },
  });

export const total = overGroup("total", "add");

const largestByAtomics = overGroup("largest", "max");

/** What one subgroup has found; through memory, so that the compiler sees it is the same for all. */
const largestOfSubgroup = fn({
  name: "largest",
  params: [i32, write(i32), write(i32)],
  *body([mine, _counter, result], gpu) {
    const most: number = yield gpu.subgroupMax(mine);
    yield; // whoever reads what was here before
    if (gpu.localId() === 0) result[0] = most;
    yield;
    return result[0];
  },
});

/** Of numbers that are not negative. `seldom`: through memory, which does not ask which items are together. */
export const largest = ({ shuffles }: Team, seldom: boolean): KernelFunction<any, any> =>
  shuffles && !seldom ? largestOfSubgroup : largestByAtomics;
