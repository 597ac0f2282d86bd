/** A worker thread of `feynkac price`. It loads the command line from V8's code cache for such threads. */
import { fileURLToPath } from "node:url";
import { loadWithCodeCache } from "./start.ts";

const { program, keep } = loadWithCodeCache("a pipeline's thread", fileURLToPath(new URL("../cli", import.meta.url)));
void program.servePipeline(keep);
