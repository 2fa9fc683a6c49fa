"""Which files are documents, by suffix and by their first bytes.

The suffix says how a file is meant to be read; the first bytes say whether it can be.
"""

from __future__ import annotations

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
CONFIG = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}
WEB = frozenset({".html", ".htm", ".rst"})
PLAIN = frozenset({".txt", ".text"})
DATA = frozenset({".csv", ".tsv", ".ipynb", ".confluence"})  # text that is converted as a whole
BINARY = frozenset({".pdf", ".docx", ".docm", ".xlsx", ".xlsm"})  # read by the worker process
ARCHIVES = frozenset({".zip"})
SUFFIXES = MARKDOWN | PLAIN | WEB | CONFIG.keys() | DATA | BINARY | ARCHIVES

BINARY_SHARE = 8
"""How many times larger than a text a PDF, an Office document or an archive may be: most of it is
pictures and fonts."""

REMEDIES = {
    ".doc": "an old Word document; save it as .docx",
    ".dot": "an old Word template; save it as .docx",
    ".xls": "an old Excel workbook; save it as .xlsx",
    ".xlsb": "a binary Excel workbook; save it as .xlsx",
    ".ppt": "a presentation; export it as PDF",
    ".pptx": "a presentation; export it as PDF",
    ".odt": "an OpenDocument text; save it as .docx or PDF",
    ".ods": "an OpenDocument table; save it as .xlsx or .csv",
    ".rtf": "a rich text; save it as .docx",
    ".pages": "an Apple document; export it as .docx or PDF",
    ".epub": "a book; export it as HTML or PDF",
    ".7z": "an archive; unpack it, or pack it as .zip",
    ".rar": "an archive; unpack it, or pack it as .zip",
    ".gz": "an archive; unpack it, or pack it as .zip",
    ".tar": "an archive; unpack it, or pack it as .zip",
}
"""What to do with a file that people keep documents in and that is not read."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # [MS-CFB] 2.2: the header signature
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # [MS-OFFCRYPTO] 2.3.4.4: the stream's name
_PDF_HEAD = 1024  # bytes in which readers look for the header of a PDF
_ZIP = b"PK\x03\x04"
_NAMES = {
    "pdf": "a PDF", "ole": "an old Office document", "encrypted": "an encrypted Office document",
    "zip": "a ZIP archive or an Office document",
}  # fmt: skip
_FAMILY = {
    ".pdf": "pdf", ".docx": "zip", ".docm": "zip", ".xlsx": "zip", ".xlsm": "zip", ".zip": "zip",
}  # fmt: skip


def sniffed(data: bytes) -> str:
    """The family of a file by its first bytes: pdf, zip, ole, encrypted; empty when unknown."""
    if data.startswith(_ZIP) or data.startswith(b"PK\x05\x06"):
        return "zip"
    if data.startswith(_OLE):
        return "encrypted" if _ENCRYPTED in data else "ole"
    if b"%PDF-" in data[:_PDF_HEAD]:
        return "pdf"
    return ""


def is_encrypted_office(data: bytes) -> bool:
    return sniffed(data) == "encrypted"


def misnamed(suffix: str, data: bytes) -> str:
    """What a file is, for people, when its content contradicts its suffix; empty when it fits."""
    family = sniffed(data)
    if suffix in _FAMILY:
        if family == _FAMILY[suffix]:
            return ""
        return f"it is {_NAMES[family]}" if family else f"it is no {suffix[1:].upper()} file"
    if family == "pdf" and not data.startswith(b"%PDF-"):
        return ""  # a text that speaks of PDF
    return f"it is {_NAMES[family]}" if family else ""


def suffix_of(path: str) -> str:
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if stem and suffix else ""
