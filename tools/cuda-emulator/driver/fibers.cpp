// The threads of a block as fibers, scheduled warp by warp; each runs until it must meet others.
#include <sys/mman.h>

#include <numeric>
#include <random>

#include "execution.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace fkemu {
namespace {

// ------------------------------------------------------------------------------------------------- switching stacks

constexpr std::size_t stackBytes = 640 * 1024;  // local memory may be 512 KiB a thread
constexpr std::size_t stackGuard = 4096;

#if defined(__x86_64__)

struct Machine {
  void* stack = nullptr;
};

extern "C" void fkemu_switch(void** from, void* to);
// Saves what a call must keep, changes stacks, and restores it there.
asm(R"(
.text
.local fkemu_switch
.type fkemu_switch,@function
fkemu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fkemu_switch,.-fkemu_switch
)");

void prepare(Machine& machine, char* stack, void (*entry)()) {
  auto** top = reinterpret_cast<void**>(stack + stackBytes) - 2;
  *top = reinterpret_cast<void*>(entry);
  machine.stack = top - 6;  // six registers, whatever they hold
}

void change(Machine& from, Machine& to) { fkemu_switch(&from.stack, to.stack); }

#else

struct Machine {
  ucontext_t context;
};

void prepare(Machine& machine, char* stack, void (*entry)()) {
  getcontext(&machine.context);
  machine.context.uc_stack.ss_sp = stack;
  machine.context.uc_stack.ss_size = stackBytes;
  machine.context.uc_link = nullptr;
  makecontext(&machine.context, entry, 0);
}

void change(Machine& from, Machine& to) { swapcontext(&from.context, &to.context); }

#endif

// ----------------------------------------------------------------------------------------------------------- state

enum class State { ready, barrier, warp, done };

struct Fiber {
  Machine machine;
  char* stack = nullptr;
  State state = State::done;
  unsigned index = 0;  // in the block
  uint3 threadIdx{};
  int line = 0;
  // barrier
  int vote = 0, predicate = 0, voted = 0;
  // warp operation
  int kind = 0;
  unsigned mask = 0, operand = 0, width = 32;
  unsigned long long value = 0, result = 0;
};

Fiber fibers[1024];
Machine scheduler;
Fiber* running = nullptr;
unsigned threads = 0;  // of the block
unsigned waiting = 0;  // at the barrier
unsigned exited = 0;
const fkemu_module* module = nullptr;
const fkemu_kernel* kernel = nullptr;
void** kernelArguments = nullptr;

char* stackOf(Fiber& fiber) {
  if (fiber.stack) return fiber.stack;
  void* at = mmap(nullptr, stackBytes + stackGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) escapeWith("no memory for a thread's stack");
  mprotect(at, stackGuard, PROT_NONE);
  return fiber.stack = static_cast<char*>(at) + stackGuard;
}

void yield() { change(running->machine, scheduler); }

void resume(Fiber& fiber) {
  running = &fiber;
  if (module) *module->threadIdx = fiber.threadIdx;
  change(scheduler, fiber.machine);
}

// --------------------------------------------------------------------------------------------------------- barriers

void releaseBarrier() {
  if (waiting == 0 || waiting + exited < threads) return;
  int total = 0, line = 0;
  for (unsigned i = 0; i < threads; i++) {
    const Fiber& f = fibers[i];
    if (f.state != State::barrier) continue;
    total += f.predicate != 0;
    if (line && f.line != line)
      escapeWith("divergent barriers: some threads wait at line " + std::to_string(line) + ", others at line " +
                 std::to_string(f.line));
    line = f.line;
  }
  for (unsigned i = 0; i < threads; i++) {
    Fiber& f = fibers[i];
    if (f.state != State::barrier) continue;
    f.voted = f.vote == fkemu_vote_and ? total == static_cast<int>(waiting) : f.vote == fkemu_vote_or ? total > 0 : total;
    f.state = State::ready;
  }
  waiting = 0;
}

int barrier(int vote, int predicate, int line) {
  Fiber& me = *running;
  me.vote = vote;
  me.predicate = predicate;
  me.line = line;
  me.state = State::barrier;
  waiting++;
  releaseBarrier();
  if (me.state != State::ready) yield();
  return me.voted;
}

// -------------------------------------------------------------------------------------------------- warp operations

Fiber* lane(unsigned warp, unsigned l) { return warp * 32 + l < threads ? &fibers[warp * 32 + l] : nullptr; }

constexpr unsigned long long undefinedValue = 0xFFF7DEADFFF7DEADull;  // a NaN in both precisions

/** The lane that `me` reads, or its own, by the definition of PTX's shfl. */
unsigned sourceLane(const Fiber& me) {
  const unsigned self = me.index & 31, b = me.operand & 31;
  const unsigned clamp = me.kind == fkemu_shfl_up ? 0 : 31, segment = (32 - me.width) & 31;
  const unsigned top = (self & segment) | (clamp & ~segment), bottom = self & segment;
  switch (me.kind) {
    case fkemu_shfl_up: return static_cast<int>(self) - static_cast<int>(b) >= static_cast<int>(top) ? self - b : self;
    case fkemu_shfl_down: return self + b <= top ? self + b : self;
    case fkemu_shfl_xor: return (self ^ b) <= top ? self ^ b : self;
    default: {
      const unsigned from = bottom | (b & ~segment & 31);
      return from <= top ? from : self;
    }
  }
}

unsigned combine(int kind, unsigned a, unsigned b) {
  const int x = static_cast<int>(a), y = static_cast<int>(b);
  switch (kind) {
    case fkemu_reduce_min_s: return x < y ? a : b;
    case fkemu_reduce_max_s: return x > y ? a : b;
    case fkemu_reduce_min_u: return a < b ? a : b;
    case fkemu_reduce_max_u: return a > b ? a : b;
    case fkemu_reduce_and: return a & b;
    case fkemu_reduce_or: return a | b;
    case fkemu_reduce_xor: return a ^ b;
    default: return a + b;
  }
}

bool takesPart(const Fiber* f, const Fiber& asker) {
  return f && f->state == State::warp && f->kind == asker.kind && f->mask == asker.mask && f->line == asker.line;
}

/** Whether every named lane that still lives has arrived; then computes all results and lets the lanes go. */
bool meet(Fiber& asker) {
  const unsigned warp = asker.index / 32;
  bool first = true;
  unsigned ballot = 0, reduced = 0;
  for (unsigned l = 0; l < 32; l++) {
    if (!(asker.mask >> l & 1)) continue;
    const Fiber* f = lane(warp, l);
    if (!f || f->state == State::done) continue;
    if (!takesPart(f, asker)) return false;
    if (f->value) ballot |= 1u << l;
    reduced = first ? static_cast<unsigned>(f->value) : combine(asker.kind, reduced, static_cast<unsigned>(f->value));
    first = false;
  }
  const int kind = asker.kind;
  Fiber* met[32];
  int n = 0;
  for (unsigned l = 0; l < 32; l++) {
    Fiber* f = asker.mask >> l & 1 ? lane(warp, l) : nullptr;
    if (!takesPart(f, asker)) continue;
    met[n++] = f;
    if (kind <= fkemu_shfl_xor) {
      const Fiber* from = lane(warp, sourceLane(*f));
      f->result = takesPart(from, asker) ? from->value : undefinedValue;
    } else {
      f->result = kind == fkemu_ballot ? ballot : reduced;
    }
  }
  for (int i = 0; i < n; i++) met[i]->state = State::ready;
  return true;
}

unsigned long long warpOperation(int kind, unsigned mask, unsigned long long value, unsigned operand, unsigned width, int line) {
  Fiber& me = *running;
  if (!(mask >> (me.index & 31) & 1))
    escapeWith("line " + std::to_string(line) + ": a lane that its own mask does not name takes part in a warp operation");
  if (width == 0 || width > 32 || (width & (width - 1)))
    escapeWith("line " + std::to_string(line) + ": the width of a shuffle is no power of two up to 32");
  me.kind = kind;
  me.mask = mask;
  me.value = value;
  me.operand = operand;
  me.width = width;
  me.line = line;
  me.state = State::warp;
  if (!meet(me)) yield();
  return me.result;
}

unsigned activeLanes() {
  unsigned mask = 0;
  for (unsigned l = 0; l < 32; l++)
    if (const Fiber* f = lane(running->index / 32, l); f && f->state != State::done) mask |= 1u << l;
  return mask;
}

// -------------------------------------------------------------------------------------------------------- scheduling

/** A thread's exit may complete what the others wait for. */
void leave(Fiber& me) {
  me.state = State::done;
  exited++;
  releaseBarrier();
  for (unsigned l = 0; l < 32; l++)
    if (Fiber* f = lane(me.index / 32, l); f && f->state == State::warp) meet(*f);
}

void threadMain() {
  kernel->thread(kernelArguments);
  leave(*running);
  yield();
  __builtin_unreachable();
}

std::string describeDeadlock() {
  std::map<std::string, unsigned> groups;
  for (unsigned i = 0; i < threads; i++) {
    const Fiber& f = fibers[i];
    if (f.state == State::barrier) groups["at the barrier of line " + std::to_string(f.line)]++;
    else if (f.state == State::warp) groups["at the warp operation of line " + std::to_string(f.line)]++;
    else groups["exited"]++;
  }
  std::string text = "deadlock, a barrier or warp operation in divergent control flow:";
  const char* separator = " ";
  for (const auto& [place, n] : groups) {
    text += separator + std::to_string(n) + " threads " + place;
    separator = ", ";
  }
  return text;
}

/** The order in which warps and lanes are tried: forward, reverse, or shuffled, to bring out races. */
const std::vector<unsigned>& schedule() {
  static auto* order = new std::vector<unsigned>;
  static std::mt19937 random(12345);
  order->resize(threads);
  std::iota(order->begin(), order->end(), 0u);
  const std::string how = setting("order", "forward");
  if (how == "reverse") std::reverse(order->begin(), order->end());
  if (how == "shuffle") std::shuffle(order->begin(), order->end(), random);
  return *order;
}

/** Runs the threads of `order`'s slice until none of them can go on; whether any ran. */
bool runSlice(const std::vector<unsigned>& order, unsigned from, unsigned to) {
  bool ranAny = false;
  for (bool ran = true; ran;) {
    ran = false;
    for (unsigned k = from; k < to; k++) {
      Fiber& f = fibers[order[k]];
      if (f.state != State::ready) continue;
      resume(f);
      ran = ranAny = true;
    }
  }
  return ranAny;
}

void startThreads(const dim3& block) {
  threads = block.x * block.y * block.z;
  waiting = exited = 0;
  for (unsigned i = 0; i < threads; i++) {
    Fiber& f = fibers[i];
    prepare(f.machine, stackOf(f), threadMain);
    f.index = i;
    f.threadIdx = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
    f.state = State::ready;
  }
}

[[noreturn]] void trap(const char* message) { escapeWith(message); }

void (*largeBody)(void*) = nullptr;
void* largeArgument = nullptr;

void largeMain() {
  largeBody(largeArgument);
  yield();
  __builtin_unreachable();
}

}  // namespace

const fkemu_runtime runtime = {barrier, warpOperation, activeLanes, trap};

void runBlockOfFibers(const Launch& launch, void** arguments) {
  module = &launch.function->module->info;
  kernel = launch.function->kernel;
  kernelArguments = arguments;
  startThreads(launch.block);
  const std::vector<unsigned>& order = schedule();
  while (exited < threads) {
    bool ran = false;
    for (unsigned from = 0; from < threads; from += 32) ran |= runSlice(order, from, std::min(from + 32, threads));
    if (!ran) escapeWith(describeDeadlock());
  }
}

void runOnLargeStack(void (*body)(void*), void* argument) {
  module = nullptr;
  largeBody = body;
  largeArgument = argument;
  Fiber& fiber = fibers[0];
  prepare(fiber.machine, stackOf(fiber), largeMain);
  resume(fiber);
}

}  // namespace fkemu
