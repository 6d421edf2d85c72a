"""Specialize, Restrict: a second version of the code for what is promised or tested."""
