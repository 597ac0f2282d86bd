import { fn, i32 } from "../../../kernel/index.ts";
import { exerciseBoundary } from "../../conditions/exercise-boundary.ts";
import { recordBoundaryRuns } from "../team/equation/boundary.ts";
import { type EquationPlan, isTeam } from "./plan.ts";
import { Launch, Memory, Place } from "./records.ts";

/** Returns the function that writes the exercise boundary, see `exerciseBoundary`, to word `record` of the results. */
export const recordBoundary = (plan: EquationPlan, smooth: boolean) =>
  isTeam(plan) ? recordBoundaryRuns(plan, smooth) : recordBoundaryAlone(smooth);

const recordBoundaryAlone = (smooth: boolean) =>
  fn({
    name: "recordBoundary",
    params: { launch: Launch, place: Place, memory: Memory, record: i32 },
    env: { exerciseBoundary: exerciseBoundary(smooth) },
    *body({ launch: { nodes, pitch, out }, place: { instance }, memory, record }, _gpu, { exerciseBoundary }) {
      const { u, obstacle } = memory.state;
      out[record * pitch + instance] = exerciseBoundary(u, obstacle, memory.table, nodes);
    },
  });
