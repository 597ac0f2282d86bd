/** The driver itself, beside our device on it: a peer for copies, and what is left of the GPU's memory. */
import { median } from "../harness.ts";

type Call = (...args: readonly unknown[]) => number;

/** A function of the driver by its prototype. @throws Error a call fails */
async function loadDriver(): Promise<(prototype: string) => Call> {
  const name = "koffi";
  const { default: koffi } = (await import(name)) as { default: { load(path: string): { func(text: string): Call } } };
  const driver = koffi.load(process.env["FEYNKAC_CUDA_DRIVER"] ?? "libcuda.so.1");
  return (prototype) => {
    const found = driver.func(prototype);
    return (...args) => {
      const status = found(...args);
      if (status !== 0) throw new Error(`${prototype}: ${status}`);
      return status;
    };
  };
}

/**
 * Bytes of the GPU's memory that nobody has, in the context that is current on this thread. @throws Error a call failed
 */
export async function freeBytes(): Promise<number> {
  const call = await loadDriver();
  const [free, total] = [[0], [0]];
  call("int cuMemGetInfo_v2(_Out_ size_t *free, _Out_ size_t *total)")(free, total);
  return free[0];
}

/**
 * Bytes read and written a second by cuMemcpyDtoD, in the context that is current on this thread.
 * @throws Error a call failed
 */
export async function memcpyBytesPerSecond(bytes: number, repetitions: number): Promise<number> {
  const call = await loadDriver();
  const create = call("int cuEventCreate(_Out_ uint64_t *event, uint32_t flags)");
  const record = call("int cuEventRecord(uint64_t event, uint64_t stream)");
  const wait = call("int cuEventSynchronize(uint64_t event)");
  const elapsed = call("int cuEventElapsedTime(_Out_ float *ms, uint64_t start, uint64_t end)");
  const allocate = call("int cuMemAlloc_v2(_Out_ uint64_t *address, size_t bytes)");
  const free = call("int cuMemFree_v2(uint64_t address)");
  const copy = call("int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, uint64_t stream)");
  const made = (make: Call, ...rest: unknown[]): unknown => {
    const out = [0];
    make(out, ...rest);
    return out[0];
  };
  const [from, to, start, end] = [made(allocate, bytes), made(allocate, bytes), made(create, 0), made(create, 0)];
  const seconds: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    record(start, 0);
    copy(to, from, bytes, 0);
    record(end, 0);
    wait(end);
    const ms = [0];
    elapsed(ms, start, end);
    if (i > 0) seconds.push(ms[0] / 1e3);
  }
  free(from);
  free(to);
  return (2 * bytes) / median(seconds);
}
