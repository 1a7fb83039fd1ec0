"""The figures of the generator as `evaluate` stores them. Shares are 0..1, distances in body heights."""

from typing import TypedDict


class Read(TypedDict):
    """How pictures of generated glyphs were read."""

    n: int  # pictures
    top1: float
    top3: float


class Readings(Read):
    """The same for one recogniser."""

    worst: dict[str, float]  # top-1 of the eight labels with the lowest
    confusions: list[str]  # `meant→read times`, most frequent first


# By recogniser, and together.
Legibility = TypedDict("Legibility", {"letters-pa": Readings, "digits-pa": Readings, "together": Read})


class Variety(TypedDict):
    """Median distances between two drawings."""

    real_pairs: int  # drawers who drew ਅ twice
    real: float  # one drawer's two drawings of ਅ
    real_other_drawers: float  # two drawers' drawings of ਅ
    generated: float  # two drawings of ਅ in one style
    generated_other_styles: float  # ਅ in two styles
    generated_all_letters: float  # two drawings of a letter in one style, over 35 letters
    ratio: float  # generated to real


class Realism(TypedDict):
    """Shares of drawings that small networks tell apart rightly, by their ink and by their traits; 0.5 is chance."""

    accuracy: float
    control: float  # with the mean shapes, without writer or variation, as the generated ones
    by_traits: float
    control_by_traits: float
    n: int  # drawings, half of them real
    seeds: int
    held_back: list[int]  # the drawers


class Headlines(TypedDict):
    """How uneven headlines are: their slope, and root mean square and largest distance from a straight line."""

    n_real: int
    n_made: int
    real: dict[str, list[float]]  # name to `headlines.QUARTILES`
    made: dict[str, list[float]]
    furthest: dict[str, float]  # name to the largest difference of the cumulative distributions


class Accuracy(TypedDict):
    """Shares of drawings that small networks tell apart rightly; 0.5 is chance."""

    n: int  # drawings of a set, half of them real
    sets: int  # of served drawings; the shares are means over them
    accuracy: float  # by their ink
    by_traits: float


class Alike(TypedDict):
    """Median distances between two drawings of one character."""

    within: float  # by one hand
    between: float  # by two hands
    ratio: float


class Pace(TypedDict):
    """The power of a short stroke's length that the speed of the pen is proportional to."""

    real: float
    made: float


class Fluency(TypedDict, total=False):
    """The figures of served handwriting."""

    headlines: Headlines
    consistency: dict[str, Alike]
    pace: Pace
    realism: dict[str, Accuracy]  # whole drawings, and those cut off below the headline
    legibility: Read


class Results(TypedDict, total=False):
    """All figures."""

    styles: int
    legibility: Legibility
    variety: Variety
    realism: Realism
    fluency: Fluency
    speed_ms: float  # median time of 150 glyphs on one core
