"""Writes the convex hulls of biped.xml into its asset block: python3 generate_biped_meshes.py

A hull is a stack of rings along one axis of its link, each ring an ellipse or a rectangle with cut corners.
Sizes are those of H1's links, rounded.
"""

import math
import pathlib
import re

FILE = pathlib.Path(__file__).with_name("biped.xml")


def ellipse(rx, ry, sides=12):
    angles = [2 * math.pi * (i + 0.5) / sides for i in range(sides)]
    return [(rx * math.cos(a), ry * math.sin(a)) for a in angles]


def rectangle(rx, ry, cut=0.35):
    c = cut * min(rx, ry)
    corners = [(rx, ry - c), (rx - c, ry), (c - rx, ry), (-rx, ry - c)]
    return corners + [(-x, -y) for x, y in corners]


# name: (axis, outline, rings), a ring being (position on the axis, centre, half-widths). The other two axes
# follow the axis in cyclic order: x y for z, y z for x, z x for y.
HULLS = {
    "pelvis": ("z", rectangle, [
        (-0.085, (0, 0), (0.055, 0.13)), (-0.06, (0, 0), (0.069, 0.15)), (0.008, (0, 0), (0.06, 0.12))]),
    "hip_yaw": ("z", rectangle, [
        (-0.06, (-0.025, 0), (0.06, 0.042)), (-0.03, (-0.025, 0), (0.078, 0.055)),
        (0.04, (-0.03, 0), (0.066, 0.052)), (0.08, (-0.02, 0), (0.04, 0.04))]),
    "hip_roll": ("y", ellipse, [
        (-0.058, (0, 0), (0.045, 0.045)), (-0.03, (0, 0), (0.06, 0.06)),
        (0.03, (0, 0), (0.06, 0.06)), (0.058, (0, 0), (0.045, 0.045))]),
    "thigh": ("z", ellipse, [
        (0.06, (0, 0), (0.04, 0.03)), (0.02, (0, 0), (0.06, 0.042)),
        (-0.38, (0, 0), (0.05, 0.036)), (-0.44, (0, 0), (0.03, 0.022))]),
    "shin": ("z", ellipse, [
        (0.045, (0, 0), (0.035, 0.03)), (0.01, (0, 0), (0.05, 0.042)),
        (-0.2, (0, 0), (0.042, 0.036)), (-0.4, (0, 0), (0.025, 0.022))]),
    "foot": ("z", rectangle, [
        (-0.07, (0.05, 0), (0.14, 0.028)), (-0.06, (0.05, 0), (0.15, 0.032)),
        (-0.045, (0.045, 0), (0.14, 0.03)), (0.01, (0, 0), (0.04, 0.018))]),
    "torso": ("z", rectangle, [
        (0.0, (0, 0), (0.05, 0.08)), (0.05, (0, 0), (0.068, 0.11)),
        (0.42, (0, 0), (0.075, 0.148)), (0.5, (0.01, 0), (0.05, 0.08))]),
    "head": ("z", ellipse, [
        (0.52, (0.035, 0), (0.05, 0.05)), (0.6, (0.045, 0), (0.07, 0.065)),
        (0.68, (0.045, 0), (0.078, 0.073)), (0.75, (0.04, 0), (0.045, 0.045))]),
    "shoulder_pitch": ("y", ellipse, [
        (0.0, (-0.013, 0), (0.028, 0.025)), (0.02, (-0.013, 0), (0.037, 0.034)),
        (0.08, (-0.013, 0), (0.037, 0.034)), (0.1, (-0.013, 0), (0.028, 0.025))]),
    "shoulder_roll": ("z", ellipse, [
        (0.034, (0, 0), (0.03, 0.03)), (0.01, (0, 0), (0.047, 0.046)),
        (-0.1, (0, 0), (0.044, 0.043)), (-0.138, (0, 0), (0.03, 0.03))]),
    "upper_arm": ("z", ellipse, [
        (0.0, (0, 0), (0.026, 0.026)), (-0.03, (0.002, 0), (0.03, 0.03)),
        (-0.2, (0.016, 0), (0.04, 0.031)), (-0.24, (0.018, 0), (0.026, 0.022))]),
    "forearm": ("x", ellipse, [
        (-0.042, (0, 0), (0.022, 0.03)), (-0.01, (0, 0), (0.031, 0.042)),
        (0.1, (0, -0.003), (0.03, 0.038)), (0.24, (0, -0.01), (0.026, 0.027)), (0.27, (0, -0.012), (0.014, 0.015))]),
}


def vertices(axis, outline, rings):
    """The points of all rings, in the axes of the link."""
    for position, (cu, cv), half_widths in rings:
        for u, v in outline(*half_widths):
            u, v = cu + u, cv + v
            yield {"x": (position, u, v), "y": (v, position, u), "z": (u, v, position)}[axis]


def mesh(name, hull):
    # Adding zero turns -0 into 0.
    points = [" ".join(f"{round(x, 4) + 0.0:g}" for x in point) for point in vertices(*hull)]
    lines = ["   ".join(points[i:i + 4]) for i in range(0, len(points), 4)]
    return f'    <mesh name="{name}" vertex="\n      ' + "\n      ".join(lines) + '"/>\n'


def main():
    block = "<asset>\n" + "".join(mesh(name, hull) for name, hull in HULLS.items()) + "  </asset>"
    FILE.write_text(re.sub(r"<asset>.*</asset>", block, FILE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    main()
