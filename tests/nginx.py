"""Debian's nginx in front of the product, with everything it does by default: buffering above all."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pocketchat.embedded.listening import answers, free_port
from pocketchat.embedded.process import wait_until
from tests.programs import program

MISSING = "nginx is not installed, and the product was not tried behind a proxy: apt-get install nginx-light"

CONFIG = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  gzip on;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {upstream};
      proxy_set_header Host $http_host;
    }}
  }}
}}
"""


@contextmanager
def running_nginx(folder: Path, upstream: str) -> Iterator[str]:
    """Its address. It buffers whatever the upstream does not ask it to pass on."""
    path = program("nginx", missing=MISSING)
    folder.mkdir()
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, upstream=upstream))
    server = subprocess.Popen([path, "-c", str(config), "-e", str(folder / "error.log")])
    try:
        assert wait_until(lambda: answers("127.0.0.1", port, "/accounts/login/", seconds=2), seconds=20)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=10)
