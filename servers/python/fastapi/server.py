"""The contract's service as JSON on FastAPI and uvicorn."""

from app import app
from asgi import on_uvicorn
from workers import serve

if __name__ == "__main__":
    serve("python-fastapi", on_uvicorn(app))
