/** Equations that a user writes, every kind of kernel by every split, against the CPU in f64. */
import { difference, problems, tolerance } from "../../../test/pde/fdm/equation/device-cases.ts";
import {
  apart,
  isOffered,
  ofSize,
  problems as teamProblems,
  solved,
  TEAMS,
  tolerance as teamTolerance,
} from "../../../test/pde/fdm/equation/team-cases.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Context, type Family, type Group, isSlow, some, type Target } from "../check.ts";

export const equations: Family = (target, context) => {
  const { precision, device } = target;
  if (device === context.cpu && precision === "f64") return [];
  const checks = some(Object.keys(problems), context, 4).map((name): Check => ({
    name,
    async run() {
      const { worst } = await difference(name, compiledAs(target), precision, context.cpu);
      const failure = `${name}: ${worst.toExponential(2)} from the CPU, at most ${tolerance[precision]} allowed`;
      return { error: worst, failure: worst < tolerance[precision] ? undefined : failure };
    },
  }));
  return [{ family: "equations, against the CPU", unit: "for strikes of 100", checks }, ...byTeams(target, context)];
};

/** Teams against items on the CPU. */
function byTeams(target: Target, context: Context): Group[] {
  const { precision, device } = target;
  // In f32x2 a workgroup's take minutes to compile, and are not used.
  const teams = TEAMS.filter((split) => isOffered(device, split) && !(precision === "f32x2" && split === "workgroup"));
  const sizes = context.quick || isSlow(target) || precision === "f32x2" ? [] : [96, 257, 544];
  const all = [
    ...some(Object.entries(teamProblems), context, 4),
    ...sizes.map((nodes) => [`Brennan and Schwartz, ${nodes} nodes`, ofSize(nodes, 24)] as const),
  ];
  return teams.map((split) => ({
    family: `equations, ${split} and item`,
    unit: "for strikes of 100",
    checks: all.map(([name, problem]): Check => ({
      name,
      async run() {
        const [team, again, items] = [
          await solved(problem, compiledAs(target), precision, split),
          await solved(problem, compiledAs(target), precision, split),
          await solved(problem, context.cpu, "f64", "item"),
        ];
        const { values: error, boundary } = apart(items, team);
        const allowed = teamTolerance[precision];
        const failures = [
          error < allowed.values ? "" : `${error.toExponential(2)} apart, at most ${allowed.values} allowed`,
          boundary < allowed.boundary ? "" : `boundaries ${boundary.toExponential(2)} apart`,
          apart(team, again).values === 0 ? "" : "other bits when repeated",
        ].filter((text) => text !== "");
        return { error, failure: failures.length === 0 ? undefined : `${name}: ${failures.join(", ")}` };
      },
    })),
  }));
}
