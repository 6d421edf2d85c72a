"""Files to something runnable: the only package that starts other programs."""
