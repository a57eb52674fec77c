"""Special functions, by their formulas."""
