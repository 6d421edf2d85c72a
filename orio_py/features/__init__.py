"""Static features of variants: numbers that are known before anything is compiled, one module for each family."""
