// Device memory is host memory, each allocation between pages that cannot be touched; pinned memory is counted.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "state.h"

namespace fkemu {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t page = 4096;
constexpr unsigned char guardByte = 0xFF;  // NaN, read as f32 or f64
constexpr std::size_t poisonAtMost = 16 << 20;

std::map<CUdeviceptr, Allocation>& allocations() {
  static auto* table = new std::map<CUdeviceptr, Allocation>;
  return *table;
}
std::map<char*, Pinned>& pinned() {
  static auto* table = new std::map<char*, Pinned>;
  return *table;
}

std::size_t used = 0;       // by live allocations
std::size_t poolUnused = 0; // freed to the pool and not given back
std::uint64_t poolThreshold = 0;

std::size_t roundUp(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::size_t totalMemory() { return static_cast<std::size_t>(number("memory", 8ll << 30)); }

bool isPlanted(const char* settingName, const char* counterName) {
  count(counterName);
  const long long at = number(settingName, 0);
  return at > 0 && counterValue(counterName) == static_cast<double>(at);
}

/**
 * Where device memory lies: a stretch of addresses of which only allocations can be touched, far from one another and from
 * everything else in the process, so that wrong indices fault.
 */
class Arena {
 public:
  /** A free stretch with unreadable memory around it; null when there is none. */
  char* take(std::size_t bytes) {
    if (!start_) reserve();
    const std::size_t step = roundUp(bytes, gap) + gap;
    if (step > bytes_ - 2 * margin) return nullptr;
    if (next_ + step > start_ + bytes_ - margin) next_ = start_ + margin;  // round again, past what is still alive
    char* at = next_;
    for (auto live = allocations().lower_bound(address(at)); live != allocations().end(); ++live) {
      const Allocation& a = live->second;
      if (address(at) + step <= reinterpret_cast<CUdeviceptr>(a.mapping)) break;
      at = a.mapping + roundUp(a.mapped, gap) + gap;
    }
    if (at + step > start_ + bytes_ - margin) return nullptr;
    next_ = at + step;
    return at;
  }

 private:
  static constexpr std::size_t gap = 64 << 20, margin = 16ull << 30;
  char* start_ = nullptr;
  char* next_ = nullptr;
  std::size_t bytes_ = 0;

  static CUdeviceptr address(const char* at) { return reinterpret_cast<CUdeviceptr>(at); }

  void reserve() {
    for (bytes_ = 16ull << 40; bytes_ > 4 * margin; bytes_ /= 4) {
      void* at = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) continue;
      start_ = reinterpret_cast<char*>(roundUp(reinterpret_cast<std::size_t>(at), gap));
      bytes_ -= gap;
      next_ = start_ + margin;
      return;
    }
  }
};

Arena& arena() {
  static auto* only = new Arena;
  return *only;
}

/** Freed memory cannot be read, and its addresses are not used again for long. */
void giveBack(char* mapping, std::size_t mapped) {
  mmap(mapping, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool isGuard(const char* from, const char* to) {
  return std::all_of(from, to, [](char c) { return static_cast<unsigned char>(c) == guardByte; });
}

bool guardsAreIntact(const Allocation& a) {
  const char* data = reinterpret_cast<char*>(a.base);
  const char* end = a.mapping + a.mapped - page;
  const char* first = a.mapping + page;
  if (isGuard(first, data) && isGuard(data + a.bytes, end)) return true;
  describeFault("bytes just outside an allocation of " + std::to_string(a.bytes) + " bytes were overwritten");
  return false;
}

}  // namespace

Allocation* findAllocation(CUdeviceptr at, std::size_t bytes) {
  auto next = allocations().upper_bound(at);
  if (next == allocations().begin()) return nullptr;
  Allocation& a = std::prev(next)->second;
  return at >= a.base && at - a.base <= a.bytes && bytes <= a.bytes - (at - a.base) ? &a : nullptr;
}

Pinned* findPinned(const void* at) {
  char* address = static_cast<char*>(const_cast<void*>(at));
  auto next = pinned().upper_bound(address);
  if (next == pinned().begin()) return nullptr;
  Pinned& p = std::prev(next)->second;
  return address < p.base + p.bytes ? &p : nullptr;
}

/** Data ends at the unreadable page, but for the bytes that alignment needs; those are watched. */
CUresult allocate(Context* context, std::size_t bytes, bool pooled, CUdeviceptr* out) {
  if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (isPlanted("oom_at", "allocations_tried")) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::size_t reused = pooled ? std::min(bytes, poolUnused) : 0;
  if (bytes > totalMemory() || used + poolUnused - reused + bytes > totalMemory()) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::size_t span = roundUp(bytes, alignment);
  const std::size_t inner = roundUp(span, page);
  const std::size_t mapped = inner + 2 * page;
  char* mapping = arena().take(mapped);
  if (!mapping) return CUDA_ERROR_OUT_OF_MEMORY;
  char* first = mapping + page;
  if (mprotect(first, inner, PROT_READ | PROT_WRITE)) return CUDA_ERROR_OUT_OF_MEMORY;
  char* data = first + inner - span;
  std::memset(first, guardByte, static_cast<std::size_t>(data - first));
  std::memset(data + bytes, guardByte, span - bytes);
  if (number("poison", 1)) std::memset(data, guardByte, std::min(bytes, poisonAtMost));
  Allocation a{reinterpret_cast<CUdeviceptr>(data), bytes, mapping, mapped, context, pooled};
  allocations()[a.base] = a;
  *out = a.base;
  poolUnused -= reused;
  used += bytes;
  count("allocations");
  count("bytes", static_cast<double>(bytes));
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr at, bool toPool) {
  const auto found = allocations().find(at);
  if (found == allocations().end()) return CUDA_ERROR_INVALID_VALUE;
  const Allocation a = found->second;
  const bool intact = guardsAreIntact(a);
  used -= a.bytes;
  if (toPool && a.pooled) poolUnused += a.bytes;
  giveBack(a.mapping, a.mapped);
  allocations().erase(found);
  count("allocations", -1);
  count("bytes", -static_cast<double>(a.bytes));
  return intact ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

bool guardsAreIntact(const Context* context) {
  for (const auto& [base, a] : allocations())
    if (a.context == context && !guardsAreIntact(a)) return false;
  return true;
}

void releaseAll(Context* context) {
  std::vector<CUdeviceptr> left;
  for (const auto& [base, a] : allocations())
    if (a.context == context) left.push_back(base);
  for (const CUdeviceptr base : left) release(base, false);
  count("leaked_allocations", static_cast<double>(left.size()));
  for (auto it = pinned().begin(); it != pinned().end();) {
    if (it->second.context != context) {
      ++it;
      continue;
    }
    munmap(it->second.base, roundUp(it->second.bytes, page));
    count("pinned", -1);
    count("leaked_pinned");
    it = pinned().erase(it);
  }
  poolUnused = 0;
}

void trimPoolToThreshold() { poolUnused = std::min<std::size_t>(poolUnused, poolThreshold); }

}  // namespace fkemu

FK_API CUresult cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes) {
  FK_ENTER_CONTEXT;
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  return fkemu::allocate(context, bytes, false, out);
}

/** Waits for everything that was recorded, as the real one does. */
FK_API CUresult cuMemFree_v2(CUdeviceptr at) {
  FK_ENTER_CONTEXT;
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  if (at == 0) return CUDA_SUCCESS;
  fkemu::drainAll(context);
  if (context->sticky) return context->sticky;
  const CUresult released = fkemu::release(at, false);
  if (released == CUDA_ERROR_ILLEGAL_ADDRESS) fkemu::fail(context, released);
  return released;
}

FK_API CUresult cuMemAllocAsync(CUdeviceptr* out, std::size_t bytes, CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) return CUDA_ERROR_NOT_SUPPORTED;  // memory nodes are not emulated
  if (out && bytes == 0) {  // unlike cuMemAlloc
    *out = 0;
    return CUDA_SUCCESS;
  }
  return fkemu::allocate(context, bytes, true, out);
}

