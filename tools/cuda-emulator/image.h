// What the fake NVRTC writes and the fake driver loads: this header, then the bytes of a shared library.
#pragma once
#include <cstdint>

// The hash of all sources, so that no image of another build is taken for one of this.
#ifndef FKEMU_BUILD
#define FKEMU_BUILD "by hand"
#endif

namespace fkemu {

struct ImageHeader {
  char magic[8];            // "FKEMUBIN"
  char build[24];           // FKEMU_BUILD
  std::uint32_t arch;       // 90 for sm_90
  std::uint32_t fibers;     // 1: a barrier or a warp operation occurs in the source
  std::uint64_t libraryBytes;
};

constexpr char imageMagic[9] = "FKEMUBIN";

// "PTX" is text that names the cached image, so that it has a terminating NUL as real PTX has.
constexpr char ptxMagic[] = "//FKEMU-PTX ";

}  // namespace fkemu
