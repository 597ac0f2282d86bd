/* Plain C loops of the generators, as a reader of the papers would write them: uniform doubles into an array.
 * cc -O3 -march=native random.c -lm; random GENERATOR COUNT REPETITIONS prints the best seconds of a run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void with_drand48(double *u, long n) {
  srand48(1);
  for (long i = 0; i < n; i++) u[i] = drand48();
}

static void with_xorwow(double *u, long n) {
  uint32_t x = 123456789, y = 362436069, z = 521288629, w = 88675123, v = 5783321, d = 6615241;
  for (long i = 0; i < n; i++) {
    uint32_t t = x ^ (x >> 2);
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    u[i] = (v + d + 0.5) * 0x1p-32;
  }
}

static void with_mrg32k3a(double *u, long n) {
  const int64_t m1 = 4294967087, m2 = 4294944443;
  int64_t x0 = 12345, x1 = 12345, x2 = 12345, y0 = 12345, y1 = 12345, y2 = 12345;
  for (long i = 0; i < n; i++) {
    int64_t p = (1403580 * x1 - 810728 * x0) % m1;
    int64_t q = (527612 * y2 - 1370589 * y0) % m2;
    if (p < 0) p += m1;
    if (q < 0) q += m2;
    x0 = x1;
    x1 = x2;
    x2 = p;
    y0 = y1;
    y1 = y2;
    y2 = q;
    u[i] = (p > q ? p - q : p - q + m1) / 4294967088.0;
  }
}

static void with_philox(double *u, long n) {
  for (long i = 0; i + 4 <= n; i += 4) {
    uint32_t c[4] = {(uint32_t)(i / 4), 0, 0, 0}, k0 = 1, k1 = 0;
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      uint64_t p = (uint64_t)0xD2511F53 * c[0], q = (uint64_t)0xCD9E8D57 * c[2];
      c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
      c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
      c[1] = (uint32_t)q;
      c[3] = (uint32_t)p;
    }
    for (int j = 0; j < 4; j++) u[i + j] = (c[j] + 0.5) * 0x1p-32;
  }
}

/* What writing the array takes: the floor. */
static void with_memset(double *u, long n) { memset(u, 1, n * sizeof *u); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  const char *name = arguments[1];
  long n = atol(arguments[2]), repetitions = atol(arguments[3]);
  void (*run)(double *, long) = !strcmp(name, "drand48")    ? with_drand48
                                : !strcmp(name, "xorwow")   ? with_xorwow
                                : !strcmp(name, "mrg32k3a") ? with_mrg32k3a
                                : !strcmp(name, "philox")   ? with_philox
                                                            : with_memset;
  double *u = malloc(n * sizeof *u), best = 1e9, sum = 0;
  run(u, n);
  for (long i = 0; i < repetitions; i++) {
    double start = now();
    run(u, n);
    double seconds = now() - start;
    if (seconds < best) best = seconds;
    sum += u[n / 2];
  }
  printf("%.9g\n", best);
  return sum < 0;
}
