/** The status of a successful call. Statuses are the values of CUresult in cuda.h. */
export const CUDA_SUCCESS = 0;
/** The status of a call with an invalid argument. */
export const CUDA_ERROR_INVALID_VALUE = 1;
/** The status of a failed allocation. */
export const CUDA_ERROR_OUT_OF_MEMORY = 2;
/** The status of an event that is not complete yet. */
export const CUDA_ERROR_NOT_READY = 600;

/** The results by number: the name without CUDA_ERROR_, and what it means to whoever meets it. */
const results: Readonly<Record<number, readonly [name: string, meaning?: string]>> = {
  1: ["INVALID_VALUE", "an argument out of range"],
  2: ["OUT_OF_MEMORY", "not enough memory"],
  3: ["NOT_INITIALIZED", "the driver has not been initialised"],
  4: ["DEINITIALIZED", "the driver is shutting down"],
  34: ["STUB_LIBRARY", "this libcuda is the stub that comes with the toolkit, for linking only"],
  36: ["CALL_REQUIRES_NEWER_DRIVER", "the driver is too old"],
  46: ["DEVICE_UNAVAILABLE", "the GPU is in use by another process, in exclusive mode"],
  100: ["NO_DEVICE", "no NVIDIA GPU is visible"],
  101: ["INVALID_DEVICE", "no GPU with that number"],
  200: ["INVALID_IMAGE", "the compiled kernel cannot be loaded"],
  201: ["INVALID_CONTEXT"],
  209: ["NO_BINARY_FOR_GPU", "the kernel was compiled for another GPU"],
  214: ["ECC_UNCORRECTABLE", "the GPU's memory is damaged"],
  218: ["INVALID_PTX"],
  220: ["NVLINK_UNCORRECTABLE"],
  221: ["JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler (libnvidia-ptxjitcompiler) is not installed"],
  222: ["UNSUPPORTED_PTX_VERSION", "NVRTC is newer than the driver"],
  226: ["CONTAINED"],
  304: ["OPERATING_SYSTEM", "the operating system refused"],
  400: ["INVALID_HANDLE"],
  500: ["NOT_FOUND"],
  600: ["NOT_READY"],
  700: ["ILLEGAL_ADDRESS", "a kernel read or wrote memory that is not there"],
  701: ["LAUNCH_OUT_OF_RESOURCES", "a group needs more registers or shared memory than there are"],
  702: ["LAUNCH_TIMEOUT", "a kernel ran longer than this display's GPU allows"],
  709: ["CONTEXT_IS_DESTROYED"],
  710: ["ASSERT", "an assertion in a kernel failed"],
  714: ["HARDWARE_STACK_ERROR", "a kernel's stack overflowed"],
  715: ["ILLEGAL_INSTRUCTION"],
  716: ["MISALIGNED_ADDRESS", "a kernel read or wrote at a misaligned address"],
  717: ["INVALID_ADDRESS_SPACE"],
  718: ["INVALID_PC"],
  719: ["LAUNCH_FAILED", "a kernel failed"],
  800: ["NOT_PERMITTED"],
  801: ["NOT_SUPPORTED"],
  802: ["SYSTEM_NOT_READY", "the system is not ready yet (with NVSwitch: is nvidia-fabricmanager running?)"],
  803: ["SYSTEM_DRIVER_MISMATCH", "the loaded kernel module is of another version than libcuda"],
  804: ["COMPAT_NOT_SUPPORTED_ON_DEVICE", "the forward-compatibility libcuda does not serve this GPU"],
  805: ["MPS_CONNECTION_FAILED", "the multi-process server does not answer"],
  900: ["STREAM_CAPTURE_UNSUPPORTED"],
  901: ["STREAM_CAPTURE_INVALIDATED"],
  912: ["INVALID_CLUSTER_SIZE"],
  999: ["UNKNOWN", "an unknown error, such as of a driver that did not survive a suspend"],
};

/** Returns a description of a status: "a kernel read or wrote memory that is not there (CUDA_ERROR_ILLEGAL_ADDRESS)" */
export function describeResult(status: number): string {
  const [name, meaning] = results[status] ?? [String(status)];
  const full = /^\d/.test(name) ? `CUresult ${name}` : `CUDA_ERROR_${name}`;
  return meaning === undefined ? full : `${meaning} (${full})`;
}
