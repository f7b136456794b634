"""A kernel as a small SVG: its taps, and its light by the distance from the middle."""
from __future__ import annotations

import math
from typing import List, Sequence, Tuple

_CELLS, _SIZE = 32, 160


def svg(values: Sequence[float], shape: Tuple[int, ...]) -> str:
    """Draws taps (h, w) or (h, w, C) in the order of an array: brightness counts decades below the brightest."""
    h, w, channels = shape[0], shape[1], (shape[2] if len(shape) > 2 else 1)
    cell = max(1, math.ceil(max(h, w) / _CELLS))
    brightest = [[0.0] * math.ceil(w / cell) for _ in range(math.ceil(h / cell))]
    rings = [0.0] * (max(h, w) // 2 + 2)
    for y in range(h):
        for x in range(w):
            at = (y * w + x) * channels
            v = sum(values[at:at + channels]) / channels
            row = brightest[y // cell]
            row[x // cell] = max(row[x // cell], abs(v))
            rings[min(len(rings) - 1, round(math.hypot(x - w // 2, y - h // 2)))] += v
    top = max(max(row) for row in brightest) or 1.0
    side = _SIZE / max(len(brightest), len(brightest[0]))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"><rect width="%d" height="%d"/>'
             % (2 * _SIZE + 10, _SIZE, _SIZE, _SIZE)]
    for y, row in enumerate(brightest):
        for x, v in enumerate(row):
            grey = round(255 * max(0.0, 1 + math.log10(v / top) / 5)) if v > 0 else 0
            if grey:
                parts.append('<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" fill="rgb(%d,%d,%d)"/>'
                             % (x * side, y * side, side, side, grey, grey, grey))
    total, sum_of, line = sum(rings) or 1.0, 0.0, []  # type: float, float, List[str]
    for r, v in enumerate(rings):
        sum_of += v
        line.append("%.4g,%.4g" % (_SIZE + 10 + _SIZE * r / len(rings), _SIZE * (1 - sum_of / total)))
    parts.append('<polyline points="%s" fill="none" stroke="currentColor"/></svg>' % " ".join(line))
    return "".join(parts)
