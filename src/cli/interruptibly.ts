import { Script } from "node:vm";
import { SIGNAL_STATUS, Interruption, type InterruptingSignal } from "./failure.ts";

/** The name of the global function that the script calls, since a script has no other way to the program. */
const NAME = "feynkacInterruptible";
/** Compiled early: a signal between the event loop's last turn and the call, a millisecond, is lost. */
const CALL = new Script(`${NAME}()`);

/**
 * Runs a function that blocks the event loop, so that no listener could react to a signal. SIGINT ends the function
 * with an error, which is first passed to `onInterruption`. The other signals end the process, as they do by default,
 * because V8 can stop a function only for SIGINT.
 */
export function runInterruptibly<T>(work: () => T, onInterruption: (reason: Interruption) => void): T {
  const globals = globalThis as Record<string, unknown>;
  const outer = globals[NAME];
  globals[NAME] = work;
  const names = (Object.keys(SIGNAL_STATUS) as InterruptingSignal[]).filter((name) => name !== "SIGINT");
  const listeners = names.map((name) => [name, process.listeners(name)] as const);
  for (const name of names) process.removeAllListeners(name);
  try {
    return CALL.runInThisContext({ breakOnSigint: true }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_INTERRUPTED") throw error;
    const reason = new Interruption("SIGINT");
    onInterruption(reason);
    throw reason;
  } finally {
    globals[NAME] = outer;
    for (const [name, all] of listeners) for (const listener of all) process.on(name, listener);
  }
}
