"""What few graphs need: special functions, linear algebra, random numbers, rare operators."""
