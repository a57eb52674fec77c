"""Random variables."""
