// One engine of one thread, solving for some seconds; prints options a second. Two of these at once, which share
// nothing, show what a second core is worth on this machine.
import { oneFactor, OurEngine } from "./feynkac.ts";
import type { Mesh, Problem } from "./problem.ts";

const { problems, mesh, seconds } = JSON.parse(process.argv[2]) as {
  readonly problems: readonly Problem[];
  readonly mesh: Mesh;
  readonly seconds: number;
};
using engine = await OurEngine.open(1);
const instances = engine.prepare(problems.map(oneFactor), mesh);
await engine.solve(instances);
const start = performance.now();
let done = 0;
while (performance.now() - start < 1e3 * seconds) {
  await engine.solve(instances);
  done += instances.length;
}
console.log(done / ((performance.now() - start) / 1e3));
