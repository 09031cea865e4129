//! The two compilations of each pass give the same bits.
//!
//! A pass may run its AVX2 version; inside `portably` it runs that of the portable baseline.
//! On a machine without AVX2 both are the same code and the test says nothing.

use super::aba::{ArticulatedBodies, aba};
use super::kinematics::{Kinematics, positions_and_inertias};
use super::kinematics_derivatives::KinematicsDerivatives;
use super::mass_factor::*;
use super::mass_solve::*;
use super::rnea::rnea;
use super::rnea_adjoint::{RneaAdjoint, RneaGradient, rnea_vjp};
use super::rnea_derivatives::{RneaDerivatives, rnea_derivatives, stride};
use super::tree_matrix::*;
use super::{Workspace, Wrench};
use crate::dispatch::portably;
use crate::model::*;
use crate::spatial::*;

/// A floating body with two chains, a ball, a slide and a planar joint.
fn model() -> Model {
    let mut b = ModelBuilder::new("test");
    let inertia = BodyInertia { mass: 1.3, com: vec3(0.1, -0.2, 0.2), about_com: Sym3::diagonal(vec3(0.1, 0.2, 0.15)) };
    let place = Pose::new(vec3(0.2, 0.3, -0.1), Quat::exp(vec3(0.3, -0.2, 0.5)));
    let free = vec![JointSpec::new("root", JointKind::Free)];
    let root = b.add_link(ModelBuilder::WORLD, "root", place, inertia, free);
    let kinds = [
        JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) },
        JointKind::Spherical,
        JointKind::Revolute { axis: vec3(0.6, 0.0, 0.8) },
        JointKind::Planar,
        JointKind::Prismatic { axis: vec3(0.0, 0.0, 1.0) },
        JointKind::Revolute { axis: vec3(1.0, 0.0, 0.0) },
    ];
    for chain in 0..2 {
        let mut parent = root;
        for (k, kind) in kinds.into_iter().enumerate() {
            let name = format!("{chain}_{k}");
            let joint = JointSpec { armature: 0.01, anchor: vec3(0.0, 0.1, 0.0), ..JointSpec::new(name.clone(), kind) };
            parent = b.add_link(parent, name, place, inertia, vec![joint]);
        }
    }
    b.build().expect("sound")
}

fn state(model: &Model) -> (Vec<f64>, Vec<f64>, Vec<f64>, [Wrench; 1]) {
    let wave = |n: usize, f: f64| (0..n).map(|k| (f * (k as f64 + 1.0)).sin()).collect::<Vec<f64>>();
    let mut q = model.neutral().to_vec();
    model.integrate_unchecked(model.neutral(), &wave(model.nv(), 0.7), 1.0, &mut q);
    let wrench = Wrench::new(BodyId(4), vec3(1.0, -2.0, 0.5), vec3(0.1, 0.2, 0.3));
    (q, wave(model.nv(), 1.1), wave(model.nv(), 1.9), [wrench])
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits()) && a.iter().any(|x| *x != 0.0)
}

#[test]
fn torques_and_accelerations_have_the_same_bits() {
    let model = model();
    let (q, v, a, wrenches) = state(&model);
    let (mut kin, mut f) = (Kinematics::new(&model), vec![Force::ZERO; model.n_bodies()]);
    let (mut wide, mut baseline) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
    rnea(&model, &q, &v, &a, &wrenches, &mut kin, &mut f, &mut wide);
    portably(|| rnea(&model, &q, &v, &a, &wrenches, &mut kin, &mut f, &mut baseline));
    assert!(same(&wide, &baseline));
    let mut art = ArticulatedBodies::new(&model);
    aba(&model, &q, &v, &a, &wrenches, &mut kin, &mut art, &mut wide);
    portably(|| aba(&model, &q, &v, &a, &wrenches, &mut kin, &mut art, &mut baseline));
    assert!(same(&wide, &baseline));
}

#[test]
fn the_mass_matrix_its_inverse_and_solves_have_the_same_bits() {
    let model = model();
    let (q, ..) = state(&model);
    let (nv, width) = (model.nv(), stride(model.nv()));
    let mut kin = Kinematics::new(&model);
    positions_and_inertias(&model, &q, &mut kin);
    let b: Vec<f64> = (0..nv * 52).map(|k| (k as f64).cos()).collect();
    let mut results = Vec::new();
    for portable in [false, true] {
        let (mut mass, mut panel) = (MassFactor::new(&model), Panel::new(&model));
        let (mut full, mut inverse_, mut x) = (vec![0.0; nv * nv], vec![0.0; nv * width], vec![0.0; nv * 52]);
        let mut passes = || {
            crba(&model, &kin, &mut mass);
            mass.write_full(model.tree(), &mut full);
            factor(model.tree(), 0..model.nv(), &mut mass);
            inverse(&model, &mass, width, &mut inverse_, &mut panel);
            solve_columns(&model, &mass, -1.0, 52, &b, &mut x, &mut panel);
        };
        if portable {
            portably(passes)
        } else {
            passes()
        }
        results.push([full, inverse_, x]);
    }
    for (wide, baseline) in results[0].iter().zip(&results[1]) {
        assert!(same(wide, baseline));
    }
}

#[test]
fn derivatives_have_the_same_bits() {
    let model = model();
    let (q, v, a, wrenches) = state(&model);
    let (mut kin, mut dkin) = (Kinematics::new(&model), KinematicsDerivatives::new(&model));
    let mut mass = MassFactor::new(&model);
    let (mut wide, mut baseline) = (RneaDerivatives::new(&model), RneaDerivatives::new(&model));
    rnea_derivatives(&model, &q, &v, &a, &wrenches, &mut kin, &mut dkin, &mut mass, &mut wide);
    portably(|| rnea_derivatives(&model, &q, &v, &a, &wrenches, &mut kin, &mut dkin, &mut mass, &mut baseline));
    assert!(same(&wide.rows, &baseline.rows));
    let (mut adj, n) = (RneaAdjoint::new(&model), model.nv());
    let mut g = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    let mut h = g.clone();
    let [gq, gv, ga] = &mut g;
    let out = RneaGradient { q: gq, v: gv, a: ga };
    rnea_vjp(&model, &q, &v, &a, &wrenches, &v, &mut kin, &mut dkin, &mut adj, out);
    let [hq, hv, ha] = &mut h;
    let out = RneaGradient { q: hq, v: hv, a: ha };
    portably(|| rnea_vjp(&model, &q, &v, &a, &wrenches, &v, &mut kin, &mut dkin, &mut adj, out));
    for (wide, baseline) in g.iter().zip(&h) {
        assert!(same(wide, baseline));
    }
}

#[test]
fn repeating_a_call_repeats_its_bits() {
    let model = model();
    let (q, v, a, wrenches) = state(&model);
    let mut work = Workspace::new(&model);
    let rows = |work: &mut Workspace| {
        let d = work.aba_derivatives(&model, &q, &v, &a, &wrenches).expect("regular");
        let mut out = vec![0.0; model.nv() * model.nv()];
        d.da_dq().copy_to(&mut out);
        out
    };
    let first = rows(&mut work);
    // other calls in between leave nothing behind that matters
    work.factor(&model, model.neutral()).expect("regular");
    for _ in 0..3 {
        assert!(same(&first, &rows(&mut work)));
    }
}
