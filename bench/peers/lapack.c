/* The peer of bench/tridiagonal: LAPACK's dgtsv on a batch of contiguous systems, one call a system, one thread.
 *
 *   lapack rows batch repetitions < systems > solutions
 *
 * systems: lower, diagonal, upper, rhs, each batch·rows doubles, contiguous. solutions: batch·rows doubles; then, on standard error, the
 * median seconds of the calls alone (dgtsv overwrites all four, so they are copied before each repetition). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgtsv_(const int *n, const int *nrhs, double *dl, double *d, double *du, double *b, const int *ldb, int *info);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int rows = atoi(argv[1]), batch = atoi(argv[2]), repetitions = atoi(argv[3]), one = 1;
  const size_t size = (size_t)rows * (size_t)batch;
  double *given = malloc(4 * size * sizeof(double)), *work = malloc(4 * size * sizeof(double));
  double *seconds = malloc((size_t)repetitions * sizeof(double));
  if (given == NULL || work == NULL || seconds == NULL) return 3;
  if (fread(given, sizeof(double), 4 * size, stdin) != 4 * size) return 4;
  for (int r = 0; r < repetitions; ++r) {
    memcpy(work, given, 4 * size * sizeof(double));
    const double start = now();
    for (int s = 0; s < batch; ++s) {
      const size_t at = (size_t)s * (size_t)rows;
      int info = 0;
      dgtsv_(&rows, &one, work + at + 1, work + size + at, work + 2 * size + at, work + 3 * size + at, &rows, &info);
      if (info != 0) return 5;
    }
    seconds[r] = now() - start;
  }
  qsort(seconds, (size_t)repetitions, sizeof(double), ascending);
  fprintf(stderr, "%.9g\n", seconds[repetitions / 2]);
  return fwrite(work + 3 * size, sizeof(double), size, stdout) == size ? 0 : 6;
}
