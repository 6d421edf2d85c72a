"""The PerfTuning specification language."""
