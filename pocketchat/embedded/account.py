"""The account PostgreSQL runs under: our own, except that root needs another, since PostgreSQL refuses to be root."""

import contextlib
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pocketchat.embedded.errors import CannotStart

NAME = "pgserver"
PASS_THROUGH = stat.S_IXOTH
READ = stat.S_IROTH


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int


def account_for(data: Path) -> Account | None:
    """None: our own. Root takes the owner of existing data, or the system account `pgserver`, made when missing."""
    if os.geteuid() != 0:
        return None
    if data.exists() and (kept := data.stat()).st_uid != 0:
        return Account(kept.st_uid, kept.st_gid)
    return _system_account()


def make_private(folder: Path, account: Account | None) -> None:
    """Make `folder` one that only `account` (and root) can look into, and that it can reach."""
    folder.mkdir(parents=True, exist_ok=True)
    if account is not None:
        os.chown(folder, account.uid, account.gid)
        let_pass(folder)
    folder.chmod(0o700)


def make_readable(*folders: Path) -> None:
    """Let every account reach `folders` and read what is in them, where a strict umask has hidden it."""
    for folder in folders:
        let_pass(folder)
        for path in (folder, *folder.rglob("*")):
            _allow_reading(path)


def let_pass(path: Path) -> None:
    """Let other accounts walk through (not list) the folders above `path`; as root only, for the account above."""
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & PASS_THROUGH:
            folder.chmod(mode | PASS_THROUGH)


def _allow_reading(path: Path) -> None:
    mode = path.stat().st_mode
    wanted = READ | PASS_THROUGH if mode & stat.S_IXUSR else READ
    if mode & wanted != wanted:
        path.chmod(mode | wanted)


def _system_account() -> Account:
    with contextlib.suppress(KeyError):
        return _entry()
    useradd = shutil.which("useradd")
    if useradd is None:
        raise CannotStart("PostgreSQL refuses to run as root and no account can be made here: run as another user.")
    argv = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "--user-group", NAME]
    made = subprocess.run(argv, check=False, capture_output=True, text=True)
    try:
        return _entry()
    except KeyError:
        reason = made.stderr.strip().replace("\n", " ")
        raise CannotStart(f"The account {NAME} for PostgreSQL cannot be made: {reason}") from None


def _entry() -> Account:
    entry = pwd.getpwnam(NAME)
    return Account(entry.pw_uid, entry.pw_gid)
