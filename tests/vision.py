"""What colours look like to whom: CIELAB, and the three dichromacies of Machado, Oliveira and Fernandes (2009), severity 1."""

from collections.abc import Sequence

BLINDNESS = {  # on linear RGB
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
WHITE = (0.95047, 1.0, 1.08883)  # D65
Light = Sequence[float]


def rgb(colour: str) -> list[int]:
    """#rrggbb as three numbers from 0 to 255."""
    return [int(colour[k:k + 2], 16) for k in (1, 3, 5)]


def linear(colour: Light) -> list[float]:
    """sRGB, 0 to 255, as light from 0 to 1."""
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (v / 255 for v in colour)]


def lab(light: Light) -> tuple[float, float, float]:
    """CIELAB of linear sRGB."""
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
    f = [t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
         for t in (sum(a * b for a, b in zip(row, light, strict=True)) / white for row, white in zip(rows, WHITE, strict=True))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen_by(light: Light, matrix: Sequence[Light]) -> list[float]:
    """The light that looks the same to somebody who lacks that kind of cone."""
    return [min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in matrix]


def apart(one: Light, other: Light) -> float:
    """Distance in CIELAB (CIE76) of two lights; about 2.3 is just noticed."""
    return sum((x - y) ** 2 for x, y in zip(lab(one), lab(other), strict=True)) ** 0.5
