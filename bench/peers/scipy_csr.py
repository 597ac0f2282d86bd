"""Times SciPy on the seven-point Laplacian of a cube of GRID nodes along each axis, on one thread.

python3 scipy_csr.py product GRID f64|f32 REPETITIONS   median seconds of y = A x
python3 scipy_csr.py bicgstab|cgs GRID f64 ITERATIONS   seconds of an iteration
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

what, n, precision, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
dtype = np.float64 if precision == "f64" else np.float32
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
one = sp.eye_array(n)
a = sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one) + sp.kron(sp.kron(one, one), line)
a = sp.csr_array(a).astype(dtype)
a.sort_indices()
x = np.sin(np.arange(n**3)).astype(dtype)


def timed(work, repetitions):
    work()
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 2]


if what == "product":
    print(timed(lambda: a @ x, count))
else:
    method = getattr(scipy.sparse.linalg, what)
    print(timed(lambda: method(a, x, rtol=0, atol=0, maxiter=count), 5) / count)
