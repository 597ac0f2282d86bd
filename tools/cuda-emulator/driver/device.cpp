// Initialisation, errors' names, devices and their attributes.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "state.h"

namespace fkemu {

Driver& driver() {
  static Driver* state = new Driver;
  return *state;
}

std::recursive_mutex& driverLock() {
  static auto* lock = new std::recursive_mutex;
  return *lock;
}

int deviceCount() { return static_cast<int>(number("devices", 1)); }

namespace {

bool isDevice(CUdevice device) { return device >= 0 && device < deviceCount(); }

/** An H100's numbers, but for the few multiprocessors: more would only make launches larger. */
int attribute(CUdevice_attribute name, CUdevice device) {
  const int capability = static_cast<int>(number("compute", 90));
  switch (name) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 * 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 64 * 1024;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return static_cast<int>(number("multiprocessors", 4));
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return 1 + device;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2619000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 * 1024 * 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return capability % 10;
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 228 * 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: return 2;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 227 * 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return 32;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return static_cast<int>(number("memory_pools", 1));
    default: return 0;
  }
}

}  // namespace
}  // namespace fkemu

FK_API CUresult cuInit(unsigned int flags) {
  FK_LOCKED;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto planted = fkemu::number("init_error", 0);
  if (planted) return static_cast<CUresult>(planted);
  if (fkemu::deviceCount() == 0) return CUDA_ERROR_NO_DEVICE;
  fkemu::driver().initialised = true;
  return CUDA_SUCCESS;
}

FK_API CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(fkemu::number("driver_version", 13000));
  return CUDA_SUCCESS;
}

FK_API CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (static_cast<int>(error)) {
#define FK_ERROR(name, value, description) \
  case value: *text = #name; return CUDA_SUCCESS;
#include "errors.h"
#undef FK_ERROR
  }
  return CUDA_ERROR_INVALID_VALUE;
}

FK_API CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (static_cast<int>(error)) {
#define FK_ERROR(name, value, description) \
  case value: *text = description; return CUDA_SUCCESS;
#include "errors.h"
#undef FK_ERROR
  }
  return CUDA_ERROR_INVALID_VALUE;
}

FK_API CUresult cuDeviceGetCount(int* count) {
  FK_ENTER;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = fkemu::deviceCount();
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FK_ENTER;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  FK_ENTER;
  if (!name || length < 1) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", fkemu::setting("name", "Emulated GPU").c_str());
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute name, CUdevice device) {
  FK_ENTER;
  if (!value || static_cast<int>(name) < 1 || static_cast<int>(name) > 147) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = fkemu::attribute(name, device);
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  FK_ENTER;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = static_cast<std::size_t>(fkemu::number("memory", 8ll << 30));
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  FK_ENTER;
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, "feynkac-emulated", 16);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  FK_ENTER;
  if (!id || length < 13) return CUDA_ERROR_INVALID_VALUE;
  if (!fkemu::isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02X:00.0", (1 + device) & 255);
  return CUDA_SUCCESS;
}
