"""Shared by the client programs in Python: everything in contract/clients.md except the calls."""
