/** Checks a launch's arguments against the kernel's declarations, with the same rules and messages on every device. */
import { ShapeError } from "../base/errors.ts";
import { hostReal, type KernelSignature, pairOf, type Precision, type ScalarType } from "../kernel/index.ts";
import type { Device, DeviceBuffer, LaunchArguments, LaunchSize } from "./device.ts";

/**
 * The largest number of work items of a launch. Items and workgroups are counted in i32, and the numbers of a chunk
 * beyond the last item must not overflow.
 */
const MAX_ITEMS = 2 ** 31 - 65_536;

/**
 * Returns the number of work items of a launch, or the number of workgroups for a cooperative kernel, whose work items
 * have barriers or share memory. @throws ShapeError (`items` and `groups` mixed up, or not a whole number)
 */
export function launchCount({ name, groupSize, cooperative }: KernelSignature, size: LaunchSize): number {
  const unit = cooperative ? "groups" : "items";
  const count = (size as Partial<Record<string, number>>)[unit];
  const got = (): string => JSON.stringify(size);
  if (count === undefined) {
    const why = cooperative ? "its items work together in groups" : "it has no barriers or shared arrays";
    throw new ShapeError(`${name}: launched with ${got()}, expected { ${unit} }, because ${why}`);
  }
  const max = cooperative ? Math.floor(MAX_ITEMS / groupSize) : MAX_ITEMS;
  if (!Number.isInteger(count) || count < 0 || count > max) {
    throw new ShapeError(`${name}: launched with ${got()}, expected a whole number of ${unit} from 0 to ${max}`);
  }
  return count;
}

/** A buffer of the class that a back end itself implements, whose disposal it can check. */
export interface UsableBuffer extends DeviceBuffer {
  /** Checks that the buffer is not disposed. @throws DisposedError */
  assertUsable(who: string): void;
}

/**
 * Returns the buffers among a launch's arguments, in the order of the kernel's buffer parameters. @throws ShapeError |
 * DisposedError
 */
export function launchBuffers<B extends UsableBuffer>(
  device: Device,
  kind: abstract new (...args: never[]) => B,
  ir: KernelSignature,
  args: LaunchArguments,
): B[] {
  const buffers = ir.buffers.map((declared) => {
    const buffer: unknown = args[declared.name];
    const who = `${ir.name}: argument ${declared.name}`;
    if (!(buffer instanceof kind))
      throw new ShapeError(`${who}: got ${shown(buffer)}, expected a buffer of this device`);
    if (buffer.device !== device) throw new ShapeError(`${who}: a buffer of another device`);
    const element = declared.element === "real" ? hostReal(ir.precision) : declared.element;
    if (buffer.element !== element) throw new ShapeError(`${who}: a buffer of ${buffer.element}, expected ${element}`);
    buffer.assertUsable(who);
    return buffer;
  });
  rejectAliases(ir, buffers);
  return buffers;
}

/**
 * Rejects two buffer arguments that are the same if one is written. WebGPU forbids this, so kernels must not rely on it
 * elsewhere.
 */
function rejectAliases(ir: KernelSignature, buffers: readonly DeviceBuffer[]): void {
  for (const [i, buffer] of buffers.entries()) {
    const j = buffers.indexOf(buffer);
    const writes = [ir.buffers[i], ir.buffers[j]].some(({ access }) => access === "write");
    if (i === j || !writes) continue;
    const [a, b] = [ir.buffers[j].name, ir.buffers[i].name];
    throw new ShapeError(
      `${ir.name}: ${a} and ${b} are the same buffer, and one is written; pass one argument for both, or a copy`,
    );
  }
}

/**
 * Rejects arguments that the kernel does not declare. It is called after all declared arguments have been found.
 * @throws ShapeError
 */
export function rejectUnknown(ir: KernelSignature, args: LaunchArguments): void {
  const given = Object.keys(args);
  // None is missing, as the other checks have found; so an equal number means the same names.
  if (given.length === ir.scalars.length + ir.buffers.length) return;
  const known = [...ir.scalars, ...ir.buffers].map(({ name }) => name);
  const unknown = given.find((name) => !known.includes(name));
  throw new ShapeError(`${ir.name}: unknown argument ${unknown}, expected ${known.join(", ") || "none"}`);
}

const RANGES = { i32: [-(2 ** 31), 2 ** 31 - 1], u32: [0, 2 ** 32 - 1] } as const;

/**
 * Writes the scalar argument of a parameter at byte `at` of a memory block, in the kernel's precision and
 * little-endian. A bool becomes 0 or 1; a real in f32x2 becomes two f32. @throws ShapeError
 */
export function setScalar(
  view: DataView,
  at: number,
  ir: KernelSignature,
  { name, type }: { readonly name: string; readonly type: ScalarType },
  args: LaunchArguments,
): void {
  const value = args[name];
  const wanted = type === "bool" ? "boolean" : "number";
  const bad = (expected: string): ShapeError =>
    new ShapeError(`${ir.name}: argument ${name}: got ${shown(value)}, expected ${expected}`);
  if (typeof value !== wanted) throw bad(`a ${wanted}`);
  const number = Number(value);
  if (type === "bool") return view.setInt32(at, number, true);
  if (type === "real") return setReal(view, at, ir.precision, number);
  const [min, max] = RANGES[type];
  if (!Number.isInteger(number) || number < min || number > max) throw bad(`a whole number from ${min} to ${max}`);
  view.setUint32(at, number, true); // modulo 2³², which for a negative i32 is its bits
}

function setReal(view: DataView, at: number, precision: Precision, value: number): void {
  if (precision === "f64") return view.setFloat64(at, value, true);
  const [high, low] = pairOf(value);
  view.setFloat32(at, high, true);
  if (precision === "f32x2") view.setFloat32(at + 4, low, true);
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a value of type ${typeof value}`;
}
