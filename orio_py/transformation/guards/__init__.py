"""Conditions at run time (guards): what a recipe needs and the code does not say is tested before the transformed loops.

`runtime_guards` tries a refused recipe behind them; `address_ranges`, `row_ranges` and `pointed_bounds` find the memory
that arrays are used in, `single_members` those that structures point to, `row_facts` whether columns stay in their rows.
`loop_headers` makes trees that are what the user wrote only where a condition holds, and `guarded_tree` says what those are.
"""
