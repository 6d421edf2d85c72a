"""What a tree does with array elements: its statements, the references they use, and how long a value lives."""
