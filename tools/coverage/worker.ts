/** A process that prices trades of families for `main.ts`: a message asks for some of one family, another answers. */
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { FAMILIES } from "./families/all.ts";
import { drawCases, type Draws, type Outcome, priceCases } from "./price.ts";

export interface Task extends Draws {
  /** The family's place in `FAMILIES`. */
  readonly family: number;
}

export interface Answer {
  readonly task: Task;
  readonly outcomes: readonly Outcome[];
  readonly seconds: number;
  /** Why there are none. */
  readonly failure?: string;
}

const device = createCpuDevice({ threads: 1 });

async function answerTo(task: Task): Promise<Answer> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  try {
    const cases = drawCases(FAMILIES[task.family], task);
    const outcomes = await priceCases(device, cases, task.from);
    return { task, outcomes, seconds: seconds() };
  } catch (error) {
    return { task, outcomes: [], seconds: seconds(), failure: error instanceof Error ? error.stack! : String(error) };
  }
}

process.on("message", (task: Task) => {
  void answerTo(task).then((answer) => process.send!(answer));
});
process.on("disconnect", () => process.exit());
