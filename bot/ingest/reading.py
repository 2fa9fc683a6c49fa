"""What a file of a source is now: the document that it was, another one, or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

from bot.ingest import frontmatter
from bot.ingest.document import Document, Origin, decoded, document, targets
from bot.ingest.fingerprint import Fingerprint, content
from bot.ingest.options import SyncOptions
from bot.ingest.refusal import rejected
from bot.ingest.report import SETTLED
from bot.ports import Skipped, SourceFile


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file turned out to be. Neither document nor skipped: unchanged."""

    fingerprint: Fingerprint
    document: Document | None = None
    skipped: Skipped | None = None
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads the files of one source by `rules`, the hash of all that decides beside them."""

    origin: Origin
    options: SyncOptions
    rules: str

    def read(self, file: SourceFile, before: Fingerprint | None, superseded: bool) -> Reading:
        """Decodes and cuts a file, unless its content and the rules are what they were `before`,
        when it was indexed. A file that was skipped gets another chance each time, unless its
        source says that it is the same and nothing but its content was the reason."""
        if reading := self.unchanged(file, before, superseded):
            return reading
        data = content(file, file.data)
        text = decoded(file, self.options)
        if isinstance(text, Skipped):
            return Reading(self._of_skipped(text, data, file), skipped=text)
        if self._same_rules(before, superseded) and before.text == text.digest:
            return self._kept(file, before, data)
        fingerprint = Fingerprint(data, text.digest, self.rules, superseded)
        result = document(text, self.origin, self.options, superseded=superseded)
        if isinstance(result, Skipped):
            return Reading(self._of_skipped(result, data, file), skipped=result)
        if not result.supersedes:  # one that replaces others is read to know which ones
            fingerprint = replace(fingerprint, revision=file.revision)
        return Reading(fingerprint, result, supersedes=result.supersedes)

    def unchanged(
        self, file: SourceFile, before: Fingerprint | None, superseded: bool
    ) -> Reading | None:
        """What needs no decoding: a file that is as it was `before`, and may be indexed still."""
        if not self._same_rules(before, superseded) or before.data != content(file, file.data):
            return None
        if rejected(file, self.options):
            return None
        return self._kept(file, before, before.data)

    def _kept(self, file: SourceFile, before: Fingerprint, data: str) -> Reading:
        """What a file is that has the text that it had `before`, and maybe other bytes."""
        supersedes = self._supersedes(file)
        revision = "" if supersedes else file.revision
        if (data, revision) == (before.data, before.revision):  # nearly always
            return Reading(before, supersedes=supersedes)
        return Reading(replace(before, data=data, revision=revision), supersedes=supersedes)

    def _of_skipped(self, skipped: Skipped, data: str, file: SourceFile) -> Fingerprint:
        revision = file.revision if skipped.reason in SETTLED else ""
        return Fingerprint(data, "", self.rules, revision=revision)

    def _same_rules(self, before: Fingerprint | None, superseded: bool) -> TypeGuard[Fingerprint]:
        return before is not None and (before.rules, before.superseded) == (
            self.rules,
            superseded,
        )

    def _supersedes(self, file: SourceFile) -> tuple[str, ...]:
        """What an unchanged file replaces; hardly any file says so, and then it is parsed."""
        if b"supersedes" not in file.data[: frontmatter.MAX_BLOCK]:
            return ()
        text = decoded(file, self.options)
        if isinstance(text, Skipped):
            return ()
        return targets(file.path, frontmatter.read(text.text, self.options.levels).supersedes)
