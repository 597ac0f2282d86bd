/**
 * Runs a kernel's body as the plain JavaScript it is, in f64: neither the front end nor the IR has a part in it.
 * Integers are not wrapped except where they are stored, so kernels that overflow in between give other results than in
 * the IR.
 */
import type { HostArray, LaunchSize } from "../../src/device/device.ts";
import { hostGpu } from "../../src/kernel/host-gpu.ts";
import type { Gpu } from "../../src/kernel/gpu.ts";
import type { Kernel, KernelBody } from "../../src/kernel/language.ts";
import type { Collective, Numbers } from "../../src/kernel/numbers.ts";

type Arguments = Readonly<Record<string, number | boolean | HostArray>>;

interface Offer {
  readonly collective: string;
  readonly value: number;
  readonly operand: number;
  readonly width: number;
}

interface GroupState {
  readonly shared: Numbers[];
}

export function runAsJavaScript(
  kernel: Pick<Kernel, "body" | "env" | "groupSize">,
  args: Arguments,
  size: LaunchSize,
  subgroupSize = 4,
): void {
  const items = "items" in size ? size.items : size.groups * kernel.groupSize;
  const groups = Math.ceil(items / kernel.groupSize);
  for (let group = 0; group < groups; group++) {
    const state: GroupState = { shared: [] };
    const first = group * kernel.groupSize;
    const count = Math.min(kernel.groupSize, items - first);
    const bodies = Array.from({ length: count }, (_, local) => {
      const gpu = gpuOf(state, { groupSize: kernel.groupSize, groups, group, local, subgroupSize });
      return kernel.body(args as never, gpu, kernel.env as never);
    });
    const running = bodies.filter((body): body is KernelBody => body !== undefined);
    if (running.length > 0) runInLockStep(running, subgroupSize);
  }
}

function runInLockStep(items: readonly KernelBody[], subgroupSize: number): void {
  let answers: number[] = [];
  for (;;) {
    const results = items.map((item, local) => item.next(answers[local]));
    if (results.every((result) => result.done)) return;
    if (results.some((result) => result.done)) throw new Error("part of the workgroup misses a barrier");
    answers = answer(
      results.map((result) => result.value as Collective | undefined),
      subgroupSize,
    );
  }
}

function answer(yielded: readonly (Collective | undefined)[], size: number): number[] {
  if (yielded[0] === undefined) return [];
  const offers = yielded as unknown as Offer[];
  return offers.map((offer, local) => {
    const first = local - (local % size);
    const values = offers.slice(first, first + size).map(({ value }) => value);
    return COLLECTIVES[offer.collective](values, local % size, offer.operand, offer.width);
  });
}

const within = (lane: number, source: number, width: number): number => ((source ^ lane) >>> 0 < width ? source : lane);

const COLLECTIVES: Record<string, (values: readonly number[], lane: number, operand: number, width: number) => number> =
  {
    awaitFetches: () => 0,
    shuffle: (values, lane, from) => values[from] ?? values[lane],
    subgroupBroadcast: (values, lane, from) => values[from] ?? values[lane],
    shuffleUp: (values, lane, distance, width) => values[within(lane, lane - distance, width)] ?? values[lane],
    shuffleDown: (values, lane, distance, width) => values[within(lane, lane + distance, width)] ?? values[lane],
    shuffleXor: (values, lane, mask) => values[lane ^ mask] ?? values[lane],
    subgroupAdd: (values) => values.reduce((a, b) => a + b),
    subgroupMin: (values) => Math.min(...values),
    subgroupMax: (values) => Math.max(...values),
  };

function gpuOf(
  state: GroupState,
  at: { groupSize: number; groups: number; group: number; local: number; subgroupSize: number },
): Gpu {
  let declared = 0;
  const shared =
    (Type: new (length: number) => Numbers) =>
    (length: number): Numbers<never> =>
      (state.shared[declared++] ??= new Type(length)) as Numbers<never>;
  const offer =
    (collective: string) =>
    (value: number, operand = 0, width = 128): Offer => ({ collective, value, operand, width });
  const offers = Object.fromEntries(Object.keys(COLLECTIVES).map((name) => [name, offer(name)]));
  return {
    ...hostGpu,
    ...offers,
    ...atomics,
    globalId: () => at.group * at.groupSize + at.local,
    localId: () => at.local,
    groupId: () => at.group,
    groupCount: () => at.groups,
    groupSize: () => at.groupSize,
    subgroupLane: () => at.local % at.subgroupSize,
    subgroupSize: () => at.subgroupSize,
    // At once; the interpreter finds who reads too early.
    fetch: (into, index, buffer, from, words) => {
      for (let k = 0; k < words; k++) into[index + k] = buffer[from + k];
    },
    sharedReal: shared(Float64Array),
    sharedI32: shared(Int32Array),
    sharedU32: shared(Uint32Array),
  };
}

const update =
  (next: (old: number, value: number, replacement: number) => number) =>
  (array: Numbers, index: number, value: number, replacement = 0): number => {
    const old = array[index];
    array[index] = next(old, value, replacement); // a typed array wraps
    return old;
  };

const atomics = {
  atomicAdd: update((old, x) => old + x),
  atomicMin: update((old, x) => Math.min(old, x)),
  atomicMax: update((old, x) => Math.max(old, x)),
  atomicAnd: update((old, x) => old & x),
  atomicOr: update((old, x) => old | x),
  atomicXor: update((old, x) => old ^ x),
  atomicExchange: update((_, x) => x),
  atomicCompareExchange: update((old, expected, x) => (old === expected ? x : old)),
  atomicLoad: (array: { readonly [index: number]: number }, index: number): number => array[index],
  atomicStore: (array: Numbers, index: number, value: number): void => {
    array[index] = value;
  },
};
