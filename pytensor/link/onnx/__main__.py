import sys

from pytensor.link.onnx.importing.describe import main

sys.exit(main())
