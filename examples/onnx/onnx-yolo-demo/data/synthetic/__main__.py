"""Draw the data set that the command line asks for."""

from data.synthetic import main

main()
