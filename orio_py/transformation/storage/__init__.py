"""ScalarReplace, BoundReplace, ArrCopy, Prefetch: transformations of what is stored where."""
