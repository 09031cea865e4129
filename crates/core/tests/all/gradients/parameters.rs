//! Derivatives with respect to every group of physical parameters, forward and reverse.

use super::oracle::*;
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use nalgebra::DMatrix;
use slipstick_core::dynamics::Wrench;
use slipstick_core::gradient::OutputGrad;
use slipstick_core::model::ParameterGroup;
use slipstick_core::model::{
    Actuator, BodyId, EqualityKind, GeomId, GeomSpec, Implicit, JointId, JointKind, JointSpec, PairSurface, Shape,
};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Derivatives of q_next and v_next by a group.
fn forward(lab: &mut Lab, group: ParameterGroup) -> [DMatrix<f64>; 2] {
    let (nv, n) = (lab.model.nv(), lab.model.parameters().group(group).len());
    let [mut dq, mut dv] = [vec![0.0; nv * n], vec![0.0; nv * n]];
    let what = group.name();
    lab.step().parameter_jacobian(group, &mut dq, &mut dv).unwrap_or_else(|e| panic!("{what}: {e}"));
    [DMatrix::from_row_slice(nv, n, &dq), DMatrix::from_row_slice(nv, n, &dv)]
}

/// The step with one parameter moved; `None` where there is no such model.
fn moved(lab: &mut Lab, index: usize, h: f64) -> Option<Outcome> {
    let mut parameters = lab.model.parameters().clone();
    parameters.values_mut()[index] += h;
    let kept = lab.model.clone();
    lab.model = lab.model.with_parameters(parameters).ok()?;
    let out = lab.evaluate();
    lab.model = kept;
    Some(out)
}

/// Differences of q_next and v_next by one parameter, central, or from above where there is nothing below.
fn difference(lab: &mut Lab, index: usize, h: f64, base: &Outcome) -> Option<[Vec<f64>; 2]> {
    let plus = moved(lab, index, h)?;
    if let Some(minus) = moved(lab, index, -h) {
        return central(&lab.model, base, &plus, &minus, h).map(|[q, v, _]| [q, v]);
    }
    let more = moved(lab, index, 2.0 * h)?;
    let change = |x: &Outcome| {
        let mut d = vec![0.0; lab.model.nv()];
        lab.model.difference(&base.q, &x.q, &mut d).expect("sound");
        [d, x.v.iter().zip(&base.v).map(|(a, b)| a - b).collect()]
    };
    // (−3 f₀ + 4 f₁ − f₂) / 2h
    let join = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (2.0 * a - 0.5 * b) / h).collect::<Vec<_>>();
    let (one, two) = (change(&plus), change(&more));
    let same = base.modes == plus.modes && plus.modes == more.modes;
    same.then(|| [join(&one[0], &two[0]), join(&one[1], &two[1])])
}

/// Error of a group, relative to the largest change of a velocity (place) by a natural change of a parameter.
pub fn audit(lab: &mut Lab, group: ParameterGroup) -> Option<f64> {
    let [dq, dv] = forward(lab, group);
    assert!(dq.iter().chain(dv.iter()).all(|x| x.is_finite()), "{}", group.name());
    let base = lab.evaluate();
    let first = lab.model.parameters().layout().range(group).start;
    let mut worst: f64 = 0.0;
    for k in 0..dv.ncols() {
        let mut best: Option<f64> = None;
        for h in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
            let Some([q, v]) = difference(lab, first + k, h, &base) else { continue };
            let scale = |m: &DMatrix<f64>, floor: f64| m.amax().max(floor);
            let dt = lab.model.options().dt;
            let e = column_error(&dv, k, &v) / scale(&dv, 1e-2);
            let e = e.max(column_error(&dq, k, &q) / scale(&dq, dt));
            best = Some(best.map_or(e, |b| b.min(e)));
            if e < 1e-9 {
                break;
            }
        }
        worst = worst.max(best?);
    }
    Some(worst)
}

