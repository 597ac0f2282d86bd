/** Scripts of structured products: their language, its analysis, and the library. docs/scripts.md is the guide. */
export type { DataKind, DataKinds, EventInput, ScriptDate, ScriptInput, StateInput } from "./input.ts";
export { ALIVE, letters, PAID } from "./names.ts";
export {
  type CheckedScript,
  checkScript,
  compileScript,
  type DatedColumn,
  type Program,
  type ProgramEvent,
  type ProgramState,
} from "./program.ts";
export type { PaySite, ScriptMistake } from "./scope.ts";
export { dateText } from "./emit.ts";
export type { Conversion, PaidRate } from "./scope.ts";
export { type Expression, partsOf, type Statement } from "./tree.ts";
export { type EventWords, script, type TypedScript } from "./typed.ts";
export { library } from "./library/index.ts";
