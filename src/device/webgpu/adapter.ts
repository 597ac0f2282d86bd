import { DeviceUnavailableError } from "../../errors.ts";

export interface AdapterOptions {
  /** A WebGPU implementation other than the browser's, or than Dawn through the package `webgpu`. */
  readonly gpu?: GPU;
  readonly powerPreference?: GPUPowerPreference;
  /** Whether to use the adapter's subgroups where it has them (the default), or workgroup memory instead. */
  readonly subgroups?: boolean;
}

export interface OpenedAdapter {
  /** Held as long as the device: Dawn's Node binding must not lose its instance first. */
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
}

export async function openAdapter(options: AdapterOptions): Promise<OpenedAdapter> {
  const gpu = options.gpu ?? browserGpu() ?? (await nodeGpu());
  const adapter = await gpu.requestAdapter({ powerPreference: options.powerPreference ?? "high-performance" });
  if (adapter === null) throw new DeviceUnavailableError(noAdapter());
  const requiredFeatures: GPUFeatureName[] =
    options.subgroups !== false && adapter.features.has("subgroups") ? ["subgroups"] : [];
  try {
    const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: largest(adapter.limits) });
    return { gpu, adapter, device };
  } catch (cause) {
    throw new DeviceUnavailableError(`WebGPU: the adapter "${nameOf(adapter)}" gives no device`, { cause });
  }
}

function browserGpu(): GPU | undefined {
  return typeof navigator === "undefined" ? undefined : (navigator as Partial<Navigator>).gpu;
}

async function nodeGpu(): Promise<GPU> {
  if (typeof process === "undefined" || process.versions?.node === undefined) {
    throw new DeviceUnavailableError(
      "WebGPU: this browser has no navigator.gpu here; it needs a secure page (https or localhost)",
    );
  }
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

function noAdapter(): string {
  return (
    "WebGPU: no adapter. Expected a GPU with a driver for Vulkan, Metal or Direct3D 12; " +
    "on Linux also the Vulkan loader, libvulkan.so.1 (Debian: apt install libvulkan1)"
  );
}

/** The default limits serve the weakest devices; ask for all this one has, where more helps a kernel. */
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

/** What a person calls the adapter; browsers tell less than Dawn, and some nothing at all. */
export function nameOf({ info }: GPUAdapter): string {
  const names = [info.device, info.description].filter((name) => name !== "" && !name.startsWith("0x"));
  return names[0] ?? ([info.vendor, info.architecture].filter((name) => name !== "").join(" ") || "unnamed GPU");
}
