#include "settings.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

namespace fkemu {
namespace {
std::mutex lock;
std::map<std::string, std::string>& table() {
  static auto* values = new std::map<std::string, std::string>;
  return *values;
}
}  // namespace

std::string setting(const std::string& name, const std::string& otherwise) {
  std::lock_guard<std::mutex> guard(lock);
  const auto found = table().find(name);
  if (found != table().end()) return found->second;
  std::string variable = "FKEMU_";
  for (const char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const char* value = std::getenv(variable.c_str());
  return value ? value : otherwise;
}

void setSetting(const std::string& name, const std::string& value) {
  std::lock_guard<std::mutex> guard(lock);
  if (value.empty()) table().erase(name);
  else table()[name] = value;
}

}  // namespace fkemu
