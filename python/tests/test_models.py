"""The built-in robots: listed, of the size that the table of their README states, and with a home pose to start from."""

import re

import numpy as np
import pytest
import slipstick

from robots import BUILTIN_ROBOTS, BUILTINS, REPOSITORY
from states import assert_close

NAMES = [robot.path.stem for robot in BUILTIN_ROBOTS]
DOFS = {"half_cheetah": 12, "half_cheetah_planar": 9, "humanoid": 27, "quadruped": 18, "biped": 25, "atlas": 36}


def readme_table():
    """name → (nq, nv, nu, mass) from the table in crates/slipstick/models/README.md."""
    row = re.compile(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|", re.MULTILINE)
    rows = row.findall((BUILTINS / "README.md").read_text(encoding="utf-8"))
    return {name: (int(nq), int(nv), int(nu), float(mass)) for name, nq, nv, nu, mass in rows}


@pytest.fixture(params=NAMES)
def builtin(request):
    return slipstick.builtin(request.param)


def test_the_built_ins_are_listed():
    assert sorted(slipstick.builtin_names()) == sorted(NAMES)
    assert sorted(readme_table()) == sorted(NAMES)
    assert sorted(path.stem for path in BUILTINS.glob("*.xml")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_masses_are_those_of_the_readme(name):
    model = slipstick.builtin(name)
    nq, nv, nu, mass = readme_table()[name]
    assert (model.nq, model.nv, model.nu) == (nq, nv, nu)
    assert abs(np.sum(model.body_masses[1:]) - mass) < 5e-4 + 1e-9
    assert model.nv == DOFS.get(name, nv)


@pytest.mark.parametrize("name", NAMES)
def test_the_embedded_robot_is_the_file(name):
    embedded, file = slipstick.builtin(name), slipstick.load(str(BUILTINS / f"{name}.xml"))
    assert (embedded.joint_names, embedded.body_names) == (file.joint_names, file.body_names)
    assert np.array_equal(embedded.parameters, file.parameters)
    assert embedded.name == file.name == name


def test_a_built_in_loads_without_warnings(builtin):
    assert builtin.warnings == []


def test_names_are_unique_and_the_tree_is_in_order(builtin):
    for names in [builtin.body_names, builtin.joint_names, builtin.actuator_names, builtin.keyframe_names]:
        assert len(set(names)) == len(names)
    assert len(builtin.body_names) == builtin.n_bodies == len(builtin.parents) == len(builtin.body_masses)
    assert len(builtin.joint_names) == builtin.n_joints == len(builtin.joint_types)
    assert len(builtin.frame_names) == builtin.n_frames == len(builtin.frame_masses)
    assert builtin.parents[0] == -1
    assert all(0 <= builtin.parents[i] < i for i in range(1, builtin.n_bodies))


def test_the_joints_share_out_q_and_v_without_gaps(builtin):
    for total, part in [(builtin.nq, lambda name: builtin.joint(name).q), (builtin.nv, lambda name: builtin.joint(name).v)]:
        taken = np.concatenate([np.arange(total)[part(name)] for name in builtin.joint_names])
        assert np.array_equal(np.sort(taken), np.arange(total))


def test_arrays_per_dof_have_their_size_and_are_never_nan(builtin):
    limits = ["lower", "upper", "effort_limit", "velocity_limit"]
    for name in ["armature", "damping", "stiffness", "dry_friction", *limits]:
        values = getattr(builtin, name)
        assert values.shape == (builtin.nv,) and not np.isnan(values).any(), name
    assert builtin.spring_reference.shape == (builtin.nq,)
    assert np.all(builtin.lower <= builtin.upper)
    assert np.all(builtin.armature >= 0) and np.all(builtin.damping >= 0)


def test_the_home_pose_is_a_state_inside_the_limits(builtin):
    assert "home" in builtin.keyframe_names
    home = builtin.keyframe("home")
    assert home.q.shape == (builtin.nq,) and home.v.shape == (builtin.nv,) and home.ctrl.shape == (builtin.nu,)
    assert np.all(home.v == 0.0)
    for name, kind in zip(builtin.joint_names, builtin.joint_types):
        q, dof = home.q[builtin.joint(name).q], builtin.joint(name).v.start
        if kind in ("free", "spherical"):
            assert abs(np.linalg.norm(q[-4:]) - 1.0) < 1e-12, name
        elif kind in ("revolute", "prismatic"):
            assert builtin.lower[dof] - 1e-9 <= q[0] <= builtin.upper[dof] + 1e-9, name
    assert np.isfinite(slipstick.dynamics.rnea(builtin, home.q, home.v, home.v)).all()


def test_the_groups_of_the_parameters_fill_the_vector(builtin):
    taken = np.concatenate([np.arange(len(builtin.parameters))[part] for part in builtin.parameter_groups.values()])
    assert np.array_equal(np.sort(taken), np.arange(len(builtin.parameters)))
    assert np.array_equal(builtin.with_parameters(builtin.parameters).parameters, builtin.parameters)


def test_options_change_a_copy(builtin):
    moon = builtin.with_options(dt=0.004, gravity=[0.0, 0.0, -1.62])
    assert moon.dt == 0.004 and moon.gravity[2] == -1.62
    assert builtin.dt != 0.004 and builtin.gravity[2] == -9.81
    q = builtin.neutral()
    weight, rest = slipstick.dynamics.bias(builtin, q, np.zeros(builtin.nv)), slipstick.dynamics.bias(moon, q, np.zeros(builtin.nv))
    assert_close(rest, weight * 1.62 / 9.81, 1e-12)


def test_the_version_is_that_of_the_workspace():
    manifest = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
    assert slipstick.__version__ == re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE).group(1)
