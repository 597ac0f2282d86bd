import { bool, fn, i32 } from "../../../../kernel/index.ts";
import { Fault } from "./records.ts";

/** Returns the fault found `before` if there is one, otherwise one at a node that is not `ok`. */
export const firstFault = fn({
  name: "firstFault",
  params: { before: Fault, ok: bool, fault: i32, node: i32, row: i32 },
  body({ before, ok, fault, node, row }) {
    const isNew = !ok && before.fault === 0;
    return {
      fault: isNew ? fault : before.fault,
      node: isNew ? node : before.node,
      row: isNew ? row : before.row,
    };
  },
});
