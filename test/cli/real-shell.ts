/** What `bin/feynkac.js` runs, from the sources. */
import { runFromShell } from "../../src/cli/main.ts";

await runFromShell();
