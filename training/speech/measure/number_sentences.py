"""English sentences with numbers and with words that sound like them, and what a text must say of each: its numbers."""

from collections.abc import Iterator

from ..texts import english, numbers
from ..voices import espeak
from .digit_strings import VOICES, Row, said

SENTENCES = """
Buy one get one free, two for three pounds
Team two won four to three
They won four to two
You can have two for one on Fridays
I need one for two days
I ate two for lunch and three for dinner
Count from one to two to three
We need four for two nights
It is open from nine to five
There were two of us and one of them
We stayed there for five days
She asked for three to four more weeks
The score was two to one at half time
He won for the third time in ten years
I have waited for you for seven hours
Please call nine nine nine now
Call nine eight seven six five four tonight
The code is four two seven one, do not tell anyone
My number is oh seven seven double three nine one
Please write down eight oh two five before you go
Room two one four is on the second floor
Flight six four two leaves at ten to six
Bus number one seven five stops here
The pin is one two three four
It is three point one four one five nine
The answer is nought point five
The price rose by two point five percent
It weighs one point eight kilograms
It costs twenty five pounds fifty
The ticket is three hundred and forty five rupees
One hundred and twenty thousand rupees were stolen
About two million people live in the city
He paid fifteen hundred dollars for it
They sold seventy nine cars and eighty eight bicycles
There are seventy four children in the school
She was born in nineteen ninety eight
The house was built in eighteen forty five
India became free in nineteen forty seven
The film is from two thousand and twelve
We will meet at half past five
The train leaves at ten fifteen in the morning
Come at quarter to eight
The shop closes at six thirty
The meeting is on the twenty first of May
Today is the third of November
The exam is on March the eleventh
Sixty percent of the people voted
The water is forty degrees warm
Take two tablets three times a day
The village is seventeen kilometres from here
He lives at twenty two Baker Street
My sister is thirty and my brother is thirteen
Fourteen of the forty windows are broken
He scored ninety six runs in sixty balls
I have one question before we go
No one knows what they won
It is too late for us to go there
The weather is nice today and we want to walk
Can you wait for a moment, I have to ask someone
Wait for two minutes and then turn to the left
""".strip().splitlines()
"""They are in no training."""
WORDS = {*numbers.EN, *numbers.EN_TENS, *english.TIMES, *"oh nought point hundred thousand million".split()}


def number_sentences() -> Iterator[Row]:
    """Yield each sentence by six voices."""
    engine = espeak.Espeak()
    for voice in VOICES:
        for sentence in SENTENCES:
            yield f"{voice}-{sentence}", said(engine, sentence, voice), sentence


def numbers_said(text: str) -> list[str]:
    """Return the number words of a text, in order, as one unit."""
    words = ["oh" if word == "o" else word for word in english.words(text)]
    return [" ".join(word for word in words if word in WORDS)]
