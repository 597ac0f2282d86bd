// The peer of bench/dense: the machine's BLAS (OpenBLAS, or the reference one) multiplies two n × n matrices in one thread.
//
//   blas f64 512 15      →  median seconds of a product
//
// Build: g++ -O2 blas.cpp -lopenblas  or  -lblas      (bench/peers/blas.ts does it)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);
extern "C" void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                       const int*, const float*, const int*, const float*, float*, const int*);

static void gemm(int n, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
}
static void gemm(int n, const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  sgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
}

template <class Real> static double median(int n, int repetitions) {
  std::vector<Real> a(n * n), b(n * n), c(n * n);
  for (int k = 0; k < n * n; k++) { a[k] = Real(k % 17) / 17; b[k] = Real(k % 23) / 23; }
  std::vector<double> seconds;
  for (int i = 0; i <= repetitions; i++) {
    const auto start = std::chrono::steady_clock::now();
    gemm(n, a.data(), b.data(), c.data());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(took.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

int main(int, char** arguments) {
  const int n = std::atoi(arguments[2]), repetitions = std::atoi(arguments[3]);
  const bool f64 = std::strcmp(arguments[1], "f64") == 0;
  std::printf("%.9g\n", f64 ? median<double>(n, repetitions) : median<float>(n, repetitions));
}
