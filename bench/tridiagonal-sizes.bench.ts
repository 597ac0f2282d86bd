/** Time a row against the length of tridiagonal systems: one core, then the GPUs that are here. */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import { benchmark as onGpus, tridiagonalSizes } from "./device/tridiagonal-sizes.ts";
import { type Benchmark, clockGHz, type Context, type Report } from "./harness.ts";
import { FLOOR_CYCLES } from "./tridiagonal.bench.ts";

/** Through the ladder so often on a CPU: others who use the machine stay for seconds, longer than a case takes. */
const PASSES = 3;

export const benchmark: Benchmark = {
  name: "tridiagonal-sizes",
  description:
    "nanoseconds a row against the length of tridiagonal systems, for every algorithm; drawn by npm run figures",
  async run(context) {
    using device = createCpuDevice({ threads: 1 });
    const min = new Map<string, Report>();
    const keep = (one: Report): void => {
      if (one.figure < (min.get(one.case)?.figure ?? Infinity)) min.set(one.case, one);
    };
    const floor = FLOOR_CYCLES / (clockGHz() * 1e9);
    for (let pass = 0; pass < (context.quick ? 1 : PASSES); pass++) {
      const noted: Context = { ...context, report: keep, note: pass === 0 ? context.note : () => {} };
      await tridiagonalSizes(device, noted, {
        precisions: ["f64"],
        total: context.quick ? 2 ** 12 : 2 ** 19,
        floor: () => floor,
        name: context.cpu,
        suffix: ", a core",
        seconds: 240,
      });
    }
    for (const one of min.values()) context.report(one);
    await onGpus.run(context);
  },
};
