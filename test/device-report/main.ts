// npm run test:device [-- --devices cpu,cuda,webgpu] [--quick] [--output FILE]; --help says more
import { messageOf } from "./devices.ts";
import { parseOptions, type SuiteOptions, USAGE } from "./options.ts";
import { FAMILIES, runSuite } from "./suite.ts";

const output = {
  line: (text: string): void => console.log(text),
  progress: (text: string): void => console.error(text),
};

function options(): SuiteOptions | "help" | undefined {
  try {
    return parseOptions(process.argv.slice(2), Object.keys(FAMILIES));
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return undefined;
  }
}

const chosen = options();
if (chosen === "help") console.log(USAGE);
// A device that hangs must not keep the process.
else process.exit(chosen === undefined ? 2 : await runSuite(chosen, output));
