"""Several devices, and several processes, that compute one function together."""
