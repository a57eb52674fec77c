"""Terms and nodes: how converters write a graph, and the file."""
