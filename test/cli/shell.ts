/** What `bin/feynkac.js` runs, from the sources and with the pricer's stand-in: for tests that start a process. */
import { runFromShell } from "../../src/cli/main.ts";
import { fakeEngine } from "./fake-engine.ts";

await runFromShell(fakeEngine().open);
