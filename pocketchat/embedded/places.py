"""Where the embedded services live: pure paths under one folder, the same for every process that asks."""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 100
"""Bytes. Linux allows 107 for a Unix socket's address; some systems a few less."""


@dataclass(frozen=True)
class Places:
    """Everything the embedded services keep, below `var`."""

    var: Path

    @property
    def run(self) -> Path:
        """The folder of sockets: below `var`, or below the temporary folder when `var` lies too deep."""
        near = self.var / "run"
        longest = near / "postgres" / ".s.PGSQL.5432"
        if len(str(longest).encode()) <= LONGEST_SOCKET_PATH:
            return near
        name = hashlib.sha256(str(self.var).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"pocketchat-{name}"

    @property
    def lock(self) -> Path:
        return self.run / "up.lock"

    @property
    def postgres_data(self) -> Path:
        return self.var / "postgres"

    @property
    def postgres_socket_folder(self) -> Path:
        return self.run / "postgres"

    @property
    def valkey_data(self) -> Path:
        return self.var / "valkey"

    @property
    def valkey_socket(self) -> Path:
        return self.run / "valkey.sock"

    @property
    def logs(self) -> Path:
        return self.var / "log"

    @property
    def embedder(self) -> Path:
        """The words of the bundled embedder, which its processes share."""
        return self.var / "embedder"

    @property
    def exports(self) -> Path:
        """What people take away, a folder for each."""
        return self.var / "exports"

    @property
    def imports(self) -> Path:
        """Files that people have sent, a folder for each, until they are read."""
        return self.var / "imports"

    @property
    def uploads(self) -> Path:
        """What is being received: some systems keep their temporary folder in memory."""
        return self.var / "uploads"

    @property
    def secret_key(self) -> Path:
        return self.var / "secret_key"
