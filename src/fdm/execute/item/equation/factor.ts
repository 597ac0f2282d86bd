import { fn } from "../../../../kernel/index.ts";
import { assemble } from "../../../operator/assemble.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { atRow } from "./records.ts";

/** Returns the function that assembles and factors I − hL. */
export function factor(variant: EquationVariant) {
  return fn({
    name: "factor",
    params: atRow,
    env: { assemble: assemble(variant) },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { inverse, lower, upper, source } = memory;
      const made = env.assemble({
        nodes: launch.nodes,
        table: place.table,
        parameters: place.parameters,
        inverse,
        lower,
        upper,
        source,
        status: launch.status,
        mask: step.mask,
        stage: step.stage,
      });
      const isFirst = cursor.found.fault === 0;
      return {
        found: {
          fault: isFirst ? made.fault : cursor.found.fault,
          node: isFirst ? made.node : cursor.found.node,
          row: isFirst ? step.run : cursor.found.row,
        },
        isNew: cursor.isNew,
        record: cursor.record,
      };
    },
  });
}
