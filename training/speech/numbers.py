"""Number words, digit strings and dates as they are read out, in Panjabi ("pa") and English ("en")."""

import numpy as np

PA = (
    "ਸਿਫ਼ਰ ਇੱਕ ਦੋ ਤਿੰਨ ਚਾਰ ਪੰਜ ਛੇ ਸੱਤ ਅੱਠ ਨੌਂ ਦਸ ਗਿਆਰਾਂ ਬਾਰਾਂ ਤੇਰਾਂ ਚੌਦਾਂ ਪੰਦਰਾਂ ਸੋਲਾਂ ਸਤਾਰਾਂ ਅਠਾਰਾਂ ਉੱਨੀ ਵੀਹ ਇੱਕੀ "
    "ਬਾਈ ਤੇਈ ਚੌਵੀ ਪੱਚੀ ਛੱਬੀ ਸਤਾਈ ਅਠਾਈ ਉਨੱਤੀ ਤੀਹ ਇਕੱਤੀ ਬੱਤੀ ਤੇਤੀ ਚੌਂਤੀ ਪੈਂਤੀ ਛੱਤੀ ਸੈਂਤੀ ਅਠੱਤੀ ਉਨਤਾਲੀ ਚਾਲੀ ਇਕਤਾਲੀ "
    "ਬਿਆਲੀ ਤਰਤਾਲੀ ਚੁਤਾਲੀ ਪੰਤਾਲੀ ਛਿਆਲੀ ਸੰਤਾਲੀ ਅਠਤਾਲੀ ਉਨੰਜਾ ਪੰਜਾਹ ਇਕਵੰਜਾ ਬਵੰਜਾ ਤਰਵੰਜਾ ਚੁਰੰਜਾ ਪਚਵੰਜਾ ਛਪੰਜਾ ਸਤਵੰਜਾ "
    "ਅਠਵੰਜਾ ਉਨਾਹਠ ਸੱਠ ਇਕਾਹਠ ਬਾਹਠ ਤਰੇਹਠ ਚੌਂਹਠ ਪੈਂਹਠ ਛਿਆਹਠ ਸਤਾਹਠ ਅਠਾਹਠ ਉਨੱਤਰ ਸੱਤਰ ਇਕੱਤਰ ਬਹੱਤਰ ਤਿਹੱਤਰ ਚੁਹੱਤਰ ਪਚੱਤਰ "
    "ਛਿਹੱਤਰ ਸਤੱਤਰ ਅਠੱਤਰ ਉਨਾਸੀ ਅੱਸੀ ਇਕਾਸੀ ਬਿਆਸੀ ਤਰਾਸੀ ਚੁਰਾਸੀ ਪਚਾਸੀ ਛਿਆਸੀ ਸਤਾਸੀ ਅਠਾਸੀ ਉਨਾਨਵੇਂ ਨੱਬੇ ਇਕਾਨਵੇਂ ਬਾਨਵੇਂ "
    "ਤਰਾਨਵੇਂ ਚੁਰਾਨਵੇਂ ਪਚਾਨਵੇਂ ਛਿਆਨਵੇਂ ਸਤਾਨਵੇਂ ਅਠਾਨਵੇਂ ਨੜਿੰਨਵੇਂ"
).split()
PA_MONTHS = ["ਜਨਵਰੀ", "ਫ਼ਰਵਰੀ", "ਮਾਰਚ", "ਅਪ੍ਰੈਲ", "ਮਈ", "ਜੂਨ", "ਜੁਲਾਈ", "ਅਗਸਤ", "ਸਤੰਬਰ", "ਅਕਤੂਬਰ", "ਨਵੰਬਰ", "ਦਸੰਬਰ"]
PA_DAYS = ["ਸੋਮਵਾਰ", "ਮੰਗਲਵਾਰ", "ਬੁੱਧਵਾਰ", "ਵੀਰਵਾਰ", "ਸ਼ੁੱਕਰਵਾਰ", "ਸ਼ਨਿੱਚਰਵਾਰ", "ਐਤਵਾਰ"]
EN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
EN_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
EN_MONTHS = ("january february march april may june july august september october november december").split()
EN_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def pa(n: int) -> str:
    """Return the Panjabi words of a number from 0 to 99,99,999."""
    if n < 100:
        return PA[n]
    size, word = next(row for row in ((100000, "ਲੱਖ"), (1000, "ਹਜ਼ਾਰ"), (100, "ਸੌ")) if n >= row[0])
    return " ".join([pa(n // size), word] + ([pa(n % size)] if n % size else []))


def en(n: int) -> str:
    """Return the English words of a number from 0 to 999,999."""
    if n < 20:
        return EN[n]
    if n < 100:
        return EN_TENS[n // 10 - 2] + (" " + EN[n % 10] if n % 10 else "")
    size, word = next(row for row in ((1000, "thousand"), (100, "hundred")) if n >= row[0])
    return " ".join([en(n // size), word] + ([en(n % size)] if n % size else []))


def digits(language: str, rng: np.random.Generator) -> str:
    """Draw a string of 1 to 9 digit words; more than half have one or two."""
    words = (PA if language == "pa" else EN)[:10]
    return " ".join(rng.choice(words, rng.choice([1, 2, 3, 5, 7, 9], p=[0.35, 0.2, 0.15, 0.1, 0.1, 0.1])))


def said(language: str, rng: np.random.Generator) -> str:
    """Draw one digit, digit string, number or date in words."""
    words, months, days, digits = (
        (pa, PA_MONTHS, PA_DAYS, PA[:10]) if language == "pa" else (en, EN_MONTHS, EN_DAYS, EN[:10])
    )
    kind = rng.random()
    if kind < 0.25:
        return str(rng.choice(digits))
    if kind < 0.6:
        return " ".join(rng.choice(digits, rng.integers(2, 9)))
    if kind < 0.8:
        return words(int(10 ** rng.uniform(0.8, 5.5)))
    day, month, year = int(rng.integers(1, 32)), str(rng.choice(months)), int(rng.integers(1900, 2100))
    if kind < 0.9:
        return f"{words(day)} {month}" if language == "pa" else f"{month} {words(day)}"
    if kind < 0.95:
        return f"{rng.choice(days)} {words(day)} {month} {words(year)}"
    return f"{rng.choice(days)}"
