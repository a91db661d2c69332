"""What is refused of exports and imports."""

from uuid import UUID

from conversations.refusals.refusal import Refusal


class TooManyFiles(Refusal):
    """Somebody takes conversations away faster than they could look at them."""

    code = "too_many_files"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} conversations can be exported a minute. Wait a moment, or export everything at once.", limit=limit
        )


class ExportUnderWay(Refusal):
    """A person has one export made at a time."""

    code = "export_under_way"

    def __init__(self, export_id: UUID) -> None:
        super().__init__("An export is being made. Wait for it, or delete it.", export=str(export_id))


class TooManyExports(Refusal):
    """Each reads everything a person has."""

    code = "too_many_exports"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"Everything can be exported {limit} times a day. Try again tomorrow.", limit=limit)


class ExportNotReady(Refusal):
    """There is nothing to download: not yet, or not any more because it failed."""

    code = "export_not_ready"

    def __init__(self, status: str) -> None:
        super().__init__("This export is not ready.", status=status)


class ExportGone(Refusal):
    """The row says that there is a file, the disk says that there is none."""

    code = "export_gone"
    status = 410

    def __init__(self) -> None:
        super().__init__("The file of this export is no longer there. Have another one made.")


class ImportUnderWay(Refusal):
    """A person has one file brought in at a time."""

    code = "import_under_way"

    def __init__(self, import_id: UUID) -> None:
        super().__init__(
            "A file of yours is being brought in. Wait for it, or give it up.", **{"import": str(import_id)}
        )


class TooManyImports(Refusal):
    """Each may take a worker for minutes."""

    code = "too_many_imports"
    status = 429

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} files can be brought in a day. Try again tomorrow.", limit=limit)


class FileMissing(Refusal):
    """Nothing was sent, or nothing with anything in it."""

    code = "file_missing"
    status = 422

    def __init__(self) -> None:
        super().__init__("Choose a file that is not empty.")


class FileTooLarge(Refusal):
    """More than a server takes in one file."""

    code = "body_too_large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This file is larger than {limit:,} bytes, which is the most. Nothing was stored.",
            limit=limit,
            unit="bytes",
        )


class NoRoom(Refusal):
    """The server's disk is full."""

    code = "disk_full"
    status = 507

    def __init__(self) -> None:
        super().__init__("There is no room for the file on the server's disk. Tell your administrator.")
