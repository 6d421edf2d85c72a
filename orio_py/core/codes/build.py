"""Diagnostic codes ORIO-B…: compilers and builds."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-B001",
        "no C compiler",
        "Variants are built with a C compiler and none was found on the PATH (gcc, clang, cc, icx, tcc and zig "
        "were looked for). Install one with your system's package manager, or, without any rights on the "
        "machine, the wheel `ziglang` with pip, and run the command again (`--cc zig`). "
        "The exit code is 3: the input may be fine, the machine lacks something.",
    ),
    Code(
        "ORIO-B002",
        "compiler not found",
        "The first word of `build_command` (or of `--cc`) is not a program on the PATH, although another C "
        "compiler is installed. Write the name of an installed compiler:\n\n"
        "  def build { arg build_command = 'gcc -O3'; }",
    ),
    Code(
        "ORIO-B003",
        "malformed build command",
        "A command of the `build` section is empty or has an unbalanced quote. Commands are split into words "
        "as a shell would split them and run without a shell.",
    ),
    Code(
        "ORIO-B004",
        "the original code does not compile",
        "Before any variant is tried, the code of the region is built as it stands, inside the declarations "
        "of its enclosing function. The compiler refused it; its messages follow as notes. Usual reasons are "
        "a variable that neither the file nor `input_vars` declares, a header that is not found, or a wrong "
        "option in `build_command`.",
    ),
    Code(
        "ORIO-B005",
        "the inputs cannot be set up",
        "The program that allocates and fills the variables of `input_vars` did not compile. It contains the "
        "declarations, initialisers, `decl_file`, `init_file` and `validation_file` as the specification gives "
        "them; the compiler's messages follow as notes.",
    ),
    Code(
        "ORIO-B006",
        "OpenMP not available",
        "The recipe contains OpenMP pragmas, but the compiler cannot link OpenMP programs: clang needs its "
        "OpenMP library, which is a package of its own on many systems. The region is tuned as plain C; the "
        "pragmas stand between `#if defined(_OPENMP)` lines and are ignored. Install the library, choose "
        "another compiler with `--cc`, or write `--target openmp` to insist.",
    ),
    Code(
        "ORIO-B010",
        "no OpenCL device",
        "The recipe makes OpenCL kernels, which are measured on an OpenCL device through PyOpenCL. The message "
        "says what is missing: the package, a driver, or a device with a compiler. On every machine "
        "`pip install 'orio_py[opencl]'` brings PyOpenCL and PoCL, which makes a device of the processor. "
        "`orio devices` shows what was found. The exit code is 3: the input may be fine.",
    ),
    Code(
        "ORIO-B011",
        "no such OpenCL device",
        "The argument `platform` or `device` of a recipe names what this machine does not have. Each is a "
        "number as `orio devices` shows it (PLATFORM:DEVICE), or a part of the name or version, in any case. "
        "Configurations that name such a device are left out.",
    ),
    Code(
        "ORIO-B012",
        "launch shape beyond the device's limits",
        "A configuration asks for more work items in a group, in all or in one dimension, than the device "
        "can do, or for more dimensions. It is left out before anything is built; a constraint on the "
        "parameters keeps it out of the search space.",
    ),
    Code(
        "ORIO-B013",
        "local memory beyond the device's limits",
        "The tiles and partial results that a group keeps in local memory take more bytes than a group of the "
        "device has. The configuration is left out: some drivers would run it all the same, and wrongly.",
    ),
    Code(
        "ORIO-B014",
        "no double precision on the device",
        "A kernel computes with `double`, and the device's driver does not offer the extension `cl_khr_fp64`. "
        "Choose another device with the argument `device`, or compute with `float`.",
    ),
    Code(
        "ORIO-B015",
        "buffers beyond the device's memory",
        "An array is larger than the largest buffer of the device, or all arrays of a kernel together take "
        "more than its memory. Tune at a smaller problem size, or on another device.",
    ),
    Code(
        "ORIO-B016",
        "kernels that disagree",
        "All kernels of a variant are measured on one device and built with the same options. Two steps of "
        "the recipe give different values of `platform` and `device`, or of `clFlags`. Give both the same, or "
        "tune their regions one by one.",
    ),
    Code(
        "ORIO-B017",
        "the driver fails its self-test",
        "Before a device is used for the first time, small kernels whose results are known are run on it: vectors of each "
        "width and type, a reduction, local memory, a barrier in a loop. What its driver computes wrongly, cannot build "
        "or crashes in is told once, and no variant asks for it: configurations that need it are left out before they are "
        "built. PoCL's wheel is tried with its other kernel libraries first. `orio devices` shows what was found; the "
        "answers are kept by driver, version and processor. docs/reference/opencl.md tells more.",
    ),
    Code(
        "ORIO-B020",
        "no CUDA compiler",
        "CUDA kernels are compiled by NVIDIA's run-time compiler (NVRTC), which wheels bring to every machine, with "
        "or without a GPU: `pip install 'orio_py[cuda]'`. The `nvcc` of a CUDA toolkit on the PATH does as well; the "
        "machine code that it makes is read with the package pyelftools of the same extra. The message says what is "
        "missing, and `orio devices` shows what was found. The exit code is 3: the input may be fine.",
    ),
    Code(
        "ORIO-B021",
        "architecture unknown to the CUDA compiler",
        "Machine code was asked for a GPU architecture that the installed CUDA compiler does not know. Each release "
        "of CUDA drops old architectures and adds new ones: compute capability 7.5 (`sm_75`) is the oldest of CUDA "
        "13. Write an architecture of the list in the message, or install another release.",
    ),
    Code(
        "ORIO-B023",
        "no GPU for CUDA kernels",
        "CUDA kernels run on a GPU of NVIDIA's, by its driver (libcuda, of NVIDIA's driver package) and a Python library "
        "that calls the driver: cuda-bindings, which `pip install 'orio_py[cuda]'` brings as wheels, or PyCUDA. The "
        "message says which of these is missing, and a note what each library says; `orio devices` shows the same. "
        "Without a GPU variants are generated, compiled and checked on the processor all the same. The exit code is 3: "
        "the input may be fine, the machine lacks something.",
    ),
    Code(
        "ORIO-B024",
        "no such library for CUDA's driver",
        "The variable ORIO_CUDA_DRIVER names the Python library that calls NVIDIA's driver, and there is none of that "
        "name. There are two: `cuda-bindings`, NVIDIA's own, and `pycuda`. Without the variable the first that works "
        "is taken. The exit code is 3: the input may be fine.",
    ),
    Code(
        "ORIO-B022",
        "no such CUDA compiler",
        "A CUDA compiler was asked for by a name that none has. There are two: `nvrtc`, NVIDIA's run-time compiler "
        "from wheels, and `nvcc`, the program of a CUDA toolkit. Without a name the first that works is taken.",
    ),
    Code(
        "ORIO-B030",
        "no C++ compiler",
        "CUDA kernels and their host code are checked on the processor by a C++17 compiler together with a header "
        "that takes the place of `cuda_runtime.h`. g++ is needed for that and was not found on the PATH. Install it "
        "with your system's package manager. The exit code is 3: the input may be fine, the machine lacks something.",
    ),
    Code(
        "ORIO-B040",
        "CUDA variants cannot be timed here",
        "A recipe with `transform CUDA(...)` has variants that run on an NVIDIA GPU, and none can be used on this "
        "machine; the message says what is missing. Without a GPU `orio tune` generates each variant, compiles it "
        "for the target architecture and checks it on the processor against the original, which needs a C++ compiler. "
        "Its table tells what was found. No time is taken, nothing is written, and the exit code is 3: the input may "
        "be fine. `orio devices` shows what there is. One variant can be written without any of that:\n\n"
        "    orio transform FILE --set threadCount=128",
    ),
    Code(
        "ORIO-B041",
        "machine code for another GPU",
        "A recipe names an architecture (`arch='sm_80'`, or `-arch=sm_80` among the options of the compiler), and the "
        "GPU that is to run the variant is of another one. A GPU runs machine code for its own major number and for "
        "minor numbers up to its own: one of compute capability 8.6 runs `sm_80` and `sm_86`, but not `sm_75`, `sm_89` "
        "or `sm_90`. Without `arch` variants are compiled for the GPU at hand.",
    ),
    Code(
        "ORIO-B050",
        "no Dask scheduler answers",
        "`--cluster dask://HOST:PORT` wants a Dask scheduler at that address, and none answered within 30 s. Start one "
        "with `dask scheduler`, and workers with `dask worker HOST:PORT --nthreads 1` on every machine, or let "
        "dask-jobqueue do both. The exit code is 3: the input may be fine.",
    ),
    Code(
        "ORIO-B051",
        "no worker is left",
        "The cluster had no worker that could be used for two minutes: all have gone, or those that are there have another "
        "processor, compiler or version of orio_py than the session's first one, so that their times would not compare. "
        "What was measured until then is in the results database, and the same command goes on from there.",
    ),
    Code(
        "ORIO-B052",
        "Dask is missing",
        "`--cluster` runs builds and measurements by the Python package `distributed`, which is not installed. Install it "
        "with `pip install 'orio-py[cluster]'` here and on the workers, in the same versions.",
    ),
)
