#include "compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "../image.h"
#include "settings.h"
#include "source.h"

extern char** environ;

namespace fkemu {

long compilerRuns = 0, cacheHits = 0;

namespace {

std::mutex cacheLock;
std::map<std::string, std::string>& memoryCache() {
  static auto* images = new std::map<std::string, std::string>;
  return *images;
}

/** The folder this library lies in: the prelude is beside it, the cache below it. */
std::string home() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&home), &info)) return ".";
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/'));
}

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : "";
}

bool writeFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return static_cast<bool>(file.flush());
}

std::string hash(const std::string& text) {
  std::uint64_t a = 1469598103934665603ull, b = 0x9e3779b97f4a7c15ull;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    b = (b + static_cast<unsigned char>(c)) * 0xff51afd7ed558ccdull;
    b ^= b >> 29;
  }
  char out[33];
  std::snprintf(out, sizeof out, "%016llx%016llx", static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  return out;
}

std::vector<std::string> machineFlags() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return {"-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"};
#endif
  return {};
}

std::vector<std::string> flagsFor(const Request& request) {
  std::vector<std::string> flags = {"-x", "c++", "-std=c++17", setting("optimise", "-O1"), "-fPIC", "-shared", "-nostdlib",
                                    "-fvisibility=hidden", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti",
                                    "-fno-math-errno", "-fno-trapping-math", "-fno-asynchronous-unwind-tables", "-w", "-pipe",
                                    "-fno-diagnostics-show-caret", "-fno-gnu-unique"};
  for (const std::string& flag : machineFlags()) flags.push_back(flag);
  flags.push_back(request.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
  if (request.contract) flags.push_back("-fexpensive-optimizations");  // the pass that contracts
  if (setting("sanitize", "0") == "1") {
    flags.push_back("-fsanitize=undefined");
    flags.push_back("-fsanitize-undefined-trap-on-error");
  }
  for (const std::string& define : request.defines) flags.push_back("-D" + define);
  return flags;
}

/** Runs a command with its output in `logPath`; the exit status, or -1. */
int execute(const std::vector<std::string>& command, const std::string& logPath) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, logPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string replaceAll(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string imageOf(const std::string& library, const Request& request, bool fibers) {
  ImageHeader header{};
  std::memcpy(header.magic, imageMagic, sizeof header.magic);
  std::strncpy(header.build, FKEMU_BUILD, sizeof header.build - 1);
  header.arch = request.arch;
  header.fibers = fibers;
  header.libraryBytes = library.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + library;
}

Compiled runCompiler(const Request& request, const std::vector<std::string>& flags, const std::string& imagePath) {
  static std::atomic<int> counter{0};
  const std::string stem = imagePath + "." + std::to_string(getpid()) + "." + std::to_string(counter++);
  const std::string source = stem + ".cpp", library = stem + ".so", log = stem + ".log";
  const Translated translated = translate(request.source, request.fileName);
  Compiled result;
  if (!writeFile(source, readFile(home() + "/prelude.h") + translated.text)) {
    result.internalError = true;
    result.log = "cuda-emulator: cannot write " + source;
    return result;
  }
  std::vector<std::string> command = {setting("gxx", "g++")};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {source, "-o", library, "-x", "none", "-lm", "-lc"});
  const int status = execute(command, log);
  __atomic_fetch_add(&compilerRuns, 1, __ATOMIC_RELAXED);
  result.log = replaceAll(readFile(log), source, request.fileName);
  result.internalError = status < 0 || status == 127;
  result.ok = status == 0;
  if (result.ok) {
    result.image = imageOf(readFile(library), request, translated.fibers);
    result.imagePath = imagePath;
    const std::string whole = stem + ".image";
    if (writeFile(whole, result.image)) rename(whole.c_str(), imagePath.c_str());
  }
  if (setting("keep", "0") != "1") unlink(source.c_str());
  unlink(library.c_str());
  unlink(log.c_str());
  return result;
}

}  // namespace

Compiled compile(const Request& request) {
  const std::vector<std::string> flags = flagsFor(request);
  std::string key = request.source + '\0' + request.fileName + '\0' + std::to_string(request.arch);
  for (const std::string& flag : flags) key += '\0' + flag;
  const std::string folder = setting("objects", home() + "/objects");
  mkdir(folder.c_str(), 0777);
  const std::string path = folder + "/" + hash(key) + ".image";
  {
    std::lock_guard<std::mutex> guard(cacheLock);
    std::string& image = memoryCache()[path];
    if (image.empty()) image = readFile(path);
    if (!image.empty()) {
      cacheHits++;
      Compiled hit;
      hit.ok = true;
      hit.image = image;
      hit.imagePath = path;
      return hit;
    }
  }
  Compiled result = runCompiler(request, flags, path);
  if (result.ok) {
    std::lock_guard<std::mutex> guard(cacheLock);
    memoryCache()[path] = result.image;
  }
  return result;
}

}  // namespace fkemu
