"""Options that are more than a word: arguments of `Model.with_options` and `Simulator`.

    from slipstick import options
    soft = model.with_options(gradient=options.ExactForwardCentral(1e-4))
    slow = model.with_options(correction=options.Correction(full_depth=1e-3, beta=0.2, max_speed=1.0))

`Options` is what `Model.options` returns.
"""

from ._native import Central, Correction, ExactForwardCentral, Options, Randomized, Smoothed

__all__ = ["Central", "Correction", "ExactForwardCentral", "Options", "Randomized", "Smoothed"]
