import { Script } from "node:vm";
import { INTERRUPTING, Interruption, type InterruptingSignal } from "./failure.ts";

/** The name of the global function that the script calls, since a script has no other way to the program. */
const NAME = "feynkacInterruptible";
const CALL = `${NAME}()`;

/**
 * Calls a function that does not let the event loop run, so that no listener would hear a signal. SIGINT ends the
 * function with an error, which `interrupted` gets first. The other signals end the process as they do by default; only
 * V8 could stop the function for them as well, and it does so for SIGINT alone.
 */
export function interruptibly<T>(work: () => T, interrupted: (reason: Interruption) => void): T {
  const names = (Object.keys(INTERRUPTING) as InterruptingSignal[]).filter((name) => name !== "SIGINT");
  const listeners = names.map((name) => [name, process.listeners(name)] as const);
  for (const name of names) process.removeAllListeners(name);
  const globals = globalThis as Record<string, unknown>;
  const outer = globals[NAME];
  globals[NAME] = work;
  try {
    return new Script(CALL).runInThisContext({ breakOnSigint: true }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_INTERRUPTED") throw error;
    const reason = new Interruption("SIGINT");
    interrupted(reason);
    throw reason;
  } finally {
    globals[NAME] = outer;
    for (const [name, all] of listeners) for (const listener of all) process.on(name, listener);
  }
}
