// One translation unit, since the headers of the standard library cost more than all of this.
#include "settings.cpp"
#include "source.cpp"
#include "compile.cpp"
#include "nvrtc.cpp"
