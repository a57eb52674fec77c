"""Operators of other domains, each domain loaded when it is met."""
