"""Names that this distribution adds to `pytensor.tensor`."""

__all__ = []
