"""Words that hint at the type of a question, English and Russian, chat spellings included.

Three hints a type, each a flag for the linear model in graph/query_type.py: hints overlap and
mislead alone, so none decides.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

_STEMS = {
    # one fact
    "asks_fact": r"""
        w?h?ich who whose whom when where were\ do how\ (?:many|much|long|often|big|old|far|tall)
        what(?:'?s|\ is|\ are|\ does|\ time|\ port) does is\ there are\ there
        (?:at|on|in)\ wh(?:at|ich)
        как(?:ой|ая|ое|ие|ого|ому|ую|им|их|ими|ом)\b кто\b кому\b чей чья где\b когда\b куда\b
        с?кол[ья]?ко скока во\ сколько есть\ ли как\ называ что\ (?:значит|означа) что\ такое
    """,
    "names_attribute": r"""
        ports?\b address url\b link\b version name\b names\b id\b number\b limit\b default default
        path\b password phone date\b expir channel label\b quota\b timeout\b ttl\b size\b max min\b
        current retention interval value owner\b email threshold
        порт адрес ссылк верси назван номер лимит дефолт по\ умолч путь парол телефон дат[аы]\b
        канал лейбл таймаут размер максимальн минимальн значени интервал владел порог
    """,
    "asks_how": r"""
        how\ (?:do\ (?:i|we|you)|to|can\ (?:i|we))\b commands?\b comm?and\b cmd\b syntax flag\b
        команд как\ (?:\w+ть|\w+ти|\w+чь|\w+ться)\b чем\ \w+ть\b синтаксис
    """,
    # a judgement
    "asks_cause": r"""
        why\b how\ come reason caus(?:e|ed|es|ing)\b explain because what\ made what\ makes
        going\ on wrong blame mechanism how\ is\ (?:that|it|this)\ possible
        makes?\ no\ sense related
        поч[еи]му пачему отчего зачем из-за изза причин объясн поясни с\ чего\b виноват механизм
        в\ ч[её]м\ дело как\ так\b что\ происходит что\ может\ быть
    """,
    "judges": r"""
        dif+e?re?n compar versus vs\b better worse best\b cheaper risk safe\b danger worth\b
        should\ (?:we|i) shoud would\b could\b might\b if\b happens breaks affect effect impact
        consequen downside trade-?off pros\b normal\b ok\ to bad\b more\ likely reasonable instead
        отлича разниц сравн лучше хуже дешевле риск опасн безопасн стоит\ ли смысл если\b будет\b
        станет слома случит повлия влия грозит последств минус плюс нормально норм\b страшно
        насколько вероятн разумно можно\ ли мож[её]м\ ли может\ ли поможет критично вместо
    """,
    "tells_symptom": r"""
        but\b yet\b although even\ th after\b since\b only\b keeps?\b stuck fail slow hang drop
        down\b broken spik lag\b grow doubled lost crash can'?t\b doesn'?t\b won'?t\b didn'?t\b
        instead\b twice no\ longer suddenly
        но\b а\b хотя после\b только\b вис(?:ит|ят|ел|ла) завис пада(?:ет|ют|л) упал тормоз отвал
        слома не\ (?:работ|мо[гж]|вид|приход|пуска|отвеча|удал|груз) рв[её]т раст[её]т вырос лежит
        вдвое дважды перестал пропа застр отста
    """,
    # a collection
    "composes": r"""
        sum+ar compil combin merg draft\b write\b outline put\ together collect gather prepare
        produce create\b make\b maek synthesi consolidat extract describe\b review\b audit\b rank\b
        turn\b list\b group\b rewrite give\ (?:me|us)\b walk\ (?:me|us) go\ through build\b generate
        help\ me assemble
        сум+а?р[иу] составь собери собра сдел[ае]й сдлай набросай набрасай напиши подготов объедин
        обьедин перечисл выпиши вывед опиш распиш сведи слей сгрупп дай\b дайте провед пройдись
        ужми перескаж оформи восстанови помоги разлож проверь оцени выдели
    """,
    "names_product": r"""
        overv summar lists?\b tables?\b check-?list cheat one[ -]pager reports?\b timeline digest
        recap brief bullet faq\b guide\b talking\ point slide rundown roundup inventory takeaway
        lesson handover note\b plan\b page\b tl;?dr memo themes picture matrix status\ update
        announcement
        сводк обзор абзор спис[ок]+ перечень таблиц чек-?лист шпаргалк тезис отч[её]т хронолог
        дайджест выжимк резюм памятк план\b подборк опись вывод справк картин слайд анонс итог
        черновик пункт в\ одно\ место кратко главное
    """,
    "spans_sources": r"""
        all\b al\ the every each\b everything evrything whole\b entire overall across full\b
        our\ docs documents docs\b runbooks incidents postmortems notes\b tickets\b guides policies
        end\ to\ end repeat contradict from\ the
        все[хмй]?\b вс[её]\b кажд целиком полн общ документ доках\b доки\b докам\b ранбук инцидент
        постмортем тикет заметк инструкц политик в\ целом по\ всем повтор противореч
    """,
}


def _pattern(stems: str) -> re.Pattern[str]:
    words = re.findall(r"(?:\\ |\[[^\]]*\]|\S)+", stems)
    return re.compile(r"\b(?:" + "|".join(words) + ")", re.IGNORECASE)


_PATTERNS = {name: _pattern(stems) for name, stems in _STEMS.items()}
_WHY_START = re.compile(r"\W*(?:why|how come|поч[еи]му|отчего|зачем)\b", re.IGNORECASE)
_LONG_QUESTION = 30  # words

NAMES = (*_PATTERNS, "length", "question_mark", "why_start")


def cues(question: str) -> npt.NDArray[np.float64]:
    """One number in [0, 1] for each of NAMES."""
    flags = [float(pattern.search(question) is not None) for pattern in _PATTERNS.values()]
    length = min(len(question.split()) / _LONG_QUESTION, 1.0)
    why = float(_WHY_START.match(question) is not None)
    return np.array([*flags, length, float("?" in question), why])
