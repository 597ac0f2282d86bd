/** The command with a pricer that hears no signal, and says so when it begins. */
import { runFromShell } from "../../src/cli/main.ts";
import { fakeEngine } from "./fake-engine.ts";

const { open } = fakeEngine();
await runFromShell(async (options) => ({
  ...(await open(options)),
  async *priceTrades() {
    yield [];
    process.stderr.write("stuck\n");
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  },
}));
