// Contexts: each thread's stack of current ones, primary contexts, destruction with all that is in them.
#include "state.h"

namespace fkemu {

std::vector<Context*>& contextStack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

CUresult currentContext(Context** out) {
  std::vector<Context*>& stack = contextStack();
  if (stack.empty() || !stack.back()) return CUDA_ERROR_INVALID_CONTEXT;
  if (!driver().contexts.count(stack.back())) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = stack.back();
  return (*out)->sticky;
}

void fail(Context* context, CUresult error) {
  context->sticky = error;
  if (setting("fault_scope", "context") != "process") return;
  driver().fault = error;
  for (const auto& [other, keep] : driver().contexts) other->sticky = error;
}

namespace {

Context* newContext(CUdevice device, unsigned flags, bool primary) {
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  context->primary = primary;
  context->legacy = std::make_shared<Stream>();
  context->legacy->context = context.get();
  context->legacy->legacy = true;
  Context* handle = context.get();
  driver().contexts[handle] = std::move(context);
  count("contexts");
  return handle;
}

/** Finishes its work, then releases all that is still in it, counting that as leaked. */
void destroy(Context* context) {
  if (!context->sticky) drainAll(context);
  while (!context->modules.empty()) {
    count("leaked_modules");
    unload(context, context->modules.begin()->first);
  }
  count("leaked_streams", static_cast<double>(context->streams.size()));
  count("streams", -static_cast<double>(context->streams.size()));
  count("leaked_events", static_cast<double>(context->events.size()));
  count("events", -static_cast<double>(context->events.size()));
  releaseAll(context);
  driver().contexts.erase(context);
  count("contexts", -1);
}

CUresult create(CUcontext* out, unsigned flags, CUdevice device) {
  FK_ENTER;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
  if (driver().fault) return driver().fault;
  Context* context = newContext(device, flags, false);
  contextStack().push_back(context);
  *out = reinterpret_cast<CUcontext>(context);
  return CUDA_SUCCESS;
}

Context* known(CUcontext handle) {
  auto* context = reinterpret_cast<Context*>(handle);
  return driver().contexts.count(context) ? context : nullptr;
}

}  // namespace
}  // namespace fkemu

/** Lets a process go on after a fault that ended it; no real driver can. */
FK_API void fkemu_recover() {
  FK_LOCKED;
  fkemu::driver().fault = CUDA_SUCCESS;
}

FK_API CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  return fkemu::create(out, flags, device);
}

FK_API CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams*, unsigned int flags, CUdevice device) {
  return fkemu::create(out, flags, device);
}

FK_API CUresult cuCtxDestroy_v2(CUcontext handle) {
  FK_ENTER;
  fkemu::Context* context = fkemu::known(handle);
  if (!context || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  fkemu::destroy(context);
  auto& stack = fkemu::contextStack();
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxSetCurrent(CUcontext handle) {
  FK_ENTER;
  auto& stack = fkemu::contextStack();
  if (!handle) {
    if (!stack.empty()) stack.pop_back();
    return CUDA_SUCCESS;
  }
  fkemu::Context* context = fkemu::known(handle);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack.empty()) stack.push_back(context);
  else stack.back() = context;
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxGetCurrent(CUcontext* out) {
  FK_ENTER;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  auto& stack = fkemu::contextStack();
  *out = stack.empty() ? nullptr : reinterpret_cast<CUcontext>(stack.back());
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxGetDevice(CUdevice* device) {
  FK_ENTER_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  FK_ENTER;
  fkemu::Context* context = fkemu::known(handle);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  fkemu::contextStack().push_back(context);
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  FK_ENTER;
  auto& stack = fkemu::contextStack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (out) *out = reinterpret_cast<CUcontext>(stack.back());
  stack.pop_back();
  return CUDA_SUCCESS;
}

FK_API CUresult cuCtxSynchronize(void) {
  FK_ENTER_CONTEXT;
  if (const CUresult forbidden = fkemu::forbidDuringAnyCapture()) return forbidden;
  fkemu::drainAll(context);
  if (!context->sticky && !fkemu::guardsAreIntact(context)) fkemu::fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  return context->sticky;
}

FK_API CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  FK_ENTER;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= fkemu::deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
  if (fkemu::driver().fault) return fkemu::driver().fault;
  auto& [context, retained] = fkemu::driver().primaries[device];
  if (!context) context = fkemu::newContext(device, 0, true);
  retained++;
  *out = reinterpret_cast<CUcontext>(context);
  return CUDA_SUCCESS;
}

FK_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FK_ENTER;
  const auto found = fkemu::driver().primaries.find(device);
  if (found == fkemu::driver().primaries.end() || !found->second.first) return CUDA_ERROR_INVALID_CONTEXT;
  if (--found->second.second > 0) return CUDA_SUCCESS;
  fkemu::destroy(found->second.first);
  fkemu::driver().primaries.erase(found);
  return CUDA_SUCCESS;
}

/** What is in the context goes; the handle stays, for those who retain it. */
FK_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  FK_ENTER;
  const auto found = fkemu::driver().primaries.find(device);
  if (found == fkemu::driver().primaries.end() || !found->second.first) return CUDA_SUCCESS;
  fkemu::destroy(found->second.first);
  fkemu::driver().primaries.erase(found);
  return CUDA_SUCCESS;
}
