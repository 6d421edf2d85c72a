"""HIP variants: compiled by hipcc where there is one, and checked on the processor."""
