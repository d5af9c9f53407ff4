"""One colour per request, the same in every picture of an instance."""

from __future__ import annotations

import colorsys

from n2s.problem import Instance

GOLDEN = 0.618033988749895  # steps of this share of the circle never come close to each other
LIGHTNESS = (0.46, 0.60, 0.36)  # readable on white and on near black


def palette(instance: Instance) -> list[str]:
    """``#rrggbb`` by request: neighbours in number far apart in hue."""
    colours = []
    for index in range(instance.n):
        lightness = LIGHTNESS[index // 12 % len(LIGHTNESS)]
        channels = colorsys.hls_to_rgb((0.58 + index * GOLDEN) % 1, lightness, 0.68)
        colours.append("#" + "".join(f"{round(255 * channel):02x}" for channel in channels))
    return colours
