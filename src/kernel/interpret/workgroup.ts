/** Runs one workgroup: its items in lock step from one barrier or subgroup operation to the next. */
import type { KernelIR, SubgroupOp } from "../ir.ts";
import { type BinaryFunction, binaryOperator, rounding } from "./arithmetic.ts";
import { describeItem, faultError } from "./faults.ts";
import type { Item } from "./item.ts";
import { runStatement, type CollectiveStmt, type Completion, setLocal, type CompiledStmt } from "./statements.ts";

type Running = Generator<CollectiveStmt, Completion, void>;

/** Runs the items of a workgroup from barrier to barrier. */
export function runGroup(ir: KernelIR, body: CompiledStmt, items: readonly Item[]): void {
  const running = items.map((item) => runStatement(body, item));
  for (;;) {
    const waiting = running.map((it) => resume(it));
    const at = sameCollective(ir, items, waiting);
    if (at === undefined) return;
    if (at.kind === "subgroup") exchange(ir, items, at);
    else {
      items[0].group.epoch++;
      if (at.fetches !== undefined) for (const item of items) arrive(item, at.fetches);
    }
  }
}

/** Ends the item's present group of asynchronous copies, and lets all groups but the newest `pending` arrive. */
function arrive(item: Item, pending: number): void {
  const groups = item.fetches.length;
  for (const group of item.fetches.splice(0, Math.max(0, groups - pending)))
    for (const { array, index, values } of group) array.arrive(index, values);
  item.fetches.push([]);
}

function resume(running: Running): CollectiveStmt | undefined {
  const { done, value } = running.next();
  return done ? undefined : value;
}

/** Returns the statement at which all items wait; undefined when all items have ended. */
function sameCollective(
  ir: KernelIR,
  items: readonly Item[],
  waiting: readonly (CollectiveStmt | undefined)[],
): CollectiveStmt | undefined {
  const at = waiting.find((stmt) => stmt !== undefined);
  const absent = waiting.findIndex((stmt) => stmt !== at);
  if (at === undefined || absent === -1) return at;
  const here = items[waiting.indexOf(at)];
  const what = at.kind === "barrier" ? "a barrier" : "a subgroup operation";
  const other = waiting[absent] === undefined ? "has ended" : `waits at line ${waiting[absent].place.line}`;
  throw faultError(
    ir,
    at.place,
    here,
    `waits at ${what} while ${describeItem(items[absent])} ${other}; every item of a workgroup must reach it, ` +
      "so keep it out of branches and loops that depend on the item",
  );
}

/** Gives each item its result of a subgroup operation. Values come only from items of its own subgroup. */
function exchange(ir: KernelIR, items: readonly Item[], stmt: Extract<CollectiveStmt, { kind: "subgroup" }>): void {
  const size = items[0].place.subgroupSize;
  const offered = items.map((item) => item.offered);
  const reduce = reduction(ir, stmt);
  items.forEach((item, local) => {
    const lane = item.place.subgroupLane;
    const first = local - lane;
    const lanes = offered.slice(first, first + size);
    const own = lanes[lane];
    setLocal(
      item,
      stmt.result,
      reduce === undefined ? (lanes[sourceLane(stmt, lane, item.operand)] ?? own) : lanes.reduce(reduce),
    );
  });
}

/** Returns the source lane of an exchange. If it is outside the item's own `width` lanes, it is the item's own lane. */
function sourceLane(
  { op, width }: Extract<CollectiveStmt, { kind: "subgroup" }>,
  lane: number,
  operand: number,
): number {
  const source = laneOf(op, lane, operand);
  return width === undefined || (source ^ lane) >>> 0 < width ? source : lane;
}

function laneOf(op: SubgroupOp, lane: number, operand: number): number {
  if (op === "shuffleUp") return lane - operand;
  if (op === "shuffleDown") return lane + operand;
  if (op === "shuffleXor") return lane ^ operand;
  return operand;
}

function reduction(
  ir: KernelIR,
  { op, value }: Extract<CollectiveStmt, { kind: "subgroup" }>,
): BinaryFunction | undefined {
  if (op !== "add" && op !== "min" && op !== "max") return undefined;
  const combine = binaryOperator(op, value.type, rounding(ir.precision));
  return (a, b) => combine(a, b); // Array.prototype.reduce passes more than two arguments
}
