// Runs the blocks of a launch, one after another.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "execution.h"

namespace fkemu {
namespace {

/** Dynamic shared memory that ends at a page which cannot be touched. */
char* dynamicShared(unsigned bytes) {
  constexpr std::size_t room = 256 * 1024, guard = 4096;
  static char* mapping = [] {
    void* at = mmap(nullptr, room + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(static_cast<char*>(at) + room, guard, PROT_NONE);
    return static_cast<char*>(at);
  }();
  return mapping + room - (bytes + 127) / 128 * 128;
}

struct Run {
  const Launch* launch;
  void** arguments;
  bool poison, reverse;
};

void startBlock(const Run& run, std::uint64_t block) {
  const fkemu_module& info = run.launch->function->module->info;
  const dim3& grid = run.launch->grid;
  info.blockIdx->x = static_cast<unsigned>(block % grid.x);
  info.blockIdx->y = static_cast<unsigned>(block / grid.x % grid.y);
  info.blockIdx->z = static_cast<unsigned>(block / grid.x / grid.y);
  if (!run.poison) return;
  std::memset(info.sharedBegin, 0xFF, static_cast<std::size_t>(info.sharedEnd - info.sharedBegin));
  if (run.launch->sharedBytes) std::memset(*info.dynamicShared, 0xFF, run.launch->sharedBytes);
}

template <class Body> void forEachBlock(const Run& run, Body body) {
  const dim3& grid = run.launch->grid;
  const std::uint64_t blocks = 1ull * grid.x * grid.y * grid.z;
  for (std::uint64_t k = 0; k < blocks; k++) {
    startBlock(run, run.reverse ? blocks - 1 - k : k);
    body();
  }
}

void runPlainBlocks(void* argument) {
  const Run& run = *static_cast<const Run*>(argument);
  const fkemu_kernel* kernel = run.launch->function->kernel;
  forEachBlock(run, [&] { kernel->block(run.arguments, run.reverse); });
}

void runAll(Run& run) {
  if (run.launch->function->module->fibers)
    forEachBlock(run, [&] { runBlockOfFibers(*run.launch, run.arguments); });
  else
    runOnLargeStack(runPlainBlocks, &run);
}

}  // namespace

CUresult execute(const Launch& launch) {
  installHandlers();
  const fkemu_module& info = launch.function->module->info;
  *info.runtime = &runtime;
  *info.blockDim = launch.block;
  *info.gridDim = launch.grid;
  *info.dynamicShared = dynamicShared(launch.sharedBytes);
  std::vector<unsigned char> bytes(launch.bytes.size() + 16);  // a kernel may change its parameters; the launch may be replayed
  auto* aligned = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 15) & ~std::uintptr_t{15});
  std::copy(launch.bytes.begin(), launch.bytes.end(), aligned);
  std::vector<void*> arguments;
  for (const std::size_t offset : launch.offsets) arguments.push_back(aligned + offset);
  Run run{&launch, arguments.data(), number("poison", 1) != 0, setting("order", "forward") != "forward"};
  Escape here;
  escape = &here;
  const bool faulted = sigsetjmp(here.place, 1) != 0;
  if (!faulted) runAll(run);
  escape = nullptr;
  return faulted ? explain(here, launch) : CUDA_SUCCESS;
}

}  // namespace fkemu
