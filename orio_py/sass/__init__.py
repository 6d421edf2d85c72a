"""Machine code of NVIDIA GPUs as data: instructions, control flow, what each occupies."""
