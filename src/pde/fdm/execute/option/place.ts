import { fn, i32 } from "../../../../kernel/index.ts";
import { itemAt } from "../place.ts";
import { Launch } from "../variant.ts";
import type { OptionPlan } from "./plan.ts";

/** Returns the function that finds the instance of a work item and its nodes. */
export const placeOf = ({ team, rows }: OptionPlan) =>
  fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { itemAt: itemAt(team, rows) },
    body({ launch: { instances, pitch, runs, table, coefficients }, globalId }, _gpu, { itemAt }) {
      return itemAt({ instances, pitch, first: 0, end: runs, table, parameters: coefficients, globalId });
    },
  });
