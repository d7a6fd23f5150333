"""The contract's service on LIBRARY."""

from workers import serve


def listen(address: str, shared: bool) -> None:
    """Serves at the address until SIGTERM. `shared`: other processes listen on the same port."""
    raise RuntimeError("not written yet: server.py must answer the four calls of contract/README.md here")


if __name__ == "__main__":
    serve("python-LIBRARY", listen)
