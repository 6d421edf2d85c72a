"""Programs to measurements: run, validate, time; never chooses what to try."""
