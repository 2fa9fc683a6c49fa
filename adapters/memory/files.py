"""Files of a messenger in memory."""

from __future__ import annotations

from bot.attachments import Attachment, Download, Downloading, NotFetched, Trouble


class MemoryFiles(Downloading):
    """`fetched` are the ids of the files that were given. `down`: none can be reached now."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {}
        self.fetched: list[str] = []
        self.down = False

    def put(self, name: str, data: bytes, *, mime: str = "", size: int | None = None) -> Attachment:
        """A file that a message can bring along; `size` is what it claims to be."""
        file = Attachment(f"file-{len(self.files) + 1}", name, mime, len(data))
        self.files[file.id] = (name, data)
        return file if size is None else Attachment(file.id, name, mime, size)

    async def download(self, file: Attachment, limit: int) -> Download:
        if self.down:
            raise NotFetched(Trouble.UNREACHABLE)
        if file.id not in self.files:
            raise NotFetched(Trouble.GONE)
        name, data = self.files[file.id]
        if max(file.size, len(data)) > limit:
            raise NotFetched(Trouble.TOO_LARGE)
        self.fetched.append(file.id)
        return Download(name, data)
