"""A glyph's mask in, the pen strokes of its centre line out (Zhang and Suen, 1984)."""

import numpy as np

from .strokes import normalised


def thin(mask):
    """One-pixel-wide centre line of a boolean mask."""
    image = np.pad(mask.astype(np.uint8), 1)
    while True:
        n_before = image.sum()
        for odd in (False, True):
            p = [
                np.roll(image, shift, (0, 1))
                for shift in [(1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1)]
            ]
            total = sum(p)
            turns = sum((p[k] == 0) & (p[(k + 1) % 8] == 1) for k in range(8))
            if odd:
                rule = (p[0] * p[2] * p[6] == 0) & (p[0] * p[4] * p[6] == 0)
            else:
                rule = (p[0] * p[2] * p[4] == 0) & (p[2] * p[4] * p[6] == 0)
            image[(image == 1) & (total >= 2) & (total <= 6) & (turns == 1) & rule] = 0
        if image.sum() == n_before:
            return image[1:-1, 1:-1].astype(bool)


def trace(line, shortest):
    """Strokes (lists of [x, y] pixels) along a centre line; spurs below `shortest` are dropped."""
    pixels = {tuple(p) for p in np.argwhere(line)}

    def near(p):
        y, x = p
        straight = [q for q in ((y, x + 1), (y + 1, x), (y, x - 1), (y - 1, x)) if q in pixels]
        slant = [
            q
            for q in ((y + 1, x + 1), (y + 1, x - 1), (y - 1, x - 1), (y - 1, x + 1))
            if q in pixels and not any(abs(q[0] - s[0]) + abs(q[1] - s[1]) == 1 for s in straight)
        ]
        return straight + slant

    degree = {p: len(near(p)) for p in pixels}
    used, strokes = set(), []

    def walk(start, step):
        path = [start, step]
        used.add(frozenset((start, step)))
        while degree[path[-1]] == 2:
            ahead = [q for q in near(path[-1]) if frozenset((path[-1], q)) not in used]
            if not ahead:
                break
            used.add(frozenset((path[-1], ahead[0])))
            path.append(ahead[0])
        return path

    nodes = [p for p in pixels if degree[p] != 2]
    for start in sorted(nodes) + sorted(pixels):
        for step in near(start):
            if frozenset((start, step)) in used:
                continue
            path = walk(start, step)
            spur = len(path) < shortest and (degree[path[0]] == 1) != (degree[path[-1]] == 1)
            if not spur:
                strokes.append([[x, y] for y, x in path])
    strokes += [[[x, y], [x + 1, y]] for (y, x) in pixels if degree[(y, x)] == 0]
    return merged([s for s in strokes if len(s) > 1])


def merged(strokes):
    """Strokes that run straight on through a junction are one stroke."""
    strokes = [np.array(s, float) for s in strokes]
    while True:
        best = None
        for i, a in enumerate(strokes):
            for j, b in enumerate(strokes):
                if i >= j:
                    continue
                for x, y in ((a, b), (a[::-1], b), (a, b[::-1]), (a[::-1], b[::-1])):
                    if np.abs(x[-1] - y[0]).max() > 2.5:
                        continue
                    u, v = x[-1] - x[-min(12, len(x))], y[min(11, len(y) - 1)] - y[0]
                    cosine = u @ v / (np.hypot(*u) * np.hypot(*v) + 1e-6)
                    if cosine > 0.8 and (best is None or cosine > best[0]):
                        best = (cosine, i, j, np.concatenate([x, y]))
        if best is None:
            return strokes
        _, i, j, both = best
        strokes = [s for k, s in enumerate(strokes) if k not in (i, j)] + [both]


def strokes_of(mask, stroke_pixels):
    """Normalised strokes of a glyph whose strokes are about `stroke_pixels` wide."""
    found = trace(thin(mask), shortest=1.2 * stroke_pixels + 3)
    return normalised(found, smoothing=3) if found else None
