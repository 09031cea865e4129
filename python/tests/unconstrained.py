"""Robots without anything that constrains them: no contact, limits, dry friction or equality constraints."""

import functools
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import slipstick

from conftest import slipstick_model


@functools.cache
def unconstrained(robot):
    """The model of a robot file whose joints, springs, dampers and actuators are all there is."""
    root = ElementTree.fromstring(slipstick_model(robot).to_mjcf())
    for element in [*root.iter("joint"), *root.iter("fixed")]:  # joints and tendons
        for attribute in ["limited", "range", "frictionloss"]:
            element.attrib.pop(attribute, None)
    for geom in root.iter("geom"):
        geom.attrib.update(contype="0", conaffinity="0")
    for section in [*root.findall("contact"), *root.findall("equality")]:
        root.remove(section)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unconstrained.xml"
        path.write_text(ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")
        model = slipstick.load(path)
    assert len(model.pairs) == len(model.equalities) == 0
    assert not np.any(np.isfinite(model.lower)) and not np.any(model.dry_friction)
    return model
