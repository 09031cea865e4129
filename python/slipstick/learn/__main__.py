"""The program: python -m slipstick.learn."""

import os

# networks of this size lose on threads of XLA, and one thread keeps sums in one order; read when JAX starts
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from .commands import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
