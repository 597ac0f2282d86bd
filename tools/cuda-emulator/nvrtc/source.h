// Reads CUDA source as far as is needed to call its kernels from C++.
#pragma once
#include <string>
#include <vector>

namespace fkemu {

struct KernelText {
  std::string name;
  std::string bounds;  // first argument of __launch_bounds__, or "0"
};

struct Translated {
  std::string text;  // what follows the prelude
  bool fibers;
  int kernels;
};

Translated translate(const std::string& source, const std::string& fileName);

}  // namespace fkemu
