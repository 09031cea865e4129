"""Learning curves as SVG: lines with bands, no dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 50
COLORS = ("#2563b0", "#c2571a", "#2f8f4e", "#8a3fa0", "#b02a4a", "#6b6b20", "#2a8c9c", "#555555")


@dataclass(frozen=True)
class Band:
    name: str
    x: np.ndarray
    mean: np.ndarray
    sd: np.ndarray


class _Axes:
    """From numbers to points of the page."""

    def __init__(self, bands: list[Band]) -> None:
        low = min(float((b.mean - b.sd).min()) for b in bands)
        high = max(float((b.mean + b.sd).max()) for b in bands)
        self.y_ticks = ticks(low, high)
        self.x_ticks = ticks(0.0, max(float(b.x[-1]) for b in bands))
        self.y_range = min(low, self.y_ticks[0]), max(high, self.y_ticks[-1])
        self.x_range = 0.0, max(float(b.x[-1]) for b in bands) or 1.0

    def x(self, number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * number / self.x_range[1]

    def y(self, number: float) -> float:
        low, high = self.y_range
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (number - low) / (high - low or 1.0)

    def points(self, xs: np.ndarray, ys: np.ndarray) -> str:
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(xs, ys))


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers within a range: steps of 1, 2 or 5 times a power of ten."""
    span = max(high - low, 1e-9)
    power = 10.0 ** np.floor(np.log10(span / most))
    step = next(power * k for k in (1, 2, 5, 10) if span / (power * k) <= most)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(k * step) for k in range(first, last + 1)] or [low]


def figure(bands: list[Band], title: str, x_label: str, y_label: str) -> str:
    """Lines for means, bands for deviations, a legend."""
    axes = _Axes(bands)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
        *_grid(axes, x_label, y_label),
    ]
    for k, band in enumerate(bands):
        parts += _curve(axes, band, COLORS[k % len(COLORS)])
    parts += _legend(bands)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(axes: _Axes, x_label: str, y_label: str) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for tick in axes.y_ticks:
        y = axes.y(tick)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in axes.x_ticks:
        x = axes.x(tick)
        parts.append(f'<path d="M{x:.1f} {bottom}v4" stroke="#444"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{_samples(tick)}</text>')
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#444"/>')
    parts.append(f'<text x="{right}" y="{HEIGHT - 12}" text-anchor="end">{escape(x_label)}</text>')
    parts.append(f'<text x="{LEFT - 6}" y="{TOP - 4}" text-anchor="end">{escape(y_label)}</text>')
    return parts


def _curve(axes: _Axes, band: Band, color: str) -> list[str]:
    there, back = axes.points(band.x, band.mean + band.sd), axes.points(band.x[::-1], (band.mean - band.sd)[::-1])
    return [
        f'<polygon points="{there} {back}" fill="{color}" opacity="0.15"/>',
        f'<polyline points="{axes.points(band.x, band.mean)}" fill="none" stroke="{color}" stroke-width="2"/>',
    ]


def _legend(bands: list[Band]) -> list[str]:
    top = HEIGHT - BOTTOM - 30 - 16 * (len(bands) - 1)
    box = f'x="{WIDTH - RIGHT - 206}" y="{top}" width="206" height="{16 * len(bands) + 6}"'
    parts = [f'<rect {box} fill="white" opacity="0.8"/>']
    for k, band in enumerate(bands):
        y, x = HEIGHT - BOTTOM - 14 - 16 * (len(bands) - 1 - k), WIDTH - RIGHT - 200
        parts.append(f'<path d="M{x} {y - 4}h18" stroke="{COLORS[k % len(COLORS)]}" stroke-width="3"/>')
        parts.append(f'<text x="{x + 24}" y="{y}">{escape(band.name)}</text>')
    return parts


def _samples(number: float) -> str:
    if number >= 1e6:
        return f"{number / 1e6:g} M"
    return f"{number / 1e3:g} k" if number >= 1e3 else f"{number:g}"
