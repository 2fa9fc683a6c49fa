"""The regions that web search engines know, as country-language."""

from __future__ import annotations

from collections.abc import Mapping

from bot.errors import SettingsError
from graph.model import Language

BY_LANGUAGE: Mapping[Language, str] = {"en": "us-en", "ru": "ru-ru"}

_NO_REGION = frozenset({"", "wt-wt", "xx-xx", "all", "none"})
_REGIONS = frozenset(
    {
        *("ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en", "ca-fr", "ch-de"),
        *("ch-fr", "ch-it", "cl-es", "cn-zh", "co-es", "ct-ca", "cz-cs", "de-de", "dk-da", "ee-et"),
        *("es-es", "fi-fi", "fr-fr", "gr-el", "hk-tzh", "hr-hr", "hu-hu", "id-en", "id-id"),
        *("ie-en", "il-he", "in-en", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv", "mx-es", "my-en"),
        *("my-ms", "nl-nl", "no-no", "nz-en", "pe-es", "ph-en", "ph-tl", "pl-pl", "pt-pt", "ro-ro"),
        *("ru-ru", "se-sv", "sg-en", "sk-sk", "sl-sl", "th-th", "tr-tr", "tw-tzh", "ua-uk"),
        *("ue-es", "uk-en", "us-en", "ve-es", "vn-vi", "xl-es", "za-en"),
    }
)


def normalised_region(region: str) -> str:
    """`region` as country-language in lower case; "" for no region ("", "wt-wt").

    A language or a country alone, another order and another separator are understood. Raises
    SettingsError for what no search engine knows.
    """
    low = region.strip().lower().replace("_", "-")
    if low in _NO_REGION:
        return ""
    parts = low.split("-")
    for known in (low, "-".join(reversed(parts)), f"{low}-{low}"):
        if known in _REGIONS:
            return known
    for language, default in BY_LANGUAGE.items():
        if low == language:
            return default
    for place in (0, 1):  # a country, then a language
        for known in sorted(_REGIONS):
            if known.split("-")[place] == low:
                return known
    raise SettingsError(
        f"web_search.region: {region!r} is not known",
        "use country-language, for example us-en or ru-ru, or leave it empty",
    )
