"""What converters are written with; nothing here imports a converter."""
