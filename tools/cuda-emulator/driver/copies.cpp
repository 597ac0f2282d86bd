// Copies and fills. Ranges are checked at the call, and again when the work runs.
#include <cstring>

#include "state.h"

namespace fkemu {
namespace {

bool isDevice(CUdeviceptr at, std::size_t bytes) { return findAllocation(at, bytes) != nullptr; }

/** Host memory may be anything, but what is pinned must not be left. */
bool isHost(const void* at, std::size_t bytes) {
  if (!at) return false;
  const Pinned* p = findPinned(at);
  return !p || static_cast<const char*>(at) + bytes <= p->base + p->bytes;
}

CUresult fault(const std::string& text) {
  describeFault(text);
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

Work copyWork(void* to, const void* from, std::size_t bytes, CUdeviceptr device, CUdeviceptr otherDevice) {
  return [=] {
    if (!isDevice(device, bytes) || (otherDevice && !isDevice(otherDevice, bytes)))
      return fault("a copy ran after its device memory was freed");
    std::memmove(to, from, bytes);
    count("copies");
    return CUDA_SUCCESS;
  };
}

void* pointer(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

/** Work on the NULL stream that the caller waits for. */
CUresult runNow(Context* context, Work work) {
  if (const CUresult forbidden = forbidImplicitDependency(context)) return forbidden;
  enqueue(context->legacy.get(), std::move(work));
  drain(context->legacy.get());
  return context->sticky;
}

template <class T> Work fillWork(CUdeviceptr at, T value, std::size_t n) {
  return [=] {
    if (!isDevice(at, n * sizeof(T))) return fault("a fill ran after its device memory was freed");
    T* data = static_cast<T*>(pointer(at));
    for (std::size_t i = 0; i < n; i++) data[i] = value;
    return CUDA_SUCCESS;
  };
}

template <class T> CUresult fill(CUdeviceptr at, T value, std::size_t n, bool isAsync, CUstream handle) {
  FK_ENTER_CONTEXT;
  if (n == 0) return CUDA_SUCCESS;
  if (at % sizeof(T) || n > SIZE_MAX / sizeof(T) || !isDevice(at, n * sizeof(T))) return CUDA_ERROR_INVALID_VALUE;
  if (!isAsync) return runNow(context, fillWork(at, value, n));
  Stream* stream = findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  return enqueue(stream, fillWork(at, value, n));
}

}  // namespace
}  // namespace fkemu

FK_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  FK_ENTER_CONTEXT;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(to, bytes) || !fkemu::isHost(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return fkemu::runNow(context, fkemu::copyWork(fkemu::pointer(to), from, bytes, to, 0));
}

FK_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  FK_ENTER_CONTEXT;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(from, bytes) || !fkemu::isHost(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return fkemu::runNow(context, fkemu::copyWork(to, fkemu::pointer(from), bytes, from, 0));
}

FK_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  FK_ENTER_CONTEXT;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(to, bytes) || !fkemu::isDevice(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return fkemu::runNow(context, fkemu::copyWork(fkemu::pointer(to), fkemu::pointer(from), bytes, to, from));
}

/** Pinned memory is read when the copy runs; other memory at the call, as the real driver stages it. */
FK_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(to, bytes) || !fkemu::isHost(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (fkemu::findPinned(from) || stream->capture)
    return fkemu::enqueue(stream, fkemu::copyWork(fkemu::pointer(to), from, bytes, to, 0));
  const auto* data = static_cast<const char*>(from);
  auto staged = std::make_shared<std::vector<char>>(data, data + bytes);
  fkemu::Work copy = fkemu::copyWork(fkemu::pointer(to), staged->data(), bytes, to, 0);
  return fkemu::enqueue(stream, [staged, copy] { return copy(); });
}

/** Into memory that is not pinned, the call returns when the copy has run. */
FK_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(from, bytes) || !fkemu::isHost(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult queued = fkemu::enqueue(stream, fkemu::copyWork(to, fkemu::pointer(from), bytes, from, 0));
  if (queued || stream->capture || fkemu::findPinned(to)) return queued;
  fkemu::drain(stream);
  return context->sticky;
}

FK_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!fkemu::isDevice(to, bytes) || !fkemu::isDevice(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return fkemu::enqueue(stream, fkemu::copyWork(fkemu::pointer(to), fkemu::pointer(from), bytes, to, from));
}

FK_API CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, std::size_t n) {
  return fkemu::fill(at, value, n, false, nullptr);
}
FK_API CUresult cuMemsetD32_v2(CUdeviceptr at, unsigned int value, std::size_t n) {
  return fkemu::fill(at, value, n, false, nullptr);
}
FK_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t n, CUstream stream) {
  return fkemu::fill(at, value, n, true, stream);
}
FK_API CUresult cuMemsetD32Async(CUdeviceptr at, unsigned int value, std::size_t n, CUstream stream) {
  return fkemu::fill(at, value, n, true, stream);
}
