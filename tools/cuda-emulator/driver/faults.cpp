// Signals raised inside kernels become errors of the context; all others go to whoever had handled them before.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "execution.h"

namespace fkemu {

thread_local Escape* escape = nullptr;

namespace {

constexpr int handled[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
struct sigaction previous[65];

void onSignal(int signal, siginfo_t* info, void* machine) {
  if (escape) {
    escape->signal = signal;
    escape->address = info->si_addr;
    siglongjmp(escape->place, 1);
  }
  const struct sigaction& before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, machine);
  } else if (before.sa_handler == SIG_DFL) {
    sigaction(signal, &before, nullptr);  // the instruction runs again, and now ends the process
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

/** A handler for an overflown stack needs one of its own. */
void provideSignalStack() {
  thread_local bool provided = false;
  if (provided) return;
  provided = true;
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (!(now.ss_flags & SS_DISABLE)) return;
  stack_t stack{};
  stack.ss_size = 64 * 1024;
  stack.ss_sp = std::malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
}

std::string triple(unsigned x, unsigned y, unsigned z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

/** "8 bytes after an allocation of 800 bytes", or the bare address. */
std::string describeAddress(void* address) {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  for (std::size_t back = 0; back <= 8192; back += 64) {
    if (const Allocation* a = findAllocation(at - back, 0); a && at >= a->base + a->bytes)
      return std::to_string(at - a->base - a->bytes) + " bytes after the end of an allocation of " + std::to_string(a->bytes) + " bytes";
    if (const Allocation* a = findAllocation(at + back, 0); a && at < a->base)
      return std::to_string(a->base - at) + " bytes before an allocation of " + std::to_string(a->bytes) + " bytes";
  }
  char text[32];
  std::snprintf(text, sizeof text, "address %p", address);
  return text;
}

}  // namespace

void installHandlers() {
  provideSignalStack();
  static bool installed = false;
  if (installed) return;
  installed = true;
  struct sigaction action {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : handled) sigaction(signal, &action, &previous[signal]);
}

void escapeWith(const std::string& message) {
  escape->signal = 0;
  escape->message = message;
  siglongjmp(escape->place, 1);
}

CUresult explain(const Escape& fault, const Launch& launch) {
  const fkemu_module& info = launch.function->module->info;
  const std::string where = std::string("kernel '") + launch.function->kernel->name + "', block " +
                            triple(info.blockIdx->x, info.blockIdx->y, info.blockIdx->z);
  const std::string thread = where + ", thread " + triple(info.threadIdx->x, info.threadIdx->y, info.threadIdx->z) + ": ";
  switch (fault.signal) {
    case SIGSEGV:
    case SIGBUS:
      describeFault(thread + "access to " + describeAddress(fault.address));
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIGFPE:
      describeFault(thread + "integer division by zero or overflow in a division, undefined in CUDA");
      return CUDA_ERROR_LAUNCH_FAILED;
    case 0:
      describeFault(where + ": " + fault.message);
      return CUDA_ERROR_LAUNCH_FAILED;
    default:
      describeFault(thread + "trap: undefined behaviour found by the sanitizer, or __builtin_trap");
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

}  // namespace fkemu
