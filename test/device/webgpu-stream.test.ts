/** How launches are cut into submissions, on a made-up GPU with a clock of its own. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DispatchCommand } from "../../src/device/webgpu/commands.ts";
import { WorkgroupTime } from "../../src/device/webgpu/workgroup-time.ts";
import { Stream } from "../../src/device/webgpu/stream.ts";

interface Kernel {
  readonly workgroupTime: WorkgroupTime;
  /** What the GPU really takes for one group, in ms. */
  readonly cost: (group: number) => number;
}

interface Piece {
  readonly kernel: Kernel;
  readonly first: number;
  readonly groups: number;
}

/** Runs submissions one after the other; `run` advances the clock to the end of the next one. */
class MadeUpGpu {
  readonly submissions: Piece[][] = [];
  readonly durations: number[] = [];
  now = 0;
  #encoded: Piece[] = [];
  #args = new Uint32Array(0);
  #pending: { pieces: Piece[]; done: () => void }[] = [];
  #ends: (() => void)[] = [];

  readonly device = {
    limits: { maxComputeWorkgroupsPerDimension: 65_535 },
    createBuffer: () => ({ destroy() {} }),
    createBindGroup: () => ({}),
    createCommandEncoder: () => ({
      beginComputePass: () => this.#pass(),
      copyBufferToBuffer: () => {},
      finish: () => ({}),
    }),
    queue: {
      writeBuffer: (_: unknown, __: number, words: Uint32Array) => (this.#args = words.slice()),
      submit: () => this.#submit(),
      onSubmittedWorkDone: () => new Promise<void>((resolve) => this.#ends.push(resolve)),
    },
  };

  #pass() {
    let kernel: Kernel;
    let offset = 0;
    return {
      setPipeline: (pipeline: unknown) => (kernel = pipeline as Kernel),
      setBindGroup: (index: number, _: unknown, offsets?: number[]) => void (index === 0 && (offset = offsets![0])),
      dispatchWorkgroups: (x: number, y: number) => this.#encoded.push({ kernel, first: offset, groups: x * y }),
      end: () => {},
    };
  }

  #submit(): void {
    const pieces = this.#encoded.map(({ kernel, first, groups }) => ({
      kernel,
      first: this.#args[first / 4 + 2],
      groups,
    }));
    this.#encoded = [];
    this.submissions.push(pieces);
    this.#pending.push({ pieces, done: () => this.#ends.shift()!() });
  }

  async run(): Promise<boolean> {
    const next = this.#pending.shift();
    if (next === undefined) return false;
    const duration = next.pieces.reduce((sum, piece) => sum + costOf(piece), 0.05);
    this.now += duration;
    this.durations.push(duration);
    next.done();
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }
}

function costOf({ kernel, first, groups }: Piece): number {
  let sum = 0;
  for (let group = first; group < first + groups; group++) sum += kernel.cost(group);
  return sum;
}

let gpu: MadeUpGpu;
let stream: Stream;
beforeEach(() => {
  gpu = new MadeUpGpu();
  vi.spyOn(performance, "now").mockImplementation(() => gpu.now);
  stream = new Stream(gpu.device as unknown as GPUDevice, {} as GPUBindGroupLayout);
});
afterEach(() => vi.restoreAllMocks());

const kernelOf = (cost: (group: number) => number): Kernel => ({ workgroupTime: new WorkgroupTime(), cost });

function launch(kernel: Kernel, groups: number): void {
  const pipeline = kernel as unknown as GPUComputePipeline;
  const words = new Uint32Array(8);
  stream.push({
    kind: "dispatch",
    pipeline,
    workgroupTime: kernel.workgroupTime,
    buffers: {} as GPUBindGroup,
    words,
    groups,
    next: 0,
  } satisfies DispatchCommand);
}

async function runAll(): Promise<void> {
  stream.push({ kind: "mark", submitted: () => {} });
  while (await gpu.run());
}

/** How often each group of a kernel ran. */
function visits(kernel: Kernel, groups: number): number[] {
  const counts = new Array<number>(groups).fill(0);
  for (const piece of gpu.submissions.flat().filter((one) => one.kernel === kernel)) {
    for (let group = piece.first; group < Math.min(groups, piece.first + piece.groups); group++) counts[group]++;
  }
  return counts;
}

describe("cutting launches into submissions", () => {
  test.for([0.0001, 0.01, 0.5])("of %f ms a group: each group once, no submission beyond 100 ms", async (cost) => {
    const kernel = kernelOf(() => cost);
    launch(kernel, 20_000);
    await runAll();
    expect(new Set(visits(kernel, 20_000))).toEqual(new Set([1]));
    expect(Math.max(...gpu.durations)).toBeLessThan(100);
  });

  test("a launch measured before goes out in pieces of about 50 ms", async () => {
    const kernel = kernelOf(() => 0.01);
    for (let i = 0; i < 2; i++) {
      launch(kernel, 20_000);
      await runAll();
    }
    const before = gpu.submissions.length;
    launch(kernel, 20_000); // 200 ms
    await runAll();
    expect(gpu.submissions.length - before).toBeLessThanOrEqual(6);
    expect(Math.max(...gpu.durations)).toBeLessThan(100);
  });

  test("groups that get ten times dearer on the way stay near the limit", async () => {
    const kernel = kernelOf((group) => 0.001 * (1 + group / 5000));
    launch(kernel, 50_000);
    await runAll();
    expect(new Set(visits(kernel, 50_000))).toEqual(new Set([1]));
    expect(Math.max(...gpu.durations)).toBeLessThan(150);
  });

  test("a time loop of small launches shares submissions", async () => {
    const kernel = kernelOf(() => 0.0001);
    launch(kernel, 10);
    await runAll();
    const before = gpu.submissions.length;
    for (let step = 0; step < 1000; step++) launch(kernel, 10);
    await runAll();
    expect(gpu.submissions.length - before).toBeLessThan(30);
  });

  test("more than 65,535 groups: full rectangles, until the last", async () => {
    const kernel = kernelOf(() => 1e-6);
    const groups = 300_001;
    for (let i = 0; i < 3; i++) {
      launch(kernel, groups);
      await runAll();
    }
    expect(new Set(visits(kernel, groups))).toEqual(new Set([3]));
  });

  test("while recording goes on, time that may be the program's own is not held against the kernel", async () => {
    const kernel = kernelOf(() => 0.001);
    launch(kernel, 64);
    gpu.now += 5000; // the program computes, and records more
    launch(kernel, 64);
    await runAll();
    expect(kernel.workgroupTime.predict(64)).toBeLessThan(1);
  });
});
