// cuLaunchKernel: checks and copies the arguments at the call; the blocks run when the stream gets there.
#include <cstring>

#include "execution.h"
#include "state.h"

namespace fkemu {
namespace {

CUresult checkShape(const Function* function, const dim3& grid, const dim3& block, unsigned sharedBytes) {
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (block.x > 1024 || block.y > 1024 || block.z > 64) return CUDA_ERROR_INVALID_VALUE;
  const unsigned long long threads = 1ull * block.x * block.y * block.z;
  if (threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  if (function->kernel->maxThreads && threads > static_cast<unsigned>(function->kernel->maxThreads))
    return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<long long>(sharedBytes) > maxDynamicShared(function)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

void copyArguments(Launch& launch, void** parameters) {
  const fkemu_kernel* kernel = launch.function->kernel;
  std::size_t at = 0;
  for (int i = 0; i < kernel->parameters; i++) {
    launch.offsets.push_back(at);
    launch.bytes.resize(at + kernel->sizes[i]);
    std::memcpy(launch.bytes.data() + at, parameters[i], kernel->sizes[i]);
    at = (at + kernel->sizes[i] + 15) / 16 * 16;
  }
}

/** A pointer that is neither null, nor device memory, nor pinned: on a real device, most likely a host pointer. */
bool pointersAreDevice(const Launch& launch) {
  if (!number("check_pointers", 1)) return true;
  const fkemu_kernel* kernel = launch.function->kernel;
  for (int i = 0; i < kernel->parameters; i++) {
    if (!kernel->pointers[i]) continue;
    CUdeviceptr at = 0;
    std::memcpy(&at, launch.bytes.data() + launch.offsets[static_cast<std::size_t>(i)], sizeof at);
    if (!at || findAllocation(at, 0) || findPinned(reinterpret_cast<void*>(at))) continue;
    describeFault(std::string("kernel '") + kernel->name + "': parameter " + std::to_string(i) +
                  " is no pointer to live device memory");
    return false;
  }
  return true;
}

}  // namespace

CUresult runLaunch(const Launch& launch) {
  count("kernels");
  const std::string name = launch.function->kernel->name;
  if (name.find("planted_fault") != std::string::npos) {
    describeFault("kernel '" + name + "': planted fault");
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  if (!pointersAreDevice(launch)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  return execute(launch);
}

}  // namespace fkemu

FK_API CUresult cuLaunchKernel(CUfunction handle, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                               unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                               CUstream streamHandle, void** parameters, void** extra) {
  FK_ENTER_CONTEXT;
  fkemu::Function* function = fkemu::knownFunction(context, handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  fkemu::Stream* stream = fkemu::findStream(context, streamHandle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  const dim3 grid{gridX, gridY, gridZ}, block{blockX, blockY, blockZ};
  if (const CUresult wrong = fkemu::checkShape(function, grid, block, sharedBytes)) return wrong;
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  if (function->kernel->parameters && !parameters) return CUDA_ERROR_INVALID_VALUE;
  fkemu::Launch launch{function, grid, block, sharedBytes, {}, {}};
  fkemu::copyArguments(launch, parameters);
  fkemu::count("launches");
  return fkemu::enqueue(stream, [launch] { return fkemu::runLaunch(launch); });
}
