"""An ink mask in; an RGB picture of it out: paper, light, ink, camera and compression."""

import io
from collections.abc import Collection

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from .arrays import Coverage, Float32, Picture

# What may happen to a picture. Each is also a condition of the robustness table.
EFFECTS = ["gradient", "shadow", "lined", "squared", "bleed", "blur", "noise", "jpeg", "coloured", "light-on-dark"]


def random_effects(rng: np.random.Generator) -> list[str]:
    """None for about a third of the pictures, else one to four of `EFFECTS`, in their order."""
    if rng.random() < 0.34:
        return []
    n = int(rng.integers(1, 5))
    chosen = set(rng.choice(EFFECTS, n, replace=False).tolist())
    if {"lined", "squared"} <= chosen:
        chosen.discard("lined")
    return [e for e in EFFECTS if e in chosen]


def picture(mask: Coverage, rng: np.random.Generator, effects: Collection[str]) -> Picture:
    """RGB pixels (height, width, 3) of ink coverage 0..1 (height, width) under these effects."""
    paper, ink = colours(rng, effects)
    height, width = mask.shape
    image = np.empty((height, width, 3), np.float32)
    image[:] = paper
    if "bleed" in effects:
        other = gaussian_filter(mask[:, ::-1], 1.0) * rng.uniform(0.08, 0.22)
        image += other[..., None] * (ink - paper)
    contrast: np.float32 = np.abs(ink - paper).max()
    if "lined" in effects or "squared" in effects:
        rules(image, rng, paper, contrast, both="squared" in effects)
    opacity = rng.uniform(0.8, 1.0)
    image += (mask * opacity)[..., None] * (ink - image)
    if "gradient" in effects:
        image *= gradient(height, width, rng)[..., None]
    if "shadow" in effects:
        image *= shadow(height, width, rng)[..., None]
    scale = min(height, width) / 96
    if "blur" in effects:
        sigma = rng.uniform(0.5, 1.5) * max(0.6, scale)
        image = gaussian_filter(image, (sigma, sigma, 0))
    if "noise" in effects:
        sigma = rng.uniform(0.02, 0.07) * contrast + 2
        shared = rng.normal(0, sigma, (height, width, 1)).astype(np.float32)
        image += shared
        if rng.random() < 0.5:
            image += rng.normal(0, sigma * 0.6, image.shape).astype(np.float32)
    pixels = np.clip(image, 0, 255).astype(np.uint8)
    return compressed(pixels, rng) if "jpeg" in effects else pixels


def colours(rng: np.random.Generator, effects: Collection[str]) -> tuple[Float32, Float32]:
    """Colours of paper and ink, RGB 0..255, more than 85 apart in at least one channel."""
    plain = not effects
    while True:
        if plain and rng.random() < 0.6:
            paper, ink = np.full(3, 255.0), np.zeros(3)
        else:
            paper = rng.uniform(195, 255) + rng.normal(0, 6, 3)
            ink = rng.uniform(0, 80) + rng.normal(0, 12, 3)
        if "coloured" in effects:
            ink = rng.uniform(0, 255, 3)
            ink[rng.integers(3)] = rng.uniform(0, 60)
            if rng.random() < 0.25:
                paper = rng.uniform(130, 255, 3)
        if "light-on-dark" in effects:
            paper, ink = rng.uniform(5, 80) + rng.normal(0, 8, 3), 255 - 0.6 * ink
        paper, ink = np.clip(paper, 0, 255), np.clip(ink, 0, 255)
        if np.abs(paper - ink).max() > 85:
            return paper.astype(np.float32), ink.astype(np.float32)


def rules(image: Float32, rng: np.random.Generator, paper: Float32, contrast: np.float32, both: bool) -> None:
    """Draws the lines of ruled paper, or of squared paper if `both`, into `image` (height, width, 3), 0..255.

    `paper`: its colour; `contrast`: the ink's distance from it. The lines are fainter than the ink.
    """
    height, width = image.shape[:2]
    gap = rng.uniform(0.14, 0.45) * height
    tint = np.sign(128 - paper.mean()) * contrast * rng.uniform(0.12, 0.42)
    tint = (tint * rng.uniform(0.6, 1.0, 3)).astype(np.float32)
    thick = max(1.0, rng.uniform(0.008, 0.018) * height)
    slope = rng.normal(0, 0.02)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    start = rng.uniform(0, gap)
    on = np.abs((y + slope * x - start + gap / 2) % gap - gap / 2) < thick / 2
    if both:
        on |= np.abs((x - slope * y - start + gap / 2) % gap - gap / 2) < thick / 2
    image[on] += tint


def gradient(height: int, width: int, rng: np.random.Generator) -> Float32:
    """Brightness 0..1 (height, width) of light from one side, which in two of five also falls off about a point."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    angle = rng.uniform(0, 6.3)
    along = (x / width - 0.5) * np.cos(angle) + (y / height - 0.5) * np.sin(angle)
    far = rng.uniform(0.45, 0.85)
    field = 1 - (1 - far) * np.clip(along + 0.5, 0, 1)
    if rng.random() < 0.4:
        cx, cy = rng.uniform(0, 1, 2)
        field *= 1 - 0.35 * np.clip((x / width - cx) ** 2 + (y / height - cy) ** 2, 0, 1)
    return field.astype(np.float32)


def shadow(height: int, width: int, rng: np.random.Generator) -> Float32:
    """Brightness 0..1 (height, width) under the soft shadow of an edge or of something round."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    if rng.random() < 0.6:
        angle = rng.uniform(0, 6.3)
        edge = (x / width - 0.5) * np.cos(angle) + (y / height - 0.5) * np.sin(angle)
        edge = edge + rng.uniform(-0.3, 0.3) + 0.05 * np.sin(rng.uniform(2, 9) * x / width)
    else:
        cx, cy = rng.uniform(0, 1, 2)
        rx, ry = rng.uniform(0.25, 0.7, 2)
        edge = 0.3 * (1 - np.hypot((x / width - cx) / rx, (y / height - cy) / ry))
    soft = rng.uniform(0.02, 0.15)
    return 1 - (1 - rng.uniform(0.45, 0.8)) * np.clip(edge / soft + 0.5, 0, 1)


def compressed(pixels: Picture, rng: np.random.Generator) -> Picture:
    """The picture after JPEG compression with a quality of 10 to 49."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=int(rng.integers(10, 50)))
    return np.asarray(Image.open(buffer))
