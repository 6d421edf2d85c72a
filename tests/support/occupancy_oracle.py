"""Writes what NVIDIA's header says of some kernels: `tests/unit/machine/occupancy_values.csv`.

Run with the folder of `cuda_occupancy.h` (of a CUDA toolkit, or of the wheel `nvidia-cuda-runtime`):

    python tests/support/occupancy_oracle.py /usr/local/cuda/include
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.machine.catalog import gpu_models

HERE = Path(__file__).resolve().parent
VALUES = HERE.parent / "unit" / "machine" / "occupancy_values.csv"
PER_MODEL = 40
HEADING = "architecture,threads,registers,shared bytes,percent of shared memory,blocks,limits\n"


def main(include: str) -> None:
    draw = random.Random(2026)
    rows: list[tuple[str, int, int, int, int]] = []
    questions: list[str] = []
    for model in gpu_models().values():
        for _ in range(PER_MODEL):
            threads = draw.choice((1, 32, 33, 64, 96, 128, 192, 256, 320, 480, 512, 768, 1024))
            registers = draw.choice((16, 24, 32, 37, 40, 56, 64, 65, 80, 96, 128, 168, 200, 255))
            shared = draw.choice(
                (0, 0, 1, 2048, 4097, 8192, 16384, 33000, 49152, 65536, 101376, 167000, 232448)
            )
            percent = draw.choice((100, 100, 50))
            rows.append((model.architecture, threads, registers, shared, percent))
            sizes = (
                model.shared_bytes_per_block,
                model.shared_bytes_per_multiprocessor,
                model.shared_bytes_per_block_opt_in,
                model.shared_reserved_bytes,
            )
            number = model.architecture.removeprefix("sm_")
            asked = (number, model.max_warps_per_multiprocessor, *sizes, threads, registers, shared, percent)
            questions.append(" ".join(map(str, asked)))
    with TemporaryDirectory() as folder:
        program = Path(folder) / "oracle"
        subprocess.run(
            ["gcc", "-w", f"-I{include}", str(HERE / "occupancy_oracle.c"), "-o", str(program)], check=True
        )
        told = subprocess.run(
            [str(program)], input="\n".join(questions), capture_output=True, text=True, check=True
        )
    answers = [line.replace(" ", ",") for line in told.stdout.splitlines()]
    lines = [f"{','.join(map(str, row))},{answer}\n" for row, answer in zip(rows, answers, strict=True)]
    VALUES.write_text(HEADING + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
