// npm run test:device [-- --devices cpu,cuda,webgpu] [--quick] [--output FILE]; --help says more
import { messageOf } from "./devices.ts";
import { parseOptions, USAGE } from "./options.ts";
import { FAMILIES, runSuite } from "./suite.ts";

const output = {
  line: (text: string): void => console.log(text),
  progress: (text: string): void => console.error(text),
};

/** @returns the exit code */
async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2), Object.keys(FAMILIES));
  if (options !== "help") return runSuite(options, output);
  console.log(USAGE);
  return 0;
}

try {
  // A device that hangs must not keep the process.
  process.exit(await main());
} catch (error) {
  console.error(`${messageOf(error)}\n\n${USAGE}`);
  process.exit(2);
}
