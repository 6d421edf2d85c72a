"""Fuse, Distribute, Interchange, Reverse, StripMine: loops taken apart and put together."""
