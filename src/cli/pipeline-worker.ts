/** A thread of `feynkac price`, which starts with the code that V8 has made of the command line for such threads. */
import { fileURLToPath } from "node:url";
import { loadFor } from "./start.ts";

const { program, keep } = loadFor("a pipeline's thread", fileURLToPath(new URL("../cli/main.cjs", import.meta.url)));
void program.servePipeline(keep);
