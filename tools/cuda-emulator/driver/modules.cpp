// Modules: images of the fake NVRTC, written to a file for the dynamic loader.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "../image.h"
#include "state.h"

namespace fkemu {
namespace {

/** Loads the library's bytes under a name of its own, which is gone again when this returns. */
void* loadLibrary(const char* bytes, std::size_t length) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/fkemu-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  std::size_t written = 0;
  while (written < length) {
    const ssize_t n = write(file, bytes + written, length - written);
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  close(file);
  void* library = written == length ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    if (const char* why = dlerror()) describeFault(std::string("loading a module: ") + why);
  unlink(path.c_str());
  return library;
}

std::string readImageNamedBy(const char* ptx) {
  std::string path = ptx + std::strlen(ptxMagic);
  path = path.substr(0, path.find('\n'));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

CUresult load(Context* context, const char* image, bool isPtx, CUmodule* out) {
  ImageHeader header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.magic, imageMagic, sizeof header.magic) || std::strncmp(header.build, FKEMU_BUILD, sizeof header.build))
    return CUDA_ERROR_INVALID_IMAGE;
  const auto device = static_cast<unsigned>(number("compute", 90));
  const bool runs = isPtx ? header.arch <= device : header.arch / 10 == device / 10 && header.arch <= device;
  if (!runs) return isPtx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_NO_BINARY_FOR_GPU;
  auto module = std::make_unique<Module>();
  module->context = context;
  module->fibers = header.fibers != 0;
  module->arch = header.arch;
  module->library = loadLibrary(image + sizeof header, header.libraryBytes);
  if (!module->library) return CUDA_ERROR_INVALID_IMAGE;
  auto inform = reinterpret_cast<void (*)(fkemu_module*)>(dlsym(module->library, "fkemu_module_info"));
  inform(&module->info);
  for (int i = 0; i < module->info.count; i++) {
    const fkemu_kernel& kernel = module->info.kernels[i];
    if (!*kernel.name) continue;
    auto function = std::make_unique<Function>();
    function->module = module.get();
    function->kernel = &kernel;
    module->functions[kernel.name] = std::move(function);
  }
  *out = reinterpret_cast<CUmodule>(module.get());
  Module* key = module.get();
  context->modules[key] = std::move(module);
  count("modules");
  return CUDA_SUCCESS;
}

CUresult loadAny(CUmodule* out, const void* image) {
  FK_ENTER_CONTEXT;
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  if (std::memcmp(image, imageMagic, 8) == 0) return load(context, static_cast<const char*>(image), false, out);
  if (std::strncmp(static_cast<const char*>(image), ptxMagic, std::strlen(ptxMagic)) != 0) return CUDA_ERROR_INVALID_IMAGE;
  if (number("ptx_too_new", 0)) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  const std::string bytes = readImageNamedBy(static_cast<const char*>(image));
  if (bytes.size() < sizeof(ImageHeader)) return CUDA_ERROR_INVALID_PTX;
  return load(context, bytes.data(), true, out);
}

}  // namespace

void unload(Context* context, Module* module) {
  dlclose(module->library);
  context->modules.erase(module);
  count("modules", -1);
}

namespace {
/** The function, if its module is still loaded. */
Function* knownFunction(Context* context, CUfunction handle) {
  auto* wanted = reinterpret_cast<Function*>(handle);
  for (const auto& [module, keep] : context->modules)
    for (const auto& [name, function] : module->functions)
      if (function.get() == wanted) return wanted;
  return nullptr;
}

std::size_t staticShared(const Module* module) {
  return static_cast<std::size_t>(module->info.sharedEnd - module->info.sharedBegin) - 8;  // less the prelude's anchor
}

/** What static arrays leave of 48 KiB, unless more was asked for. */
long long maxDynamicShared(const Function* function) {
  const auto left = 48 * 1024 - static_cast<long long>(staticShared(function->module));
  return function->maxDynamicShared >= 0 ? function->maxDynamicShared : left;
}
}  // namespace
}  // namespace fkemu

FK_API CUresult cuModuleLoadData(CUmodule* out, const void* image) { return fkemu::loadAny(out, image); }

FK_API CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int, CUjit_option*, void**) {
  return fkemu::loadAny(out, image);
}

FK_API CUresult cuModuleUnload(CUmodule handle) {
  FK_ENTER_CONTEXT;
  auto* module = reinterpret_cast<fkemu::Module*>(handle);
  if (!context->modules.count(module)) return CUDA_ERROR_INVALID_HANDLE;
  fkemu::drainAll(context);
  fkemu::unload(context, module);
  return context->sticky;
}

FK_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  FK_ENTER_CONTEXT;
  const auto module = context->modules.find(reinterpret_cast<fkemu::Module*>(handle));
  if (module == context->modules.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto found = module->second->functions.find(name);
  if (found == module->second->functions.end()) return CUDA_ERROR_NOT_FOUND;
  *out = reinterpret_cast<CUfunction>(found->second.get());
  return CUDA_SUCCESS;
}

FK_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute name, int value) {
  FK_ENTER_CONTEXT;
  fkemu::Function* function = fkemu::knownFunction(context, handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (name == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const auto room = 227 * 1024 - static_cast<long long>(fkemu::staticShared(function->module));
    if (value < 0 || value > room) return CUDA_ERROR_INVALID_VALUE;
    function->maxDynamicShared = value;
    return CUDA_SUCCESS;
  }
  if (name == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    function->carveout = value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

FK_API CUresult cuFuncGetAttribute(int* out, CUfunction_attribute name, CUfunction handle) {
  FK_ENTER_CONTEXT;
  fkemu::Function* function = fkemu::knownFunction(context, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = function->kernel->maxThreads ? function->kernel->maxThreads : 1024; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *out = static_cast<int>(fkemu::staticShared(function->module)); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = 32; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *out = static_cast<int>(function->module->arch); break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *out = static_cast<int>(function->module->arch); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *out = static_cast<int>(fkemu::maxDynamicShared(function)); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *out = static_cast<int>(function->carveout); break;
    default: *out = 0;
  }
  return CUDA_SUCCESS;
}

/** As many as threads and shared memory allow; registers are not emulated. */
FK_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction handle, int block, std::size_t dynamicShared) {
  FK_ENTER_CONTEXT;
  fkemu::Function* function = fkemu::knownFunction(context, handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || block < 1 || block > 1024) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t shared = fkemu::staticShared(function->module) + dynamicShared + 1024;
  const int byThreads = 2048 / ((block + 31) / 32 * 32), byShared = static_cast<int>(228 * 1024 / shared);
  *out = byThreads < byShared ? byThreads : byShared;
  if (*out > 32) *out = 32;
  return CUDA_SUCCESS;
}
