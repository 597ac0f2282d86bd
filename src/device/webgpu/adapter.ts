import { DeviceUnavailableError } from "../../base/errors.ts";

/** The options with which a WebGPU adapter and its device are opened. */
export interface AdapterOptions {
  /** The WebGPU implementation; by default the browser's, or Dawn through the package `webgpu`. */
  readonly gpu?: GPU;
  readonly powerPreference?: GPUPowerPreference;
  /**
   * True to use the adapter's subgroups if it has them (the default). With false, workgroup memory takes their place.
   */
  readonly subgroups?: boolean;
}

/** A WebGPU adapter and the device that was opened on it. */
export interface OpenedAdapter {
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
}

/** Opens a WebGPU adapter and a device on it. */
export async function openAdapter(options: AdapterOptions): Promise<OpenedAdapter> {
  const powerPreference = options.powerPreference ?? "high-performance";
  const gpu = options.gpu ?? browserGpu();
  const adapter = await (gpu?.requestAdapter({ powerPreference }) ?? nodeAdapter(powerPreference));
  if (adapter === null) throw new DeviceUnavailableError(noAdapter());
  const requiredFeatures: GPUFeatureName[] =
    options.subgroups !== false && adapter.features.has("subgroups") ? ["subgroups"] : [];
  try {
    const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: largest(adapter.limits) });
    return { adapter, device };
  } catch (cause) {
    throw new DeviceUnavailableError(`WebGPU: the adapter "${adapterName(adapter)}" gives no device`, { cause });
  }
}

function browserGpu(): GPU | undefined {
  return typeof navigator === "undefined" ? undefined : (navigator as Partial<Navigator>).gpu;
}

/**
 * Dawn's instances in this process; the newest is in use. They are never released: Dawn's Node binding calls an
 * instance from scheduled callbacks without keeping it alive, so that collecting an instance ends in a crash or a
 * deadlock (webgpu 0.6.2). An instance that found no adapter will never find one; the next attempt uses a new instance,
 * because a driver may have been loaded since.
 */
const instances: GPU[] = [];
let instanceInUse: GPU | undefined;

async function nodeAdapter(powerPreference: GPUPowerPreference): Promise<GPUAdapter | null> {
  if (instanceInUse === undefined) instances.push((instanceInUse = await createInstance()));
  const adapter = await instanceInUse.requestAdapter({ powerPreference });
  if (adapter === null) instanceInUse = undefined;
  return adapter;
}

async function createInstance(): Promise<GPU> {
  if (typeof process === "undefined" || process.versions?.node === undefined) {
    throw new DeviceUnavailableError(
      "WebGPU: this browser has no navigator.gpu here; it needs a secure page (https or localhost)",
    );
  }
  if (!mayHaveVulkan()) throw new DeviceUnavailableError(noAdapter());
  try {
    // Not a literal, so that bundlers for browsers do not look for a package that only Node needs.
    const dawn = "webgpu";
    const { create } = (await import(/* @vite-ignore */ dawn)) as { create(options: string[]): GPU };
    return create([]);
  } catch (cause) {
    const missing = (cause as { code?: string }).code === "ERR_MODULE_NOT_FOUND";
    const what = missing
      ? "needs the optional package `webgpu`: npm install webgpu"
      : `cannot load its package: ${String(cause)}`;
    throw new DeviceUnavailableError(`WebGPU in Node ${what}`, { cause });
  }
}

/**
 * Tells whether Linux's dynamic linker finds Vulkan's loader, by the same search as Dawn. Without it Dawn has no GPU,
 * and writes an error about a missing file to standard error.
 */
function mayHaveVulkan(): boolean {
  if (process.platform !== "linux") return true;
  try {
    process.dlopen({ exports: {} }, "libvulkan.so.1");
    return true;
  } catch (error) {
    // What is found is no module of Node, which is another error.
    return !/cannot open shared object file|Error loading shared library/.test(String(error));
  }
}

function noAdapter(): string {
  return (
    "WebGPU: no adapter. Expected a GPU with a driver for Vulkan, Metal or Direct3D 12; " +
    "on Linux also the Vulkan loader, libvulkan.so.1 (Debian: apt install libvulkan1)"
  );
}

/**
 * Returns the limits to request. The default limits are those of the weakest devices, so the largest ones are requested
 * where that helps a kernel.
 */
function largest(limits: GPUSupportedLimits): Record<string, GPUSize64> {
  const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = limits;
  const { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupStorageSize } = limits;
  return {
    maxBufferSize,
    maxStorageBufferBindingSize,
    maxStorageBuffersPerShaderStage,
    maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupSizeX,
    maxComputeWorkgroupStorageSize,
    maxComputeWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
  };
}

/** Returns the name of an adapter for users. Browsers reveal less about it than Dawn, and some reveal nothing. */
export function adapterName({ info }: GPUAdapter): string {
  const names = [info.device, info.description].filter((name) => name !== "" && !name.startsWith("0x"));
  return names[0] ?? ([info.vendor, info.architecture].filter((name) => name !== "").join(" ") || "unnamed GPU");
}
