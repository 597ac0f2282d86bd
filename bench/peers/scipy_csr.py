"""Times y = A x of SciPy's CSR on one thread: python3 scipy_csr.py GRID f64|f32 REPETITIONS prints the median seconds.

A is the seven-point Laplacian of a cube of GRID nodes along each axis.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp

n, precision, repetitions = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
dtype = np.float64 if precision == "f64" else np.float32
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
one = sp.eye_array(n)
a = sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one) + sp.kron(sp.kron(one, one), line)
a = sp.csr_array(a).astype(dtype)
a.sort_indices()
x = np.sin(np.arange(n**3)).astype(dtype)
a @ x
seconds = []
for _ in range(repetitions):
    start = time.perf_counter()
    y = a @ x
    seconds.append(time.perf_counter() - start)
print(sorted(seconds)[len(seconds) // 2], a.nnz)
