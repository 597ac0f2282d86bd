// The functions of nvrtc.h that the CUDA back end calls.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "../image.h"
#include "compile.h"
#include "settings.h"

#define API extern "C" __attribute__((visibility("default")))

namespace fkemu {
struct Program {
  std::string source, name, log, image, ptx;
};

std::vector<int> supportedArchs() {
  std::vector<int> archs;
  std::stringstream list(setting("nvrtc_archs", "75,80,86,87,88,89,90,100,103,110,120,121"));
  for (std::string item; std::getline(list, item, ',');)
    if (!item.empty()) archs.push_back(std::atoi(item.c_str()));
  return archs;
}

bool isSupported(unsigned arch) {
  for (const int known : supportedArchs())
    if (known == static_cast<int>(arch)) return true;
  return false;
}
}  // namespace fkemu

using fkemu::Program;

enum nvrtcResult {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
  NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
};
typedef Program* nvrtcProgram;

API const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_PROGRAM_CREATION_FAILURE: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: return "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case NVRTC_ERROR_INTERNAL_ERROR: return "NVRTC_ERROR_INTERNAL_ERROR";
    case NVRTC_ERROR_TIME_FILE_WRITE_FAILED: return "NVRTC_ERROR_TIME_FILE_WRITE_FAILED";
  }
  return "NVRTC_ERROR unknown";
}

API nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  const std::string version = fkemu::setting("nvrtc_version", "13.0");
  *major = std::atoi(version.c_str());
  const std::size_t dot = version.find('.');
  *minor = dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(fkemu::supportedArchs().size());
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  if (!archs) return NVRTC_ERROR_INVALID_INPUT;
  for (const int arch : fkemu::supportedArchs()) *archs++ = arch;
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                                   const char* const*, const char* const*) {
  if (!program || !source || headers < 0) return NVRTC_ERROR_INVALID_INPUT;
  if (headers > 0) return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;  // none are needed by generated code
  *program = new Program{source, name && *name ? name : "default_program", "", "", ""};
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

namespace {

bool startsWith(const std::string& text, const std::string& prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

/** `--gpu-architecture=sm_90`, `-arch=compute_80` and the like; false when malformed or not supported. */
bool readArch(const std::string& value, unsigned& arch, bool& isVirtual) {
  isVirtual = startsWith(value, "compute_");
  if (!isVirtual && !startsWith(value, "sm_")) return false;
  arch = static_cast<unsigned>(std::atoi(value.c_str() + (isVirtual ? 8 : 3)));
  return fkemu::isSupported(arch);
}

bool ignorable(const std::string& option) {
  for (const char* prefix : {"--std=", "-std=", "--use_fast_math", "-use_fast_math", "--ftz=", "-ftz=", "--prec-div=",
                             "-prec-div=", "--prec-sqrt=", "-prec-sqrt=", "--device-as-default-execution-space",
                             "-default-device", "--generate-line-info", "-lineinfo", "--device-debug", "-G", "--maxrregcount=",
                             "-maxrregcount=", "--extra-device-vectorization", "-extra-device-vectorization", "--restrict",
                             "-restrict", "--disable-warnings", "-w", "--relocatable-device-code=false", "-rdc=false",
                             "--diag-suppress=", "-diag-suppress=", "--ptxas-options=", "-Xptxas", "--split-compile=",
                             "--minimal", "-minimal", "--no-source-include", "--display-error-number", "--dopt", "--time="})
    if (startsWith(option, prefix)) return true;
  return false;
}

nvrtcResult readOptions(fkemu::Request& request, bool& isVirtual, std::string& log, int count, const char* const* options) {
  isVirtual = true;
  for (int i = 0; i < count; i++) {
    std::string option = options[i];
    // Options that take a value take it after `=` or as the next option.
    for (const char* name : {"--gpu-architecture", "-arch", "--fmad", "-fmad", "--std", "-std", "--define-macro", "-D"})
      if (option == name && i + 1 < count) {
        option += std::string(option == "-D" ? "" : "=") + options[++i];
        break;
      }
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (name == "--gpu-architecture" || name == "-arch") {
      if (!readArch(value, request.arch, isVirtual)) {
        log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
        return NVRTC_ERROR_INVALID_OPTION;
      }
    } else if (name == "--fmad" || name == "-fmad") {
      request.contract = value != "false";
    } else if (name == "--define-macro") {
      request.defines.push_back(value);
    } else if (startsWith(option, "-D")) {
      request.defines.push_back(option.substr(2));
    } else if (!ignorable(option)) {
      log = "nvrtc: error: unrecognized option " + option + " found\n";
      return NVRTC_ERROR_INVALID_OPTION;
    }
  }
  return NVRTC_SUCCESS;
}

/** Uses more stack than koffi gives calls on its threads by default: the real compiler recurses. */
void useStack() {
  volatile char stack[768 << 10];
  for (std::size_t at = 0; at < sizeof stack; at += 1024) stack[at] = 1;
}

}  // namespace

API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  useStack();
  fkemu::Request request;
  request.source = program->source;
  request.fileName = program->name;
  bool isVirtual = true;
  program->image.clear();
  program->ptx.clear();
  program->log.clear();
  const nvrtcResult read = readOptions(request, isVirtual, program->log, count, options);
  if (read != NVRTC_SUCCESS) return read;
  request.defines.push_back("__CUDA_ARCH__=" + std::to_string(request.arch * 10));
  request.defines.push_back("FK_EXACT");  // g++ knows no PTX
  const fkemu::Compiled compiled = fkemu::compile(request);
  program->log = compiled.log;
  if (compiled.internalError) return NVRTC_ERROR_INTERNAL_ERROR;
  if (!compiled.ok) return NVRTC_ERROR_COMPILATION;
  if (!isVirtual) program->image = compiled.image;
  program->ptx = fkemu::ptxMagic + compiled.imagePath + "\n";
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = program->log.size() + 1;
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!log) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  if (!program || program->ptx.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = program->ptx.size() + 1;
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  if (!program || program->ptx.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!ptx) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(ptx, program->ptx.c_str(), program->ptx.size() + 1);
  return NVRTC_SUCCESS;
}

/** 0 bytes where the architecture was a virtual one, as in NVRTC. */
API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  if (!program || program->ptx.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = program->image.size();
  return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  if (!program || program->image.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!image) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(image, program->image.data(), program->image.size());
  return NVRTC_SUCCESS;
}

API void fkemu_nvrtc_set(const char* name, const char* value) { fkemu::setSetting(name, value); }

API double fkemu_nvrtc_counter(const char* name) {
  if (std::string(name) == "compiler_runs") return static_cast<double>(fkemu::compilerRuns);
  if (std::string(name) == "cache_hits") return static_cast<double>(fkemu::cacheHits);
  return -1;
}
