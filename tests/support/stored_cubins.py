"""Writes the cubins that the tests of their reader read, with the messages of ptxas: needs the extra `cuda`.

python tests/support/stored_cubins.py
"""

from __future__ import annotations

from pathlib import Path

from orio_py.build.cuda import CudaBinary, cuda_options
from orio_py.build.nvrtc import find_nvrtc

CUBINS = Path(__file__).resolve().parents[1] / "unit" / "build" / "cubins"
ARCHITECTURES = ("sm_75", "sm_90")


def main() -> None:
    source = (CUBINS / "kernels.cu").read_text()
    compiler = find_nvrtc()
    for architecture in ARCHITECTURES:
        built = compiler.compile(source, architecture, cuda_options("-maxrregcount=24 -Xptxas=-v"))
        assert isinstance(built, CudaBinary), built
        (CUBINS / f"kernels_{architecture}.cubin").write_bytes(built.cubin)
        told = [line for line in built.log.splitlines() if line and "Compile time" not in line]
        (CUBINS / f"kernels_{architecture}.txt").write_text(
            "\n".join((f"NVRTC {compiler.version}", *told, ""))
        )


if __name__ == "__main__":
    main()
