// A graph is the list of captured work, in the order in which it was captured; that order respects every dependency.
#include "state.h"

namespace fkemu {
namespace {

template <class Table> Graph* known(Table& table, void* handle) {
  const auto found = table.find(static_cast<Graph*>(handle));
  return found == table.end() ? nullptr : found->second.get();
}

/** Whether a stream that joined the capture has work that its origin has not waited for. */
bool hasUnjoined(Context* context, const std::shared_ptr<Capture>& capture) {
  for (const auto& [stream, keep] : context->streams)
    if (stream->capture == capture && stream != capture->origin && stream->joined < stream->captured) return true;
  return false;
}

void leave(Context* context, const std::shared_ptr<Capture>& capture) {
  for (const auto& [stream, keep] : context->streams)
    if (stream->capture == capture) stream->capture.reset();
}

}  // namespace
}  // namespace fkemu

FK_API CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (static_cast<int>(mode) < 0 || static_cast<int>(mode) > 2) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_shared<fkemu::Capture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->thread = fkemu::threadNumber();
  stream->captured = stream->joined = 0;
  fkemu::driver().captures.push_back(stream->capture);
  return CUDA_SUCCESS;
}

FK_API CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  const auto capture = stream->capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != fkemu::threadNumber())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const bool unjoined = fkemu::hasUnjoined(context, capture);
  fkemu::leave(context, capture);
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (unjoined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  auto graph = std::make_unique<fkemu::Graph>();
  graph->nodes = std::make_shared<std::vector<fkemu::Work>>(std::move(capture->nodes));
  *out = reinterpret_cast<CUgraph>(graph.get());
  fkemu::driver().graphs[graph.get()] = std::move(graph);
  fkemu::count("graphs");
  return CUDA_SUCCESS;
}

FK_API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  FK_ENTER_CONTEXT;
  fkemu::Stream* stream = fkemu::findStream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = !stream->capture                ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

FK_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  FK_ENTER_CONTEXT;
  fkemu::Graph* graph = fkemu::known(fkemu::driver().graphs, handle);
  if (!graph || !out || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  auto exec = std::make_unique<fkemu::Graph>(*graph);
  *out = reinterpret_cast<CUgraphExec>(exec.get());
  fkemu::driver().execs[exec.get()] = std::move(exec);
  fkemu::count("graph_execs");
  return CUDA_SUCCESS;
}

FK_API CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  FK_ENTER_CONTEXT;
  fkemu::Graph* exec = fkemu::known(fkemu::driver().execs, handle);
  fkemu::Stream* stream = fkemu::findStream(context, streamHandle);
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  fkemu::count("graph_launches");
  return fkemu::enqueue(stream, [nodes = exec->nodes] {
    for (const fkemu::Work& node : *nodes)
      if (const CUresult failed = node()) return failed;
    return CUDA_SUCCESS;
  });
}

FK_API CUresult cuGraphExecDestroy(CUgraphExec handle) {
  FK_ENTER;
  if (!fkemu::driver().execs.erase(reinterpret_cast<fkemu::Graph*>(handle))) return CUDA_ERROR_INVALID_VALUE;
  fkemu::count("graph_execs", -1);
  return CUDA_SUCCESS;
}

FK_API CUresult cuGraphDestroy(CUgraph handle) {
  FK_ENTER;
  if (!fkemu::driver().graphs.erase(reinterpret_cast<fkemu::Graph*>(handle))) return CUDA_ERROR_INVALID_VALUE;
  fkemu::count("graphs", -1);
  return CUDA_SUCCESS;
}
