/** The GPUs that the driver shows. CUDA_VISIBLE_DEVICES chooses and orders them. */
import { deviceAttribute } from "./ffi/driver-devices.ts";
import { type Driver, throwUnavailable } from "./driver.ts";

/** A GPU as the driver describes it. @stable */
export interface CudaDeviceInfo {
  /** The index that `openDevice({ backend: "cuda", device })` takes. */
  readonly index: number;
  readonly name: string;
  readonly memoryBytes: number;
  readonly computeCapability: { readonly major: number; readonly minor: number };
  readonly multiprocessors: number;
  readonly threadsPerMultiprocessor: number;
  readonly maxGroupSize: number;
  readonly maxWorkgroupBytes: number;
  /** The ratio of f32 to f64 throughput: 2 on compute GPUs, 32 or 64 on others. */
  readonly singleToDoubleRatio: number;
}

const NAME_BYTES = 256;

/** Returns a description of each of a driver's devices. @throws DeviceUnavailableError */
export function listDevices(driver: Driver): CudaDeviceInfo[] {
  const count = driver.int("cuDeviceGetCount", (to) => driver.calls.cuDeviceGetCount(to));
  return Array.from({ length: count }, (_, index) => describe(driver, index));
}

/** Returns the driver's handle of a device. */
export const deviceHandle = (driver: Driver, index: number): number =>
  driver.int("cuDeviceGet", (to) => driver.calls.cuDeviceGet(to, index));

function describe(driver: Driver, index: number): CudaDeviceInfo {
  const { calls } = driver;
  const device = deviceHandle(driver, index);
  const attribute = (which: keyof typeof deviceAttribute): number =>
    driver.int(`cuDeviceGetAttribute, ${which}`, (to) =>
      calls.cuDeviceGetAttribute(to, deviceAttribute[which], device),
    );
  return {
    index,
    name: nameOf(driver, device),
    memoryBytes: driver.word("cuDeviceTotalMem", (to) => calls.cuDeviceTotalMem_v2(to, device)),
    computeCapability: {
      major: attribute("computeCapabilityMajor"),
      minor: attribute("computeCapabilityMinor"),
    },
    multiprocessors: attribute("multiprocessors"),
    threadsPerMultiprocessor: attribute("maxThreadsPerMultiprocessor"),
    maxGroupSize: attribute("maxThreadsPerBlock"),
    maxWorkgroupBytes: attribute("maxSharedMemoryPerBlock"),
    singleToDoubleRatio: attribute("singleToDoubleRatio"),
  };
}

function nameOf({ calls }: Driver, device: number): string {
  const text = new Uint8Array(NAME_BYTES);
  const status = calls.cuDeviceGetName(text, NAME_BYTES, device);
  if (status !== 0) throwUnavailable("cuDeviceGetName", status);
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0)));
}
