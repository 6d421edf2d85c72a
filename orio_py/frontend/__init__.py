"""From annotated C files and specifications to tuning tasks."""
