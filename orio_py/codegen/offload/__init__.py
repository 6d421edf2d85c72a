"""What device languages share: kernels and host code from plans, spelled by a dialect."""
