// Runs g++ on translated source, or finds the object in the cache.
#pragma once
#include <string>
#include <vector>

namespace fkemu {

struct Request {
  std::string source;
  std::string fileName;
  unsigned arch = 52;
  bool contract = true;  // --fmad, true unless switched off, as in NVRTC
  std::vector<std::string> defines;
};

struct Compiled {
  bool ok = false;
  bool internalError = false;
  std::string log;
  std::string image;      // ImageHeader and library
  std::string imagePath;  // where the cache keeps it
};

Compiled compile(const Request& request);
/** Since the library was loaded: how often g++ ran, and how often the cache answered. */
extern long compilerRuns, cacheHits;

}  // namespace fkemu
