// Events: places in a stream's queue.
#include <chrono>

#include "state.h"

namespace fkemu {
namespace {

double now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<Event> findEvent(Context* context, CUevent handle) {
  const auto found = context->events.find(reinterpret_cast<Event*>(handle));
  return found == context->events.end() ? nullptr : found->second;
}

CUresult elapsed(float* out, CUevent from, CUevent to) {
  FK_ENTER_CONTEXT;
  const auto start = findEvent(context, from), end = findEvent(context, to);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!start || !end || !start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
  if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->complete || !end->complete) return CUDA_ERROR_NOT_READY;
  *out = static_cast<float>(end->milliseconds - start->milliseconds);
  return CUDA_SUCCESS;
}

/** Why an event cannot be asked about: its last record was captured, or another stream is being captured. */
CUresult forbidAsking(const Event& event) {
  if (const auto capture = event.capture.lock()) {
    capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (event.captured) return CUDA_ERROR_INVALID_VALUE;
  return forbidDuringCapture();
}

}  // namespace
}  // namespace fkemu

FK_API CUresult cuEventCreate(CUevent* out, unsigned int flags) {
  FK_ENTER_CONTEXT;
  if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_shared<fkemu::Event>();
  event->context = context;
  event->flags = flags;
  *out = reinterpret_cast<CUevent>(event.get());
  context->events[event.get()] = event;
  fkemu::count("events");
  return CUDA_SUCCESS;
}

FK_API CUresult cuEventDestroy_v2(CUevent handle) {
  FK_ENTER_CONTEXT;
  if (!context->events.erase(reinterpret_cast<fkemu::Event*>(handle))) return CUDA_ERROR_INVALID_HANDLE;
  fkemu::count("events", -1);
  return CUDA_SUCCESS;
}

FK_API CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  FK_ENTER_CONTEXT;
  const auto event = fkemu::findEvent(context, handle);
  fkemu::Stream* stream = fkemu::findStream(context, streamHandle);
  if (!event || !stream) return CUDA_ERROR_INVALID_HANDLE;
  event->recorded = true;
  event->stream = stream->weak_from_this();
  event->capture = stream->capture;
  event->captured = stream->capture != nullptr;
  if (stream->capture) {
    event->capturedAt = stream->captured;
    return CUDA_SUCCESS;
  }
  event->complete = false;
  event->polls = 0;
  const std::uint64_t sequence = event->sequence = fkemu::driver().sequence + 1;  // what enqueue gives it
  const std::weak_ptr<fkemu::Event> weak = event;
  return fkemu::enqueue(stream, [weak, sequence] {
    const auto recorded = weak.lock();
    if (!recorded || recorded->sequence != sequence) return CUDA_SUCCESS;  // destroyed, or recorded again since
    recorded->complete = true;
    recorded->milliseconds = fkemu::now();
    return CUDA_SUCCESS;
  });
}

/** Answers "not ready" as often as the setting `polls` says, then lets the work before the event finish. */
FK_API CUresult cuEventQuery(CUevent handle) {
  FK_ENTER_CONTEXT;
  const auto event = fkemu::findEvent(context, handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult forbidden = fkemu::forbidAsking(*event)) return forbidden;
  if (event->complete && !fkemu::number("late_events", 0)) return CUDA_SUCCESS;
  if (event->recorded && event->polls++ < fkemu::number("polls", 2)) return CUDA_ERROR_NOT_READY;
  if (const auto stream = event->stream.lock()) fkemu::drain(stream.get(), event->sequence);
  return context->sticky;
}

FK_API CUresult cuEventSynchronize(CUevent handle) {
  FK_ENTER_CONTEXT;
  const auto event = fkemu::findEvent(context, handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult forbidden = fkemu::forbidAsking(*event)) return forbidden;
  if (const auto stream = event->stream.lock()) fkemu::drain(stream.get(), event->sequence);
  event->polls = INT64_MAX / 2;
  return context->sticky;
}

FK_API CUresult cuEventElapsedTime(float* out, CUevent from, CUevent to) { return fkemu::elapsed(out, from, to); }
FK_API CUresult cuEventElapsedTime_v2(float* out, CUevent from, CUevent to) { return fkemu::elapsed(out, from, to); }
