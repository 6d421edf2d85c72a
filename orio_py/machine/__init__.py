"""What hardware is, as data: nothing here looks at the machine at hand."""
