/** The places of the CUDA driver's library: it comes with the driver, never with the toolkit. */
import { inNode } from "../../node.ts";
import { distinctPaths, type Host, pathOn, thisHost } from "../../host.ts";

const UNIX_DIRECTORIES = [
  "/usr/lib/wsl/lib", // Windows Subsystem for Linux: not always in the loader's cache
  "/run/opengl-driver/lib", // NixOS
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib64",
  "/usr/lib64/nvidia",
  "/usr/lib",
  "/usr/lib/nvidia",
  "/usr/local/nvidia/lib64", // Kubernetes device plugins of some clouds
  "/home/kubernetes/bin/nvidia/lib64",
  "/usr/lib/aarch64-linux-gnu/nvidia", // Jetson
  "/usr/lib/aarch64-linux-gnu/tegra",
];

/**
 * Returns the driver's paths to try, in order. On Linux the bare name comes first, which the loader finds through
 * LD_LIBRARY_PATH and its cache at no cost; existing files follow.
 */
export function driverPaths(host: Host, given = host.environment["FEYNKAC_CUDA_DRIVER"]): string[] {
  if (given !== undefined && given !== "") return [given];
  if (host.platform === "win32") {
    const system = pathOn(host, host.environment["SystemRoot"] ?? "C:\\Windows", "System32", "nvcuda.dll");
    return distinctPaths([system]).filter((path) => host.exists(path));
  }
  if (host.platform !== "linux") return [];
  const files = UNIX_DIRECTORIES.map((directory) => `${directory}/libcuda.so.1`);
  return ["libcuda.so.1", ...files.filter((path) => host.exists(path))];
}

const DEVICE_NODES = ["/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvmap", "/dev/nvhost-gpu"];

/**
 * Tells whether the machine may have a usable GPU: a device node (NVIDIA's, WSL's, Jetson's), or a driver given by
 * name. It costs microseconds, where loading koffi takes milliseconds.
 */
export function mayHaveGpu(host: Host, given = host.environment["FEYNKAC_CUDA_DRIVER"]): boolean {
  if (given !== undefined && given !== "") return host.exists(given) || !/[\\/]/.test(given);
  if (host.platform === "win32") return driverPaths(host).length > 0;
  return host.platform === "linux" && DEVICE_NODES.some((path) => host.exists(path));
}

/** Tells whether this machine may have a usable GPU (`mayHaveGpu`); false in a browser. */
export const cudaMayBeHere = (): boolean => inNode() && mayHaveGpu(thisHost());
