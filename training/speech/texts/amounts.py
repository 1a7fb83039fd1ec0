"""Numbers as they stand in Panjabi sentences: years, dates, prices, times, amounts and shares, in words."""

import numpy as np

from .numbers import PA_DAYS, PA_MONTHS, pa

BEFORE_YEAR = ("ਸੰਨ", "ਸਾਲ", "ਈਸਵੀ", *PA_MONTHS, *PA_MONTHS)
BEHIND_YEAR = ("ਵਿੱਚ", "ਵਿਚ", "ਤੋਂ", "ਤੱਕ", "ਦੇ", "ਦੀ", "ਦਾ", "ਨੂੰ", "ਤੋਂ ਬਾਅਦ", "ਈਸਵੀ", "ਦੌਰਾਨ")
BEFORE_TIME = ("ਸਵੇਰੇ", "ਸ਼ਾਮ", "ਰਾਤ", "ਦੁਪਹਿਰ", "ਅੱਜ", "ਭਲਕੇ", "ਲਗਭਗ", "ਤਕਰੀਬਨ", *PA_DAYS)
BEHIND_TIME = ("ਵਜੇ", "ਵਜੇ", "ਵਜੇ ਤੱਕ", "ਵਜੇ ਤੋਂ", "ਵਜੇ ਦੇ ਕਰੀਬ")
MONEY = ("ਰੁਪਏ", "ਰੁਪਏ", "ਰੁਪਏ ਕਿਲੋ", "ਰੁਪਈਏ", "ਡਾਲਰ", "ਪੈਸੇ")
MEASURES = (
    "ਸਾਲ ਦਿਨ ਮਹੀਨੇ ਘੰਟੇ ਮਿੰਟ ਲੋਕ ਬੰਦੇ ਬੱਚੇ ਪਿੰਡ ਘਰ ਕਿਲੋਮੀਟਰ ਮੀਟਰ ਕਿਲੋ ਗ੍ਰਾਮ ਲੀਟਰ ਏਕੜ ਮੀਲ ਫੁੱਟ ਡਿਗਰੀ ਸਫ਼ੇ ਕਿਤਾਬਾਂ ਮੈਚ "
    "ਦੌੜਾਂ ਸੀਟਾਂ ਪ੍ਰਤੀਸ਼ਤ ਪ੍ਰਤੀਸ਼ਤ ਫ਼ੀਸਦੀ"
).split()


def hundreds(year: int) -> str:
    """Return a year as it is said: those from 1100 to 1999 in hundreds."""
    if not 1100 <= year < 2000:
        return pa(year)
    return " ".join([pa(year // 100), "ਸੌ", *([pa(year % 100)] if year % 100 else [])])


def _year(rng: np.random.Generator) -> list[str]:
    year = int(rng.integers(1700, 2040)) if rng.random() < 0.9 else int(rng.integers(1100, 1700))
    day = [pa(int(rng.integers(1, 32)))] if rng.random() < 0.2 else []
    before = str(rng.choice(BEFORE_YEAR)) if rng.random() < 0.6 else ""
    behind = str(rng.choice(BEHIND_YEAR)) if rng.random() < 0.6 else ""
    return [*(day if before in PA_MONTHS else []), before, hundreds(year), behind]


def _time(rng: np.random.Generator) -> list[str]:
    hour = int(rng.integers(1, 13))
    said = pa(hour)
    if rng.random() < 0.45:
        kind = str(rng.choice(["ਸਾਢੇ", "ਸਵਾ", "ਪੌਣੇ"], p=[0.6, 0.2, 0.2]))
        said = f"{kind} {pa(max(hour, 3) if kind == 'ਸਾਢੇ' else hour)}"
    before = str(rng.choice(BEFORE_TIME)) if rng.random() < 0.6 else ""
    return [before, said, str(rng.choice(BEHIND_TIME))]


def phrase(rng: np.random.Generator) -> str:
    """Draw a number with the words that stand beside it."""
    kind = rng.random()
    if kind < 0.3:
        words = _year(rng)
    elif kind < 0.5:
        words = _time(rng)
    else:
        most = rng.choice([2.0, 4.0, 6.5], p=[0.4, 0.45, 0.15])
        words = [pa(int(10 ** rng.uniform(0.5, most))), str(rng.choice(MONEY if kind < 0.75 else MEASURES))]
    return " ".join(word for word in words if word)


def amid(text: str, rng: np.random.Generator) -> str:
    """Put one phrase into a plain text: before it, behind it or among its words."""
    words = text.split()
    at = (0, len(words), int(rng.integers(len(words) + 1)))[rng.integers(3)]
    return " ".join([*words[:at], phrase(rng), *words[at:]])