#[test]
fn every_group_of_random_worlds_has_the_derivative_of_the_step() {
    let (mut counts, mut left_out) = ([0; 14], [0; 14]);
    let mut faults = Vec::new();
    for seed in 0..12 {
        for (n, mut lab) in fall(seed, 120, 3).into_iter().enumerate() {
            if lab.evaluate().status != Status::Converged {
                continue;
            }
            for (k, group) in ParameterGroup::ALL.into_iter().enumerate() {
                // dry friction and restitution begin with a jump at zero: below, by their laws
                let jumps = [ParameterGroup::DryFriction, ParameterGroup::Restitution].contains(&group);
                if lab.model.parameters().group(group).is_empty() || jumps {
                    continue;
                }
                counts[k] += 1;
                match audit(&mut lab, group) {
                    Some(e) if e > 1e-6 || e.is_nan() => {
                        faults.push(format!("world {seed}, sample {n}, {}: {e:e}", group.name()))
                    }
                    Some(_) => (),
                    None => left_out[k] += 1,
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (k, group) in ParameterGroup::ALL.into_iter().enumerate() {
        assert!(4 * left_out[k] <= counts[k], "{}: {} of {} left out", group.name(), left_out[k], counts[k]);
    }
}

/// Two shapes that meet, one heavy and on springs: all of their numbers matter.
fn meeting(kinds: [usize; 2], seed: u64) -> Option<Lab> {
    let mut rng = Rng::new(seed);
    let mut w = World::new();
    for (k, kind) in kinds.into_iter().enumerate() {
        let shape = shape(&mut w.0, &mut rng, kind);
        let pose = Pose::new(vec3(0.3 * k as f64, 0.0, 0.0), Quat::exp(rng.vec3(2.0)));
        let mut s = surface(rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.6));
        s.compliance = rng.uniform(0.01, 0.1);
        let free = JointSpec::new(format!("root{k}"), JointKind::Free);
        let inertia = BodyInertia { com: rng.vec3(0.02), ..solid_box(rng.uniform(0.5, 2.0), vec3(0.05, 0.07, 0.09)) };
        let link = w.0.add_link(ModelBuilder::WORLD, format!("body{k}"), pose, inertia, vec![free]);
        w.0.add_geom(
            link,
            GeomSpec {
                surface: s,
                pose: Pose::new(rng.vec3(0.01), Quat::exp(rng.vec3(1.0))),
                ..GeomSpec::new(format!("geom{k}"), shape)
            },
        );
    }
    let mut run = Run::new(w.build(|_| ()));
    run.x.v = rng.vector(12, 0.5);
    (run.x.v[0], run.x.v[1], run.x.v[2]) = (1.0, 0.02, 0.01);
    (run.x.v[6], run.x.v[7], run.x.v[8]) = (-0.6, -0.01, 0.02);
    for _ in 0..400 {
        let before = run.x.clone();
        if run.attempt(&Input::default()).contacts.iter().any(|c| c.mode != Mode::Break) {
            return Some(Lab::new(&run.model, &before.q, &before.v));
        }
    }
    None
}

#[test]
fn sizes_scales_and_surfaces_of_shapes_that_meet_have_the_derivative_of_the_step() {
    use ParameterGroup::*;
    let (mut met, mut checked, mut faults) = (0, 0, Vec::new());
    for (a, b) in (0..N_SHAPES).flat_map(|a| (a..N_SHAPES).map(move |b| (a, b))) {
        for seed in 0..2 {
            let Some(mut lab) = meeting([a, b], 1000 * seed + 10 * a as u64 + b as u64) else { continue };
            met += 1;
            for group in [ShapeSize, MeshScale, Friction, Restitution, Compliance, Inertial, Gravity] {
                if lab.model.parameters().group(group).is_empty() {
                    continue;
                }
                match audit(&mut lab, group) {
                    Some(e) if e > 1e-6 || e.is_nan() => {
                        faults.push(format!("{a} and {b}, seed {seed}, {}: {e:e}", group.name()))
                    }
                    Some(_) => checked += 1,
                    None => (),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(met > 25 && checked > 5 * met, "{met} pairs met, {checked} groups checked");
}

/// An arm with a joint at its stop, a ball joint and a hinge, with springs, dry friction and drives.
fn arm(n: usize) -> Lab {
    let mut rng = Rng::new(9 + n as u64);
    let mut w = World::new();
    let mut parent = ModelBuilder::WORLD;
    for k in 0..3 {
        let axis = rng.vec3(1.0).normalized().expect("not zero");
        let kind = if k == 1 { JointKind::Spherical } else { JointKind::Revolute { axis } };
        let range = (k != 1).then_some([-0.3, 0.3]);
        let (armature, damping, stiffness, dry_friction) = (0.05, 0.4, 3.0, 0.3);
        let spec = JointSpec::new(format!("j{k}"), kind);
        let joint = JointSpec { range, armature, damping, stiffness, dry_friction, anchor: rng.vec3(0.1), ..spec };
        let inertia = BodyInertia { com: rng.vec3(0.1), ..solid_box(1.0, vec3(0.05, 0.07, 0.2)) };
        let pose = Pose::new(rng.vec3(0.3), Quat::exp(rng.vec3(1.0)));
        parent = w.0.add_link(parent, format!("l{k}"), pose, inertia, vec![joint]);
    }
    let (servo, ball) = (Actuator::position("a", JointId(0), 20.0, 1.0), Actuator::position("b", JointId(1), 5.0, 0.5));
    w.0.add_actuator(servo);
    w.0.add_actuator(Actuator { gear: [1.0, 2.0, -1.0, 0.0, 0.0, 0.0], ..ball });
    // gains are implicit if they resist and explicit if they drive: at zero there would be a corner
    let motor = Actuator { bias: [0.02, -0.3, -0.1], ..Actuator::motor("c", JointId(2), 3.0) };
    w.0.add_actuator(Actuator { force_range: Some([-0.1, 0.1]), ..motor });
    let ways = [Implicit::Velocity, Implicit::All, Implicit::Damping, Implicit::None];
    let model = w.build(|o| o.implicit = ways[n % 4]);
    let turn = Quat::exp(rng.vec3(0.4));
    let q = [0.3, turn.w, turn.x, turn.y, turn.z, -0.1];
    let v = if n < 6 { rng.vector(5, 1.0) } else { vec![1.0, 0.0, 0.0, 0.0, 0.0] };
    Lab::new(&model, &q, &v).tau(&rng.vector(5, 0.2)).ctrl(&rng.vector(3, 0.5))
}

#[test]
fn numbers_of_joints_have_the_derivative_of_the_step_at_stops_and_in_dry_friction() {
    use ParameterGroup::{
        Armature, Damping, DryFriction, Gravity, Inertial, JointPlacement, SpringReference, Stiffness,
    };
    for n in 0..12 {
        let mut lab = arm(n);
        let moving = [Inertial, JointPlacement, Armature, Damping, Stiffness, SpringReference, DryFriction, Gravity];
        for group in moving.into_iter().chain([ParameterGroup::Actuator]) {
            let e = audit(&mut lab, group).unwrap_or_else(|| panic!("arm {n}, {}: modes change", group.name()));
            assert!(e <= 1e-6, "arm {n}, {}: {e:e}", group.name());
        }
    }
}

#[test]
fn where_friction_begins_its_derivative_is_that_of_the_first_bit_of_it() {
    // a ball on ice: the only way to go is up
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.0, 0.0));
    w.ball("ball", 2.0, 0.1, vec3(0.0, 0.0, 0.1), surface(0.0, 0.0));
    let model = w.build(|_| ());
    let mut lab = Lab::new(&model, model.neutral(), &[0.3, 0.4, 0.0, 0.0, 0.0, 0.0]);
    let [_, dv] = forward(&mut lab, ParameterGroup::Friction);
    // the larger coefficient counts: of two equal ones each has a share, and both together all of it
    for (i, share) in [0.6, 0.8].into_iter().enumerate() {
        let got = dv[(i, 0)] + dv[(i, 1)];
        assert!((got + share * G * 1e-3).abs() < 1e-12, "{got} along {i}");
    }
}

#[test]
fn reverse_and_forward_agree_on_every_group() {
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        for (n, mut lab) in fall(seed, 120, 2).into_iter().enumerate() {
            let nv = lab.model.nv();
            let (wq, wv) = (rng.vector(nv, 1.0), rng.vector(nv, 1.0));
            for group in ParameterGroup::ALL {
                let [dq, dv] = forward(&mut lab, group);
                let start = rng.vector(dv.ncols(), 1.0);
                let mut got = start.clone();
                let w = OutputGrad { q: &wq, v: &wv, ..Default::default() };
                lab.step().vjp_parameters(w, group, &mut got).unwrap_or_else(|e| panic!("{}: {e}", group.name()));
                let scale = dq.iter().chain(dv.iter()).fold(1.0_f64, |m, x| m.max(x.abs()));
                for k in 0..dv.ncols() {
                    let want = start[k] + (0..nv).map(|i| wq[i] * dq[(i, k)] + wv[i] * dv[(i, k)]).sum::<f64>();
                    let off = (got[k] - want).abs() / scale;
                    assert!(off < 1e-11, "world {seed}, sample {n}, {} {k}: {off:e}", group.name());
                }
            }
        }
    }
}

/// A state of a model under a force and a torque at the center of mass of its last body and a force beside it.
fn pushed(model: &Model, rng: &mut Rng, spread: f64) -> Lab {
    let nv = model.nv();
    let mut q = model.neutral().to_vec();
    model.integrate(model.neutral(), &rng.vector(nv, spread), &mut q).expect("sound");
    let body = BodyId(model.n_bodies() - 1);
    let wrenches = [Wrench::new(body, rng.vec3(2.0), rng.vec3(1.0)), Wrench::at(body, rng.vec3(2.0), rng.vec3(0.2))];
    Lab::new(model, &q, &rng.vector(nv, 1.0)).wrenches(&wrenches)
}

#[test]
fn loops_welds_wrenches_and_balloons_have_the_derivative_of_the_step() {
    let mut rng = Rng::new(31);
    for n in 0..12 {
        let mut w = World::new();
        let mut links = vec![ModelBuilder::WORLD];
        for k in 0..4 {
            let axis = rng.vec3(1.0).normalized().expect("not zero");
            let kind = if k == 2 { JointKind::Spherical } else { JointKind::Revolute { axis } };
            let joint = JointSpec { damping: 0.2, anchor: rng.vec3(0.1), ..JointSpec::new(format!("j{k}"), kind) };
            let inertia = BodyInertia { com: rng.vec3(0.1), ..solid_box(1.0, vec3(0.05, 0.07, 0.2)) };
            let parent = links[if k == 3 { 0 } else { k }];
            let pose = Pose::new(rng.vec3(0.3), Quat::exp(rng.vec3(1.0)));
            links.push(w.0.add_link(parent, format!("l{k}"), pose, inertia, vec![joint]));
        }
        w.0.compensate_gravity(links[2], 0.7);
        let points = [rng.vec3(0.1), rng.vec3(0.1)];
        let frames = [links[3], links[4]];
        let pose = Pose::new(rng.vec3(0.3), Quat::exp(rng.vec3(1.0)));
        w.0.add_equality(equality(match n % 3 {
            0 => EqualityKind::Connect { frames, points },
            1 => EqualityKind::Weld { frames: [links[0], links[4]], pose, anchor: points[0], torque_scale: 0.5 },
            _ => EqualityKind::Joint {
                joint: JointId(1),
                other: Some(JointId(0)),
                coefficients: [0.1, 0.7, 0.3, 0.0, 0.0],
            },
        }));
        let mut lab = pushed(&w.build(|_| ()), &mut rng, 0.5);
        for group in
            [ParameterGroup::Inertial, ParameterGroup::JointPlacement, ParameterGroup::Gravity, ParameterGroup::Damping]
        {
            let e = audit(&mut lab, group).unwrap_or_else(|| panic!("tree {n}, {}: modes change", group.name()));
            assert!(e <= 1e-6, "tree {n}, {}: {e:e}", group.name());
        }
        // loops that are far open close at speeds that cost digits
        lab.check(1e-5, &format!("tree {n}"));
    }
}

#[test]
fn pairs_with_their_own_surface_and_surfaces_with_priority_do_not_hear_the_others() {
    let ball = |change: &dyn Fn(&mut World, GeomId, GeomId)| {
        let mut w = World::new();
        let floor = w.plane(Pose::IDENTITY, surface(0.3, 0.0));
        let mut s = surface(0.5, 0.0);
        s.priority = -1;
        let joint = JointSpec::new("root", JointKind::Free);
        let link = w.0.add_link(
            ModelBuilder::WORLD,
            "ball",
            Pose::translation(vec3(0.0, 0.0, 0.1)),
            solid_ball(2.0, 0.1),
            vec![joint],
        );
        let geom = w.0.add_geom(link, GeomSpec { surface: s, ..GeomSpec::new("ball", Shape::Sphere { radius: 0.1 }) });
        change(&mut w, floor, geom);
        let model = w.build(|_| ());
        Lab::new(&model, model.neutral(), &[0.3, 0.4, 0.0, 0.0, 0.0, 0.0])
    };
    let brakes = |lab: &mut Lab| {
        let [_, dv] = forward(lab, ParameterGroup::Friction);
        [0, 1].map(|k| 0.6 * dv[(0, k)] + 0.8 * dv[(1, k)])
    };
    // the floor has priority
    let [floor, own] = brakes(&mut ball(&|_, _, _| ()));
    assert!((floor + G * 1e-3).abs() < 1e-12 && own == 0.0, "{floor} {own}");
    // the pair says it all
    let mut lab = ball(&|w, a, b| w.0.add_pair(a, b, PairSurface { friction: 0.2, condim: 3, offset: 0.0 }));
    assert_eq!(brakes(&mut lab), [0.0; 2]);
    lab.check(1e-6, "explicit pair");
    // frictionless
    let mut lab = ball(&|w, a, b| w.0.add_pair(a, b, PairSurface { friction: 0.2, condim: 1, offset: 0.003 }));
    lab.at.x.q[2] += 0.003;
    lab.settle();
    assert!(lab.step().contacts().all(|c| c.mode != Mode::Break), "it rests above the floor");
    assert_eq!(brakes(&mut lab), [0.0; 2]);
    lab.check(1e-6, "frictionless pair");
}
