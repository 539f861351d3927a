"""`python -m crosspipe_service.health.probe`: exit code 0 if the service of this machine answers, for containers."""

from __future__ import annotations

import http.client
import os
import sys

TIMEOUT_S = 4.0


def main() -> int:
    """Ask /healthz once."""
    port = int(os.environ.get("CROSSPIPE_PORT") or "8000")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        return 0 if connection.getresponse().status == http.client.OK else 1
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"no answer on port {port}: {error}\n")
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
