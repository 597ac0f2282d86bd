// How blocks run: fibers for threads that meet, a guard against faults around everything.
#pragma once
#include <csetjmp>

#include "state.h"

namespace fkemu {

/** Runs all blocks of a launch. */
CUresult execute(const Launch& launch);

// ----------------------------------------------------------------------------------------------------------- faults

/** Where a fault in a kernel goes back to. One kernel runs at a time, on one thread. */
struct Escape {
  sigjmp_buf place;
  int signal = 0;
  void* address = nullptr;
  std::string message;  // set by faults that the emulator itself finds
};

/** The calling thread's escape while it runs a kernel, else null. */
extern thread_local Escape* escape;
void installHandlers();
[[noreturn]] void escapeWith(const std::string& message);
/** The fault's description and code, after the escape. */
CUresult explain(const Escape& fault, const Launch& launch);

// ----------------------------------------------------------------------------------------------------------- fibers

/** Runs one block whose threads meet at barriers or in warps. */
void runBlockOfFibers(const Launch& launch, void** arguments);
/** Runs `body` on a stack as large as a thread's local memory may be. */
void runOnLargeStack(void (*body)(void*), void* argument);
extern const fkemu_runtime runtime;

}  // namespace fkemu
