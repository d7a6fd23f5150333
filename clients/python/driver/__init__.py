"""Shared by the client programs in Python: all that contract/clients.md asks for, except for the calls."""
