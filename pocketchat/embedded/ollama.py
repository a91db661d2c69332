"""An Ollama on this machine, which is worth a hint to whoever uses the bundled model."""

import http.client
import json

PORT = 11434


def offer(port: int = PORT) -> str | None:
    """One line with the settings that would use it; None when there is no Ollama, or no model in it."""
    name = _first_model(port)
    if name is None:
        return None
    return (
        f"Ollama runs on this machine. To chat with its {name}, put into .env: "
        f"POCKETCHAT_CHAT_MODEL=openai:{name} POCKETCHAT_CHAT_BASE_URL=http://localhost:{port}/v1"
    )


def _first_model(port: int) -> str | None:
    connection = http.client.HTTPConnection("localhost", port, timeout=0.5)
    try:
        connection.request("GET", "/api/tags")
        return str(json.load(connection.getresponse())["models"][0]["name"])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()
