/**
 * The reference interpreter: runs a kernel's IR in plain JavaScript, one workgroup after the other, with exactly the
 * arithmetic that `ir.ts` prescribes. It is the oracle of every back end, and a debugger: see the checks below.
 */
import type { FixedArray, KernelIR } from "../ir.ts";
import {
  bindArguments,
  type HostNumbers,
  type InterpreterArguments,
  type InterpreterSize,
  itemCount,
  newArray,
} from "./arguments.ts";
import type { CompileScope } from "./expressions.ts";
import type { Group, Item } from "./item.ts";
import { CheckedArray } from "./memory.ts";
import { AccessHistory } from "./races.ts";
import { compileBlock, type CompiledStmt } from "./statements.ts";
import { runGroup } from "./workgroup.ts";

/** The options of the interpreter. */
export interface InterpreterOptions {
  /** The number of items per subgroup, 4 by default; results may depend on it. */
  readonly subgroupSize?: number;
  /** Enables the search for data races, true by default. It costs up to 80 bytes for each element. */
  readonly races?: boolean;
  /** The number of loop iterations after which a work item counts as endless, 10⁷ by default. */
  readonly maxIterations?: number;
}

interface Launch {
  readonly ir: KernelIR;
  readonly body: CompiledStmt;
  readonly groupCount: number;
  readonly options: Required<InterpreterOptions>;
}

/**
 * Interprets a kernel for a launch of the given size and changes the arrays among `args` in place.
 *
 * The interpreter detects the errors listed below. It reports the kernel, the line, the work item, and the array, index
 * and length.
 *
 * * An access is out of bounds.
 * * A local variable or an element of a private or workgroup array is read before it is written.
 * * Two work items of the launch have a data race.
 * * Only some work items of a workgroup reach a barrier or a subgroup operation.
 * * A loop does not end.
 *
 * @throws KernelRuntimeError (a check failed; the arrays hold what was stored until then)
 * @throws ShapeError (arguments, size)
 */
export function interpret(
  ir: KernelIR,
  args: InterpreterArguments,
  size: InterpreterSize,
  options: InterpreterOptions = {},
): void {
  const complete = { subgroupSize: 4, races: true, maxIterations: 1e7, ...options };
  const items = itemCount(ir, size);
  const { scalars, buffers } = bindArguments(ir, args);
  const scope: CompileScope = { ir, scalars, buffers: checkedBuffers(ir, buffers, complete.races) };
  const groupCount = Math.ceil(items / ir.groupSize);
  const launch: Launch = { ir, body: compileBlock(scope, ir.body), groupCount, options: complete };
  if (ir.cooperative) runGroups(launch);
  else runItems(launch, items);
}

/**
 * Makes the checked arrays of the buffers. A buffer passed under two names has one history, so that races between the
 * names are found.
 */
function checkedBuffers(ir: KernelIR, buffers: readonly HostNumbers[], races: boolean): CheckedArray[] {
  const histories = new Map<HostNumbers, AccessHistory>();
  return buffers.map((values, id) => {
    if (races && !histories.has(values)) histories.set(values, new AccessHistory(values.length));
    return new CheckedArray({
      name: ir.buffers[id].name,
      values,
      undefinedAtFirst: false,
      history: histories.get(values),
    });
  });
}

function runGroups(launch: Launch): void {
  const { ir, body, groupCount } = launch;
  for (let id = 0; id < groupCount; id++) {
    const group: Group = {
      id,
      epoch: 0,
      arrays: ir.workgroups.map((array) => fixedArray(launch, array, launch.options.races)),
    };
    const items = Array.from({ length: ir.groupSize }, (_, local) => newItem(launch, group, id * ir.groupSize + local));
    runGroup(ir, body, items);
  }
}

/**
 * Runs the work items of an ordinary kernel. None of them knows its workgroup, so each counts as a workgroup of its
 * own, which nothing orders with the others.
 */
function runItems(launch: Launch, items: number): void {
  const { body } = launch;
  if (body.waits) throw new TypeError("IR: a barrier or subgroup operation in a kernel that is not cooperative");
  for (let globalId = 0; globalId < items; globalId++) {
    body.run(newItem(launch, { id: globalId, epoch: 0, arrays: [] }, globalId));
  }
}

function newItem(launch: Launch, group: Group, globalId: number): Item {
  const { ir, groupCount, options } = launch;
  const localId = globalId % ir.groupSize;
  const { subgroupSize } = options;
  return {
    group,
    place: {
      globalId,
      localId,
      groupId: Math.floor(globalId / ir.groupSize),
      groupCount,
      subgroupLane: localId % subgroupSize,
      subgroupSize,
    },
    locals: new Float64Array(ir.locals.length),
    assigned: new Uint8Array(ir.locals.length),
    privates: ir.privates.map((array) => fixedArray(launch, array, false)),
    offered: 0,
    operand: 0,
    fetches: [[]],
    iterationsLeft: options.maxIterations,
  };
}

function fixedArray({ ir }: Launch, { name, element, length }: FixedArray, races: boolean): CheckedArray {
  const history = races ? new AccessHistory(length) : undefined;
  return new CheckedArray({ name, values: newArray(element, ir.precision, length), undefinedAtFirst: true, history });
}
