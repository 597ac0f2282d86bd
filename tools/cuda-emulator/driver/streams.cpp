// Streams are queues. Nothing in one runs before something waits for it, or asks about it often enough.
#include <algorithm>
#include <atomic>

#include "state.h"

namespace fkemu {
namespace {

/** The NULL stream and blocking streams wait for each other's earlier work. */
void drainLegacyDependencies(Stream* stream, std::uint64_t sequence) {
  Context* context = stream->context;
  if (stream->legacy) {
    for (const auto& [other, keep] : context->streams)
      if (!(other->flags & CU_STREAM_NON_BLOCKING)) drain(other, sequence - 1);
  } else if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
    drain(context->legacy.get(), sequence - 1);
  }
}

CUresult createStream(CUstream* out, unsigned flags) {
  FK_ENTER_CONTEXT;
  if (!out || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->flags = flags;
  *out = reinterpret_cast<CUstream>(stream.get());
  context->streams[stream.get()] = stream;
  count("streams");
  return CUDA_SUCCESS;
}

}  // namespace

std::uint64_t threadNumber() {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next++;
  return number;
}

Stream* findStream(Context* context, CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return context->legacy.get();
  const auto found = context->streams.find(reinterpret_cast<Stream*>(handle));
  return found == context->streams.end() ? nullptr : found->second.get();
}

CUresult enqueue(Stream* stream, Work work) {
  if (stream->capture) {
    if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->capture->nodes.push_back(std::move(work));
    stream->captured++;
    return CUDA_SUCCESS;
  }
  stream->queue.push_back({++driver().sequence, std::move(work)});
  stream->polls = 0;
  if (number("deferred", 1)) return CUDA_SUCCESS;
  drain(stream);
  return stream->context->sticky;
}

void drain(Stream* stream, std::uint64_t sequence) {
  Context* context = stream->context;
  const std::shared_ptr<Stream> keep = stream->shared_from_this();
  while (!stream->queue.empty() && stream->queue.front().sequence <= sequence) {
    const std::uint64_t front = stream->queue.front().sequence;
    drainLegacyDependencies(stream, front);
    if (stream->queue.empty() || stream->queue.front().sequence != front) continue;
    const Work work = std::move(stream->queue.front().run);
    stream->queue.pop_front();
    if (context->sticky) continue;  // what follows a fault never runs
    if (const CUresult failed = work()) fail(context, failed);
  }
}

void drainAll(Context* context) {
  std::vector<std::shared_ptr<Stream>> all = {context->legacy};
  for (const auto& [stream, keep] : context->streams) all.push_back(keep);
  for (const auto& stream : all) drain(stream.get());
  trimPoolToThreshold();
}

namespace {
template <class Concerns> CUresult invalidate(Concerns concerns, CUresult error) {
  auto& captures = driver().captures;
  captures.erase(std::remove_if(captures.begin(), captures.end(), [](auto& c) { return c.expired(); }), captures.end());
  for (const auto& weak : captures) {
    const auto capture = weak.lock();
    if (!concerns(*capture)) continue;
    capture->invalidated = true;
    return error;
  }
  return CUDA_SUCCESS;
}
}  // namespace

CUresult forbidDuringCapture() {
  const auto concerns = [](const Capture& capture) {
    return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
           (capture.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && capture.thread == threadNumber());
  };
  return invalidate(concerns, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult forbidDuringAnyCapture() {
  return invalidate([](const Capture&) { return true; }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult forbidImplicitDependency(Context* context) {
  const auto concerns = [&](const Capture& capture) {
    return capture.origin->context == context && !(capture.origin->flags & CU_STREAM_NON_BLOCKING);
  };
  return invalidate(concerns, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

}  // namespace fkemu

FK_API CUresult cuStreamCreate(CUstream* out, unsigned int flags) { return fkemu::createStream(out, flags); }

FK_API CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int) { return fkemu::createStream(out, flags); }

FK_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FK_ENTER_CONTEXT;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

FK_API CUresult cuStreamDestroy_v2(CUstream handle) {
  FK_ENTER_CONTEXT;
  const auto found = context->streams.find(reinterpret_cast<fkemu::Stream*>(handle));
  if (found == context->streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  const auto keep = found->second;
  fkemu::drain(keep.get());
  context->streams.erase(keep.get());
  fkemu::count("streams", -1);
  return CUDA_SUCCESS;
}

FK_API CUresult cuStreamSynchronize(CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  fkemu::drain(stream);
  fkemu::trimPoolToThreshold();
  return context->sticky;
}

/** Answers "not ready" as often as the setting `polls` says while work is left, then lets it finish. */
FK_API CUresult cuStreamQuery(CUstream handle) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (const CUresult forbidden = fkemu::forbidDuringCapture()) return forbidden;
  if (stream->queue.empty()) return CUDA_SUCCESS;
  if (stream->polls++ < fkemu::number("polls", 2)) return CUDA_ERROR_NOT_READY;
  fkemu::drain(stream);
  return context->sticky;
}

FK_API CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned int) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  const auto found = context->events.find(reinterpret_cast<fkemu::Event*>(eventHandle));
  if (!stream || found == context->events.end()) return CUDA_ERROR_INVALID_HANDLE;
  const fkemu::Event& event = *found->second;
  if (!event.recorded) return CUDA_SUCCESS;
  const auto other = event.stream.lock();
  if (const auto capture = event.capture.lock()) {  // a branch of the captured graph begins or ends
    if (stream->capture && stream->capture != capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!stream->capture) stream->captured = stream->joined = 0;
    stream->capture = capture;
    if (other && stream == capture->origin) other->joined = event.capturedAt;
    return CUDA_SUCCESS;
  }
  if (stream->capture) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (!other || event.complete) return CUDA_SUCCESS;
  const std::uint64_t until = event.sequence;
  const std::weak_ptr<fkemu::Stream> waited = other;
  return fkemu::enqueue(stream, [waited, until] {
    if (const auto s = waited.lock()) fkemu::drain(s.get(), until);
    return CUDA_SUCCESS;
  });
}
