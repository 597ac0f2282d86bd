#include <cctype>
#include <cstdlib>

#include "state.h"

namespace fkemu {
namespace {

template <class T> T& immortal() {
  static T* value = new T;  // outlives every static destructor: Node's threads may still call at exit
  return *value;
}
using Texts = std::map<std::string, std::string>;
struct Counters : std::map<std::string, double> {};
std::mutex settingsLock;

std::string environmentName(const char* name) {
  std::string variable = "FKEMU_";
  for (const char* c = name; *c; c++) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  return variable;
}

}  // namespace

std::string setting(const char* name, const char* otherwise) {
  std::lock_guard<std::mutex> guard(settingsLock);
  const auto found = immortal<Texts>().find(name);
  if (found != immortal<Texts>().end()) return found->second;
  const char* value = std::getenv(environmentName(name).c_str());
  return value ? value : otherwise;
}

long long number(const char* name, long long otherwise) {
  const std::string text = setting(name, "");
  return text.empty() ? otherwise : std::atoll(text.c_str());
}

void count(const char* name, double by) {
  std::lock_guard<std::mutex> guard(settingsLock);
  immortal<Counters>()[name] += by;
}

double counterValue(const char* name) {
  std::lock_guard<std::mutex> guard(settingsLock);
  return immortal<Counters>()[name];
}

namespace {
struct Fault { std::string text; };
}

void describeFault(const std::string& text) {
  std::lock_guard<std::mutex> guard(settingsLock);
  immortal<Fault>().text = text;
}

}  // namespace fkemu

/** Sets a setting; an empty value takes it back to the environment's or the default. */
FK_API void fkemu_set(const char* name, const char* value) {
  std::lock_guard<std::mutex> guard(fkemu::settingsLock);
  if (*value) fkemu::immortal<fkemu::Texts>()[name] = value;
  else fkemu::immortal<fkemu::Texts>().erase(name);
  if (std::string(name) == "oom_at") fkemu::immortal<fkemu::Counters>()["allocations_tried"] = 0;
  if (std::string(name) == "oom_host_at") fkemu::immortal<fkemu::Counters>()["pinned_tried"] = 0;
}

FK_API double fkemu_counter(const char* name) { return fkemu::counterValue(name); }

/** What went wrong in the last kernel or copy that faulted; empty when nothing did. */
FK_API const char* fkemu_last_fault() {
  std::lock_guard<std::mutex> guard(fkemu::settingsLock);
  return fkemu::immortal<fkemu::Fault>().text.c_str();
}
