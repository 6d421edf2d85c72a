"""What is used of NVIDIA's search for libraries."""

class LoadedDL:
    abs_path: str | None
    found_via: str

def load_nvidia_dynamic_lib(libname: str) -> LoadedDL: ...
