import os
import pickle
import subprocess
import sys

import numba


def test_kernels_are_compiled_where_nothing_can_be_kept():
    """Installed read-only and without a home, Numba cannot cache: then it compiles in memory."""
    script = """
from unchurn.neighbors.kernels import jit
def njit(cache=False, **options):
    if cache:
        raise RuntimeError("cannot cache function")
    return lambda function: function
jit.njit = njit
assert jit.exact(len)([1, 2]) == 2
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_another_version_of_the_kernels_left_is_not_read(tmp_path):
    """Numba would unpickle it, and fail for types that are no more."""
    script = tmp_path / "own.py"
    script.write_text("""
from unchurn.neighbors.kernels import jit
@jit.exact
def double(x):
    return 2 * x
assert double(3) == 6
""")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, script], env=environment, check=True)
    (kept,) = (tmp_path / "cache").rglob("own.double*.nbi")
    kept.write_bytes(pickle.dumps(numba.__version__) + b"no pickle")
    subprocess.run([sys.executable, script], env=environment, check=True)
