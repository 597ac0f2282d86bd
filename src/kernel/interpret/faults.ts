/** The interpreter's error messages: which kernel and work item, where in the source, what happened, and what to do. */
import { KernelRuntimeError } from "../../base/errors.ts";
import type { KernelIR, Place } from "../ir.ts";
import type { Item } from "./item.ts";

function excerpt(ir: KernelIR, place: Place): string {
  const source = ir.sources[place.source];
  if (source === undefined) return `    line ${place.line}`;
  const text = source.text.split("\n")[place.line - 1]?.trim() ?? "";
  const declared = source.declared();
  const site = declared === undefined ? "" : ` (declared at ${declared})`;
  return `    at ${source.name}, line ${place.line}${site}\n      ${text}`;
}

/** Returns a description of a work item for messages: its number, its workgroup, and its number in the workgroup. */
export function describeItem(item: Item): string {
  return `item ${item.place.globalId} (group ${item.place.groupId}, local ${item.place.localId})`;
}

/**
 * Returns the error for a fault of a work item at a position in the source. `what` continues the sentence that begins
 * with the work item, for example "reads u[5] (length 5)".
 */
export function faultError(ir: KernelIR, place: Place, item: Item, what: string): KernelRuntimeError {
  return new KernelRuntimeError(`kernel "${ir.name}": ${describeItem(item)} ${what}\n${excerpt(ir, place)}`);
}
