/** The CUDA emulator itself: kernels against closed forms, and the driver's behaviour that the back end relies on. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildCudaEmulator } from "../../tools/cuda-emulator/index.ts";
import {
  CAPTURE_INVALIDATED,
  CAPTURE_UNJOINED,
  CAPTURE_UNSUPPORTED,
  CAPTURED_EVENT,
  ILLEGAL_ADDRESS,
  INVALID_VALUE,
  LAUNCH_FAILED,
  NO_BINARY_FOR_GPU,
  NOT_READY,
  openEmulatedGpu,
  OUT_OF_MEMORY,
  SUCCESS,
} from "./cuda-emulator-gpu.ts";
import { cooperativeKernels, plainKernels } from "./cuda-emulator-kernels.ts";

const opened = await openEmulatedGpu();
const doubles = (n: number, of: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => of(i));
const integers = (n: number, of: (i: number) => number) => Int32Array.from({ length: n }, (_, i) => of(i));
const NON_BLOCKING = 1;
/** Machines without the instruction never contract. */
const hasFma =
  process.arch === "arm64" || (existsSync("/proc/cpuinfo") && / fma /.test(readFileSync("/proc/cpuinfo", "utf8")));

describe.skipIf(opened === undefined)("CUDA emulator", () => {
  const gpu = opened!;
  const { control } = gpu ?? {};

  beforeEach(() => gpu.open());
  afterEach(() => {
    expect(gpu.close()).toBe(SUCCESS);
    control.reset();
    expect(control.live).toMatchObject({
      contexts: 0,
      allocations: 0,
      bytes: 0,
      pinned: 0,
      streams: 0,
      events: 0,
      modules: 0,
    });
  });
  afterAll(() => control.reset());

  describe("kernels", () => {
    test("saxpy, with a last block that is not full", () => {
      const n = 1001;
      const [x, y] = [gpu.upload(doubles(n, (i) => i)), gpu.upload(doubles(n, () => 1))];
      const saxpy = gpu.load(plainKernels)("saxpy");
      gpu.launch(saxpy, { grid: [8], block: [128] }, [x, y, Float64Array.of(2), Uint32Array.of(n)]);
      expect(gpu.download(new Float64Array(n), y)).toEqual(doubles(n, (i) => 2 * i + 1));
    });

    test("three-dimensional grids and blocks", () => {
      const out = gpu.allocate(24 * 24 * 4);
      gpu.launch(gpu.load(plainKernels)("indices"), { grid: [2, 3, 4], block: [4, 3, 2] }, [out]);
      const expected = integers(24 * 24, (i) => Math.floor(i / 24) * 1000 + (i % 24));
      expect(gpu.download(new Int32Array(24 * 24), out)).toEqual(expected);
    });

    test("sums of blocks in shared memory", () => {
      const n = 1000;
      const [x, out] = [gpu.upload(doubles(n, (i) => i)), gpu.allocate(4 * 8)];
      gpu.launch(gpu.load(cooperativeKernels)("blockSum"), { grid: [4], block: [256] }, [x, out, Int32Array.of(n)]);
      const sum = (from: number, to: number) => ((to - from) * (from + to - 1)) / 2;
      const expected = Float64Array.of(sum(0, 256), sum(256, 512), sum(512, 768), sum(768, 1000));
      expect(gpu.download(new Float64Array(4), out)).toEqual(expected);
    });

    test("dynamic shared memory, beyond 48 KiB only when asked for", () => {
      const reverse = gpu.load(cooperativeKernels)("dynamicReverse");
      const x = gpu.upload(doubles(1024, (i) => i));
      expect(gpu.launch(reverse, { grid: [1], block: [1024], shared: 100_000 }, [x])).toBe(INVALID_VALUE);
      gpu.do("cuFuncSetAttribute", reverse, 8, 100_000);
      expect(gpu.launch(reverse, { grid: [1], block: [1024], shared: 100_000 }, [x])).toBe(SUCCESS);
      expect(gpu.download(new Float64Array(1024), x)).toEqual(doubles(1024, (i) => 1023 - i));
    });

    test("a scan by shuffles in a warp and a half", () => {
      const [x, out] = [gpu.upload(integers(48, (i) => i + 1)), gpu.allocate(48 * 4)];
      gpu.launch(gpu.load(cooperativeKernels)("warpScan"), { grid: [1], block: [48] }, [x, out]);
      const triangle = (n: number) => (n * (n + 1)) / 2;
      const expected = integers(48, (i) => triangle(i + 1) - (i < 32 ? 0 : triangle(32)));
      expect(gpu.download(new Int32Array(48), out)).toEqual(expected);
    });

    test("every shuffle in every width, votes and reductions", () => {
      const out = gpu.allocate(6 * 32 * 9 * 4);
      gpu.launch(gpu.load(cooperativeKernels)("shuffles"), { grid: [1], block: [32] }, [out]);
      expect(gpu.download(new Int32Array(6 * 32 * 9), out)).toEqual(expectedShuffles());
    });

    test("lanes that have left do not hold up the others", () => {
      const out = gpu.allocate(32 * 4);
      gpu.launch(gpu.load(cooperativeKernels)("partialMask"), { grid: [1], block: [32] }, [out]);
      const got = gpu.download(new Int32Array(32), out);
      expect(got).toEqual(integers(32, (i) => (i % 2 === 0 ? i ^ 2 : 4)));
    });

    test("a histogram by atomics", () => {
      const n = 10_000;
      const bins = gpu.upload(new Uint32Array(7));
      const values = gpu.upload(integers(n, (i) => i));
      const histogram = gpu.load(plainKernels)("histogram");
      gpu.launch(histogram, { grid: [79], block: [128] }, [values, bins, Int32Array.of(n), Int32Array.of(7)]);
      const expected = Uint32Array.from({ length: 7 }, (_, k) => Math.floor((n - 1 - k) / 7) + 1);
      expect(gpu.download(new Uint32Array(7), bins)).toEqual(expected);
    });

    test("a·a − b rounds twice without fmad", () => {
      const a = 1 + 2 ** -30;
      const [x, out] = [gpu.upload(Float64Array.of(a, a * a)), gpu.allocate(8)];
      gpu.launch(gpu.load(plainKernels)("contracted"), { grid: [1], block: [1] }, [x, out]);
      expect(gpu.download(new Float64Array(1), out)[0]).toBe(0);
    });

    test.skipIf(!hasFma)("and once with it", () => {
      const a = 1 + 2 ** -30;
      const [x, out] = [gpu.upload(Float64Array.of(a, a * a)), gpu.allocate(8)];
      gpu.launch(gpu.load(plainKernels, ["--fmad=true"])("contracted"), { grid: [1], block: [1] }, [x, out]);
      expect(gpu.download(new Float64Array(1), out)[0]).toBe(2 ** -60);
    });

    test("conversions saturate, and bits are what they are", () => {
      const x = Float64Array.of(1e10, -1e10, NaN, -2.75, 3.99, 4294967295, Infinity, 0.1);
      const [at, out] = [gpu.upload(x), gpu.allocate(8 * 16 * 4)];
      gpu.launch(gpu.load(plainKernels)("bits"), { grid: [1], block: [8] }, [at, out]);
      expect(gpu.download(new Int32Array(8 * 16), out)).toEqual(expectedBits(x));
    });

    test("half a megabyte of local memory a thread", () => {
      const out = gpu.allocate(4);
      gpu.launch(gpu.load(plainKernels)("largeLocal"), { grid: [1], block: [1] }, [out, Int32Array.of(60_000)]);
      expect(gpu.download(new Int32Array(1), out)[0]).toBe((60_000 * 59_999) / 2);
    });

    test("a missing barrier shows in another order of threads", () => {
      const races = gpu.load(cooperativeKernels)("races");
      const run = (order: string): Int32Array => {
        control.set("order", order);
        const out = gpu.allocate(64 * 4);
        gpu.launch(races, { grid: [1], block: [64] }, [out]);
        return gpu.download(new Int32Array(64), out);
      };
      expect(run("reverse").slice(0, 63)).toEqual(integers(63, (i) => i + 1));
      expect(run("forward")).not.toEqual(run("reverse"));
    });

    test("shared memory starts as NaN", () => {
      const out = gpu.allocate(4 * 8);
      gpu.launch(gpu.load(cooperativeKernels)("readsUninitialised"), { grid: [1], block: [4] }, [out]);
      expect([...gpu.download(new Float64Array(4), out)]).toEqual([NaN, NaN, NaN, NaN]);
    });
  });

  describe("faults", () => {
    test("a barrier that only half of the threads reach", () => {
      const out = gpu.allocate(32 * 4);
      gpu.launch(gpu.load(cooperativeKernels)("divergentBarrier"), { grid: [1], block: [32] }, [out]);
      expect(gpu.status("cuCtxSynchronize")).toBe(LAUNCH_FAILED);
      expect(control.lastFault).toMatch(
        /divergentBarrier.*16 threads at the barrier of line \d+, 16 threads at the warp/,
      );
    });

    test("two barriers in the branches of one condition", () => {
      const out = gpu.allocate(32 * 4);
      gpu.launch(gpu.load(cooperativeKernels)("twoBarriers"), { grid: [1], block: [32] }, [out]);
      expect(gpu.status("cuCtxSynchronize")).toBe(LAUNCH_FAILED);
      expect(control.lastFault).toMatch(/divergent barriers: some threads wait at line \d+, others at line \d+/);
    });

    test.each([100, -1, 1 << 20])("an access out of bounds, at %i, ends the context", (at) => {
      const out = gpu.allocate(100 * 8);
      const late = at === 100 ? 128 : at; // the bytes up to the alignment are watched, not protected
      gpu.launch(gpu.load(plainKernels)("beyond"), { grid: [1], block: [1] }, [out, Int32Array.of(late)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
      expect(gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 8)).toBe(ILLEGAL_ADDRESS);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
    });

    test("one element beyond the end is found at the latest when the context synchronises", () => {
      const out = gpu.allocate(100 * 8);
      gpu.launch(gpu.load(plainKernels)("beyond"), { grid: [1], block: [1] }, [out, Int32Array.of(100)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
      expect(control.lastFault).toMatch(/outside an allocation of 800 bytes/);
    });

    test("freed memory cannot be used", () => {
      const out = gpu.allocate(800);
      const beyond = gpu.load(plainKernels)("beyond");
      gpu.do("cuMemFree_v2", out);
      gpu.launch(beyond, { grid: [1], block: [1] }, [out, Int32Array.of(0)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
    });

    test("a planted fault; a new context works again", () => {
      const kernel = gpu.load(plainKernels)("has_planted_fault");
      gpu.launch(kernel, { grid: [1], block: [1] }, [gpu.allocate(8)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
      expect(gpu.close()).toBe(SUCCESS);
      gpu.open();
      expect(gpu.status("cuCtxSynchronize")).toBe(SUCCESS);
    });

    test("on request a fault ends every context of the process, as real drivers do", () => {
      control.set("fault_scope", "process");
      gpu.launch(gpu.load(plainKernels)("has_planted_fault"), { grid: [1], block: [1] }, [gpu.allocate(8)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(ILLEGAL_ADDRESS);
      expect(gpu.close()).toBe(SUCCESS);
      expect(gpu.status("cuCtxCreate_v2", new BigUint64Array(1), 0, 0)).toBe(ILLEGAL_ADDRESS);
      control.reset();
      gpu.open();
    });

    test("an integer division by zero is reported, not survived by luck", () => {
      const divide = gpu.load(plainKernels)("divide");
      gpu.launch(divide, { grid: [1], block: [1] }, [gpu.allocate(4), Int32Array.of(1), Int32Array.of(0)]);
      expect(gpu.status("cuCtxSynchronize")).toBe(LAUNCH_FAILED);
      expect(control.lastFault).toMatch(/division by zero/);
    });
  });

  describe("compiler", () => {
    test("the sanitizer turns undefined behaviour into a fault", () => {
      control.set("sanitize", 1);
      const kernel = gpu.load('extern "C" __global__ void overflow(int* out, int a) { out[0] = a + a; }')("overflow");
      const run = (a: number): number => {
        gpu.launch(kernel, { grid: [1], block: [1] }, [gpu.allocate(4), Int32Array.of(a)]);
        return gpu.status("cuCtxSynchronize");
      };
      expect([run(2 ** 30 - 1), run(2 ** 30)]).toEqual([SUCCESS, LAUNCH_FAILED]);
      expect(control.lastFault).toMatch(/undefined behaviour/);
    });

    test("an error gives NVRTC's status and the line", () => {
      const { status, log } = gpu.compile('extern "C" __global__ void k(double* x) {\n  x[0] = y;\n}\n');
      expect(status).toBe(6);
      expect(log).toMatch(/kernels\.cu:2:\d+: error/);
    });

    test("an architecture that is not supported is an invalid option", () => {
      control.set("nvrtc_archs", "75,80");
      const { status, log } = gpu.compile(plainKernels);
      expect(status).toBe(5);
      expect(log).toMatch(/invalid value for --gpu-architecture/);
    });

    test("an image for another GPU does not load", () => {
      const { image } = gpu.compile(plainKernels, ["--gpu-architecture=sm_80"]);
      expect(gpu.status("cuModuleLoadData", new BigUint64Array(1), image)).toBe(NO_BINARY_FOR_GPU);
    });

    test("the same text is compiled once", () => {
      gpu.compile(plainKernels);
      const before = control.done;
      gpu.compile(plainKernels);
      expect(control.done.compiler_runs).toBe(before.compiler_runs);
      expect(control.done.cache_hits).toBe(before.cache_hits + 1);
    });
  });

  describe("streams", () => {
    const source = `extern "C" __global__ void twice(double* x, int n) { if ((int)threadIdx.x < n) x[threadIdx.x] *= 2.0; }`;

    test("work waits until something asks for it, and then until it has been asked often enough", () => {
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      const event = gpu.get("cuEventCreate", 2);
      const x = gpu.upload(Float64Array.of(1, 2, 3));
      gpu.launch(gpu.load(source)("twice"), { grid: [1], block: [32], stream }, [x, Int32Array.of(3)]);
      gpu.do("cuEventRecord", event, stream);
      expect(gpu.download(new Float64Array(3), x)).toEqual(Float64Array.of(1, 2, 3));
      const answers = [1, 2, 3, 4].map(() => gpu.status("cuEventQuery", event));
      expect(answers).toEqual([NOT_READY, NOT_READY, SUCCESS, SUCCESS]);
      expect(gpu.download(new Float64Array(3), x)).toEqual(Float64Array.of(2, 4, 6));
    });

    test("pinned memory is read when the copy runs, pageable memory at the call", () => {
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      const { address, view } = gpu.pinned(1);
      const [x, y] = [gpu.allocate(8), gpu.allocate(8)];
      const pageable = Float64Array.of(1);
      view[0] = 1;
      gpu.do("cuMemcpyHtoDAsync_v2", x, address, 8, stream);
      gpu.do("cuMemcpyHtoDAsync_v2", y, pageable, 8, stream);
      view[0] = pageable[0] = 2; // too early for the pinned one
      gpu.do("cuStreamSynchronize", stream);
      expect(gpu.download(new Float64Array(1), x)[0]).toBe(2);
      expect(gpu.download(new Float64Array(1), y)[0]).toBe(1);
    });

    test("an event orders two streams", () => {
      const [first, second] = [gpu.get("cuStreamCreate", NON_BLOCKING), gpu.get("cuStreamCreate", NON_BLOCKING)];
      const event = gpu.get("cuEventCreate", 2);
      const [x, y] = [gpu.upload(Float64Array.of(1)), gpu.allocate(8)];
      gpu.launch(gpu.load(source)("twice"), { grid: [1], block: [1], stream: first }, [x, Int32Array.of(1)]);
      gpu.do("cuEventRecord", event, first);
      gpu.do("cuStreamWaitEvent", second, event, 0);
      gpu.do("cuMemcpyDtoDAsync_v2", y, x, 8, second);
      gpu.do("cuStreamSynchronize", second);
      expect(gpu.download(new Float64Array(1), y)[0]).toBe(2);
    });

    test("the NULL stream waits for blocking streams", () => {
      const stream = gpu.get("cuStreamCreate", 0);
      const x = gpu.upload(Float64Array.of(1));
      gpu.launch(gpu.load(source)("twice"), { grid: [1], block: [1], stream }, [x, Int32Array.of(1)]);
      expect(gpu.download(new Float64Array(1), x)[0]).toBe(2);
    });

    test("a captured graph replays with what its buffers then hold", () => {
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      const x = gpu.upload(Float64Array.of(1));
      const twice = gpu.load(source)("twice");
      const exec = captured(stream, () => {
        for (let k = 0; k < 3; k++) gpu.launch(twice, { grid: [1], block: [1], stream }, [x, Int32Array.of(1)]);
      });
      expect(gpu.download(new Float64Array(1), x)[0]).toBe(1); // capturing runs nothing
      const replay = (value: number): number => {
        gpu.do("cuMemcpyHtoD_v2", x, Float64Array.of(value), 8);
        gpu.do("cuGraphLaunch", exec, stream);
        gpu.do("cuStreamSynchronize", stream);
        return gpu.download(new Float64Array(1), x)[0];
      };
      expect([replay(1), replay(5)]).toEqual([8, 40]);
      gpu.do("cuGraphExecDestroy", exec);
      expect(control.live).toMatchObject({ graphs: 0, graph_execs: 0 });
    });

    /** Captures, instantiates, and destroys the graph, which the executable one outlives. */
    function captured(stream: bigint, record: () => void): bigint {
      gpu.do("cuStreamBeginCapture_v2", stream, 2);
      record();
      const graph = gpu.getLast("cuStreamEndCapture", stream);
      const exec = gpu.get("cuGraphInstantiateWithFlags", graph, 0);
      gpu.do("cuGraphDestroy", graph);
      return exec;
    }

    test("a branch must join the stream that is captured", () => {
      const [origin, branch] = [gpu.get("cuStreamCreate", NON_BLOCKING), gpu.get("cuStreamCreate", NON_BLOCKING)];
      const [fork, join] = [gpu.get("cuEventCreate", 2), gpu.get("cuEventCreate", 2)];
      const x = gpu.upload(Float64Array.of(1));
      const twice = gpu.load(source)("twice");
      const capture = (joined: boolean): number => {
        gpu.do("cuStreamBeginCapture_v2", origin, 2);
        gpu.do("cuEventRecord", fork, origin);
        gpu.do("cuStreamWaitEvent", branch, fork, 0);
        gpu.launch(twice, { grid: [1], block: [1], stream: branch }, [x, Int32Array.of(1)]);
        gpu.do("cuEventRecord", join, branch);
        if (joined) gpu.do("cuStreamWaitEvent", origin, join, 0);
        return gpu.status("cuStreamEndCapture", origin, new BigUint64Array(1));
      };
      expect([capture(false), capture(true)]).toEqual([CAPTURE_UNJOINED, SUCCESS]);
    });

    test("asking for a captured event spoils the capture", () => {
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      const event = gpu.get("cuEventCreate", 2);
      gpu.do("cuStreamBeginCapture_v2", stream, 2);
      gpu.do("cuEventRecord", event, stream);
      expect(gpu.status("cuEventQuery", event)).toBe(CAPTURED_EVENT);
      expect(gpu.status("cuStreamEndCapture", stream, new BigUint64Array(1))).toBe(CAPTURE_INVALIDATED);
    });

    test("waiting ends a capture", () => {
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      gpu.do("cuStreamBeginCapture_v2", stream, 0);
      expect(gpu.status("cuStreamSynchronize", stream)).toBe(CAPTURE_UNSUPPORTED);
      expect(gpu.status("cuStreamEndCapture", stream, new BigUint64Array(1))).toBe(CAPTURE_INVALIDATED);
    });
  });

  describe("memory", () => {
    test("is as large as it is said to be", () => {
      control.set("memory", 10_000);
      const x = gpu.allocate(6000);
      expect(gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 6000)).toBe(OUT_OF_MEMORY);
      gpu.do("cuMemFree_v2", x);
      expect(gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 6000)).toBe(SUCCESS);
    });

    test("runs out at the allocation that a test names", () => {
      control.set("oom_at", 2);
      const answers = [1, 2, 3].map(() => gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 8));
      expect(answers).toEqual([SUCCESS, OUT_OF_MEMORY, SUCCESS]);
    });

    test("is not zero at first, and more than 4 GiB cost nothing", () => {
      const large = gpu.allocate(6 * 2 ** 30);
      expect(gpu.download(new Float64Array(1), large)[0]).toBeNaN();
      const last = large + BigInt(6 * 2 ** 30 - 8);
      gpu.do("cuMemcpyHtoD_v2", last, Float64Array.of(7), 8);
      expect(gpu.download(new Float64Array(1), last)[0]).toBe(7);
    });

    test("copies and fills must stay inside", () => {
      const x = gpu.allocate(80);
      expect(gpu.status("cuMemcpyHtoD_v2", x, new Float64Array(11), 88)).toBe(INVALID_VALUE);
      expect(gpu.status("cuMemcpyHtoD_v2", x + 8n, new Float64Array(10), 80)).toBe(INVALID_VALUE);
      expect(gpu.status("cuMemsetD8_v2", x, 0, 81)).toBe(INVALID_VALUE);
      gpu.do("cuMemsetD32_v2", x, 0, 20);
      expect(gpu.download(new Float64Array(10), x)).toEqual(new Float64Array(10));
    });

    test("what a pool holds counts until it is trimmed", () => {
      control.set("memory", 10_000);
      const stream = gpu.get("cuStreamCreate", NON_BLOCKING);
      const pool = gpu.get("cuDeviceGetDefaultMemPool", 0);
      gpu.do("cuMemPoolSetAttribute", pool, 4, BigUint64Array.of(2n ** 64n - 1n));
      const x = gpu.get("cuMemAllocAsync", 6000, stream);
      gpu.do("cuMemFreeAsync", x, stream);
      gpu.do("cuStreamSynchronize", stream);
      expect(gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 6000)).toBe(OUT_OF_MEMORY);
      gpu.do("cuMemPoolTrimTo", pool, 0);
      expect(gpu.status("cuMemAlloc_v2", new BigUint64Array(1), 6000)).toBe(SUCCESS);
    });
  });

  test("a driver may lack functions", async () => {
    const old = await buildCudaEmulator({ without: ["cuMemAllocAsync"] });
    const { default: koffi } = await import("koffi");
    const library = koffi.load(old!.driver);
    expect(() => library.func("cuMemAllocAsync", "int", [])).toThrow(/cuMemAllocAsync/);
    expect(library.func("cuInit", "int", ["uint"])(0)).toBe(SUCCESS);
  });
});

/** By the definitions in the CUDA C++ Programming Guide, "Warp Shuffle Functions". */
function expectedShuffles(): Int32Array {
  const rows: number[] = [];
  for (let k = 0; k < 6; k++) {
    const width = 1 << k;
    for (let lane = 0; lane < 32; lane++) {
      const [start, own] = [lane - (lane % width), 100 + lane];
      const within = lane % width;
      rows.push(
        100 + start + (5 % width),
        100 + start + ((lane + 3) % width),
        within >= 3 ? own - 3 : own,
        within + 3 < width ? own + 3 : own,
        (lane ^ 5) < start + width ? 100 + (lane ^ 5) : own,
        (lane ^ 1) < start + width ? 100 + (lane ^ 1) : own,
        0b01001001001001001001001001001001,
        1,
        32 * 100 + (32 * 31) / 2,
      );
    }
  }
  return Int32Array.from(rows);
}

function expectedBits(x: Float64Array): Int32Array {
  const out: number[] = [];
  const words = new Int32Array(2);
  const view = new Float64Array(words.buffer);
  for (const value of x) {
    view[0] = value;
    const [lo, hi] = words;
    const same = Number.isNaN(value) ? 0 : 1;
    const clamp = (v: number, low: number, high: number) => Math.trunc(Math.min(Math.max(v, low), high));
    // Of NaN an H100 makes 0 in f32, but the highest bit in f64.
    const signed = (v: number, nan: number) => (Number.isNaN(v) ? nan : clamp(v, -(2 ** 31), 2 ** 31 - 1));
    const unsigned = (v: number, nan: number) => (Number.isNaN(v) ? nan : clamp(v, 0, 2 ** 32 - 1));
    const single = Math.fround(value);
    const wide = BigInt.asIntN(64, (BigInt(0x12345678) << 32n) | BigInt(hi >>> 0));
    const bits = (hi >>> 0).toString(2).padStart(32, "0").split("");
    out.push(
      signed(value, 2 ** 31),
      unsigned(value, 2 ** 31),
      signed(single, 0),
      unsigned(single, 0),
      hi,
      lo,
      same,
      Math.clz32(hi),
      bits.filter((bit) => bit === "1").length,
      hi === 0 ? 0 : 32 - bits.lastIndexOf("1"),
      Number.parseInt([...bits].reverse().join(""), 2),
      Number((BigInt(hi >>> 0) * 0x80000001n) >> 32n),
      Number((BigInt(hi) * 0x40000001n) >> 32n),
      Number((wide << 4n) >> 32n),
      Number(BigInt.asUintN(32, wide >> 4n)),
      same,
    );
  }
  return Int32Array.from(out, (v) => v | 0);
}
