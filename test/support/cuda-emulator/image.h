// What the fake NVRTC writes and the fake driver loads: this header, then the bytes of a shared library.
#pragma once
#include <cstdint>

namespace fkemu {

struct ImageHeader {
  char magic[8];            // "FKEMUBIN"
  std::uint32_t version;    // imageVersion
  std::uint32_t arch;       // 90 for sm_90
  std::uint32_t fibers;     // 1: a barrier or a warp operation occurs in the source
  std::uint32_t reserved;
  std::uint64_t libraryBytes;
};

constexpr char imageMagic[9] = "FKEMUBIN";
constexpr std::uint32_t imageVersion = 1;

// "PTX" is text that names the cached image, so that it has a terminating NUL as real PTX has.
constexpr char ptxMagic[] = "//FKEMU-PTX ";

}  // namespace fkemu
