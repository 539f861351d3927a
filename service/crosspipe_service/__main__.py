"""`python -m crosspipe_service`: serve with the settings of the environment."""

from __future__ import annotations

import argparse

from crosspipe_service.run import main
from crosspipe_service.settings import settings_table

parser = argparse.ArgumentParser(
    prog="python -m crosspipe_service",
    description="Serve CrossPipe over HTTP.",
    epilog="Settings from the environment:\n\n" + settings_table(),
    formatter_class=argparse.RawDescriptionHelpFormatter,
)
parser.add_argument("--host", help="address to listen on, instead of CROSSPIPE_HOST")
parser.add_argument("--port", type=int, help="port to listen on, instead of CROSSPIPE_PORT")
options = parser.parse_args()
main(options.host, options.port)
