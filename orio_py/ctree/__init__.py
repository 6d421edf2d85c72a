"""C trees: the only package that touches pycparser and islpy."""
