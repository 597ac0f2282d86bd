// What the emulated driver holds. Everything is guarded by one lock, `driverLock`.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../prelude/runtime.h"
#include "abi.h"

namespace fkemu {

struct Context;
struct Stream;

// ---------------------------------------------------------------------------------------------------------- settings

/** A setting's value: what fkemu_set gave, else FKEMU_<NAME> of the environment, else `otherwise`. */
std::string setting(const char* name, const char* otherwise);
long long number(const char* name, long long otherwise);
/** Adds to a counter that fkemu_counter reads. */
void count(const char* name, double by = 1);
double counterValue(const char* name);
/** The last fault's description, for fkemu_last_fault. */
void describeFault(const std::string& text);

// ----------------------------------------------------------------------------------------------------------- memory

struct Allocation {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  char* mapping = nullptr;  // with the guards
  std::size_t mapped = 0;
  Context* context = nullptr;
  bool pooled = false;
};

struct Pinned {
  char* base = nullptr;
  std::size_t bytes = 0;
  Context* context = nullptr;
};

/** The allocation that holds [at, at + bytes), or none. */
Allocation* findAllocation(CUdeviceptr at, std::size_t bytes);
Pinned* findPinned(const void* at);
CUresult allocate(Context* context, std::size_t bytes, bool pooled, CUdeviceptr* out);
CUresult release(CUdeviceptr at, bool toPool);
/** Looks at the bytes around every allocation of the context; false and a description when one was overwritten. */
bool guardsAreIntact(const Context* context);
void releaseAll(Context* context);
/** Gives the pool's unused memory back to the device, down to its threshold. */
void trimPoolToThreshold();

// ---------------------------------------------------------------------------------------------------------- streams

/** A piece of work; may run more than once, when it was captured into a graph. */
using Work = std::function<CUresult()>;

struct Operation {
  std::uint64_t sequence;
  Work run;
};

struct Event;

/** What a capture collects; shared by the streams that joined it. */
struct Capture {
  Stream* origin;
  CUstreamCaptureMode mode;
  std::uint64_t thread;
  bool invalidated = false;
  std::vector<Work> nodes;
};

struct Stream : std::enable_shared_from_this<Stream> {
  Context* context = nullptr;
  unsigned flags = 0;
  bool legacy = false;  // the NULL stream
  std::deque<Operation> queue;
  long long polls = 0;  // queries answered "not ready" since work was last added
  std::shared_ptr<Capture> capture;
  std::uint64_t captured = 0;  // work added to `capture` by this stream
  std::uint64_t joined = 0;    // how much of it the origin has waited for
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t sequence = 0;  // of the last record
  std::weak_ptr<Stream> stream;
  bool complete = true;
  double milliseconds = 0;
  long long polls = 0;
  bool captured = false;           // the last record was
  std::weak_ptr<Capture> capture;  // by this, while it runs
  std::uint64_t capturedAt = 0;
};

/** Finds a stream by its handle, the context's own for NULL; none when the handle is unknown. */
Stream* findStream(Context* context, CUstream handle);
/** Adds work to the stream's queue, or to the graph it captures. */
CUresult enqueue(Stream* stream, Work work);
/** Runs the stream's work up to `sequence`, and first whatever it waits for. */
void drain(Stream* stream, std::uint64_t sequence = UINT64_MAX);
void drainAll(Context* context);
/** A number for the calling thread. */
std::uint64_t threadNumber();
/** The error for calls that a running capture forbids, after invalidating that capture; else success. */
CUresult forbidDuringCapture();
/** The same for calls that no capture allows, however relaxed. */
CUresult forbidDuringAnyCapture();
/** The same for work on the NULL stream, which waits for blocking streams. */
CUresult forbidImplicitDependency(Context* context);

// ---------------------------------------------------------------------------------------------------------- modules

struct Function;

struct Module {
  Context* context = nullptr;
  void* library = nullptr;
  bool fibers = false;
  unsigned arch = 0;
  fkemu_module info{};
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Function {
  Module* module = nullptr;
  const fkemu_kernel* kernel = nullptr;
  long long maxDynamicShared = -1;  // as cuFuncSetAttribute set it
  long long carveout = -1;
};

void unload(Context* context, Module* module);

struct Launch {
  Function* function;
  dim3 grid, block;
  unsigned sharedBytes;
  std::vector<unsigned char> bytes;     // the arguments, one after another
  std::vector<std::size_t> offsets;
};

/** Runs every block; an error is the context's end. */
CUresult runLaunch(const Launch& launch);

// --------------------------------------------------------------------------------------------------------- contexts

struct Context {
  CUdevice device = 0;
  unsigned flags = 0;
  bool primary = false;
  CUresult sticky = CUDA_SUCCESS;
  std::shared_ptr<Stream> legacy;
  std::unordered_map<Stream*, std::shared_ptr<Stream>> streams;
  std::unordered_map<Event*, std::shared_ptr<Event>> events;
  std::unordered_map<Module*, std::unique_ptr<Module>> modules;
};

struct Graph {
  std::shared_ptr<std::vector<Work>> nodes;
};

struct Driver {
  bool initialised = false;
  std::uint64_t sequence = 0;
  std::unordered_map<Context*, std::unique_ptr<Context>> contexts;
  std::map<CUdevice, std::pair<Context*, int>> primaries;  // and how often each is retained
  std::unordered_map<Graph*, std::unique_ptr<Graph>> graphs, execs;
  std::vector<std::weak_ptr<Capture>> captures;
  CUresult fault = CUDA_SUCCESS;  // of the process, where the setting fault_scope says so
};

Driver& driver();
std::recursive_mutex& driverLock();
/** The calling thread's current context, by handle. */
std::vector<Context*>& contextStack();
/** Ends the context, or with fault_scope "process" all of them, those to come included. */
void fail(Context* context, CUresult error);
/** Success, or why the current context cannot be used. */
CUresult currentContext(Context** out);
int deviceCount();

}  // namespace fkemu

#define FK_LOCKED std::lock_guard<std::recursive_mutex> fkGuard(fkemu::driverLock())
/** Locks; returns when cuInit has not run. */
#define FK_ENTER \
  FK_LOCKED; \
  if (!fkemu::driver().initialised) return CUDA_ERROR_NOT_INITIALIZED
/** Locks, and finds the current context, faulted ones refused. */
#define FK_ENTER_CONTEXT \
  FK_ENTER; \
  fkemu::Context* context = nullptr; \
  if (const CUresult found = fkemu::currentContext(&context)) return found
