"""The one path of Theano's `nnet` that older scripts import: `nnet.abstract_conv.conv2d`."""
