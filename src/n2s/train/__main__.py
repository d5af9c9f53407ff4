"""``torchrun --nproc-per-node K -m n2s.train PRESET --out RUN``: ``n2s train`` in several processes."""

import sys

from n2s.cli.main import run

sys.argv.insert(1, "train")
run()
