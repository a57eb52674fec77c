"""Run-time checks."""
