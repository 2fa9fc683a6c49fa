"""What the scenarios with a chat model are about: documents, questions, and good replies."""

from __future__ import annotations

import pytest

from tests.scenarios.kit import Files

DOCS: Files = {
    "parser.md": "# Parser\n\nRestart the parser with `systemctl restart parser` on host etl-01.\n",
    "queue.md": "# Queue\n\nThe queue orders-events lives in RabbitMQ on host mq-01.\n",
    "backup.md": "# Backups\n\nBackups run at 01:30 UTC and are kept for 21 days.\n",
    "релиз.md": "# Релизы\n\nРелизы на прод запрещены по пятницам после 15:00 МСК.\n",
    "сертификат.md": "# Сертификаты\n\nСертификат шлюза продлевает команда Платформа.\n",
}
PARSER = "how do I restart the parser?"
RELEASE = "когда запрещены релизы на прод?"
SAID = "Run `systemctl restart parser` on etl-01 [1]."
SAID_RU = "Релизы запрещены по пятницам после 15:00 МСК [1]."
BOTH = pytest.mark.parametrize(
    ("question", "reply", "document"),
    [(PARSER, SAID, "parser.md"), (RELEASE, SAID_RU, "релиз.md")],
    ids=["en", "ru"],
)
