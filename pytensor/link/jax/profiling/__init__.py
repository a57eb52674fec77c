"""Measure where the time of a compiled function goes.

`report.profile` measures it, `node_names` makes the names of nodes that its table shows, and
`attribution` finds the node that each of XLA's operations belongs to.  A column of the table is a
field of `report.Row`.
"""
