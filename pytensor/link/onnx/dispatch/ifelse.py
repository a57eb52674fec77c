"""Lazy choice."""
