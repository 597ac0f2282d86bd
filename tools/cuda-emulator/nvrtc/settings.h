// Settings come from the environment, FKEMU_<NAME>, unless a test has set them by fkemu_nvrtc_set.
#pragma once
#include <string>

namespace fkemu {

std::string setting(const std::string& name, const std::string& otherwise);
void setSetting(const std::string& name, const std::string& value);

}  // namespace fkemu