FK_API CUresult cuMemFreeAsync(CUdeviceptr at, CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) return CUDA_ERROR_NOT_SUPPORTED;
  fkemu::Allocation* a = fkemu::findAllocation(at, 0);
  if (!a || a->base != at) return CUDA_ERROR_INVALID_VALUE;
  return fkemu::enqueue(stream, [at] { return fkemu::release(at, true); });
}

FK_API CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FK_ENTER_CONTEXT;
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  *total = fkemu::totalMemory();
  *free = *total - fkemu::used - fkemu::poolUnused;
  return CUDA_SUCCESS;
}

FK_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  FK_ENTER;
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= fkemu::deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
  if (!fkemu::number("memory_pools", 1)) return CUDA_ERROR_NOT_SUPPORTED;
  *pool = reinterpret_cast<CUmemoryPool>(&fkemu::poolThreshold);
  return CUDA_SUCCESS;
}

FK_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void* value) {
  FK_ENTER;
  if (!pool || !value || static_cast<int>(name) < 1 || static_cast<int>(name) > 8) return CUDA_ERROR_INVALID_VALUE;
  if (name == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) std::memcpy(&fkemu::poolThreshold, value, sizeof(std::uint64_t));
  return CUDA_SUCCESS;
}

FK_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  FK_ENTER;
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  fkemu::poolUnused = std::min(fkemu::poolUnused, keep);
  return CUDA_SUCCESS;
}

FK_API CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned int) {
  FK_ENTER_CONTEXT;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  if (fkemu::isPlanted("oom_host_at", "pinned_tried")) return CUDA_ERROR_OUT_OF_MEMORY;
  void* at = mmap(nullptr, fkemu::roundUp(bytes, fkemu::page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  fkemu::pinned()[static_cast<char*>(at)] = {static_cast<char*>(at), bytes, context};
  fkemu::count("pinned");
  *out = at;
  return CUDA_SUCCESS;
}

FK_API CUresult cuMemFreeHost(void* at) {
  FK_ENTER_CONTEXT;
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  const auto found = fkemu::pinned().find(static_cast<char*>(at));
  if (found == fkemu::pinned().end()) return CUDA_ERROR_INVALID_VALUE;
  fkemu::drainAll(context);
  munmap(found->second.base, fkemu::roundUp(found->second.bytes, fkemu::page));
  fkemu::pinned().erase(found);
  fkemu::count("pinned", -1);
  return context->sticky;
}

FK_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* host, unsigned int) {
  FK_ENTER_CONTEXT;
  if (!out || !fkemu::findPinned(host)) return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
