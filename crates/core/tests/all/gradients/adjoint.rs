//! One derivative, asked for in different ways: matrices, directions, adjoints, impulses; and what is refused.

use super::oracle::*;
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use nalgebra::{DMatrix, DVector};
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::ParameterGroup;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A direction and an adjoint of random numbers.
struct Test {
    d: [Vec<f64>; 4],
    w: [Vec<f64>; 3],
}

impl Test {
    fn new(lab: &mut Lab, rng: &mut Rng) -> Test {
        let d = lab.inputs().map(|n| rng.vector(n, 1.0));
        let (nv, contacts) = (lab.model.nv(), lab.step().contacts().count());
        Test { d, w: [rng.vector(nv, 1.0), rng.vector(nv, 1.0), rng.vector(3 * contacts, 1.0)] }
    }

    fn direction(&self) -> InputDirection<'_> {
        InputDirection { q: &self.d[0], v: &self.d[1], tau: &self.d[2], ctrl: &self.d[3], ..Default::default() }
    }

    fn adjoint(&self) -> OutputGrad<'_> {
        OutputGrad { q: &self.w[0], v: &self.w[1], impulses: &self.w[2], ..Default::default() }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A world with two drives or more in which something touches.
fn busy() -> Lab {
    let labs = (0..40).step_by(2).flat_map(|seed| fall(seed, 150, 3));
    let mut busy = labs.filter(|lab| lab.model.nu() > 1);
    let found = busy.find_map(|mut lab| (lab.step().contacts().count() > 0).then_some(lab));
    found.expect("one of many")
}

/// The reverse derivative, added to zeros.
fn reverse(lab: &mut Lab, w: OutputGrad) -> [Vec<f64>; 4] {
    let mut out = lab.inputs().map(|n| vec![0.0; n]);
    let [q, v, tau, ctrl] = &mut out;
    lab.step().vjp(w, InputGrad { q, v, tau, ctrl, ..Default::default() }).expect("a derivative");
    out
}

/// Derivative of the impulses of all contacts by q, v and tau, stacked.
fn impulses(lab: &mut Lab) -> [DMatrix<f64>; 3] {
    let (nv, n) = (lab.model.nv(), lab.step().contacts().count());
    let mut out = [0; 3].map(|_| DMatrix::zeros(3 * n, nv));
    let mut done = lab.step();
    for k in 0..n {
        let mut parts = [0; 3].map(|_| vec![0.0; 3 * nv]);
        let [a, b, c] = &mut parts;
        done.impulse_jacobian(k, [a, b, c]).expect("a derivative");
        for (all, part) in out.iter_mut().zip(&parts) {
            all.view_mut((3 * k, 0), (3, nv)).copy_from(&DMatrix::from_row_slice(3, nv, part));
        }
    }
    out
}

#[test]
fn directions_and_adjoints_are_products_with_the_matrix() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        for (k, mut lab) in fall(seed, 100, 3).into_iter().enumerate() {
            let (blocks, test) = (lab.jacobian(), Test::new(&mut lab, &mut rng));
            let nv = lab.model.nv();
            let [mut dq, mut dv] = [vec![0.0; nv], vec![0.0; nv]];
            lab.step().jvp(test.direction(), &mut dq, &mut dv).expect("a derivative");
            let w = OutputGrad { impulses: &[], ..test.adjoint() };
            let back = reverse(&mut lab, w);
            for r in 0..2 {
                let want: DVector<f64> =
                    (0..4).map(|c| &blocks.0[4 * r + c] * DVector::from_column_slice(&test.d[c])).sum();
                let got = DVector::from_column_slice([&dq, &dv][r]);
                let off = (&got - &want).amax() / want.amax().max(1.0);
                assert!(off < 1e-11, "world {seed}, sample {k}: direction {off:e}");
            }
            for c in 0..4 {
                let by = |r: usize| blocks.0[4 * r + c].transpose() * DVector::from_column_slice(&test.w[r]);
                let want = by(0) + by(1);
                let got = DVector::from_column_slice(&back[c]);
                if !want.is_empty() {
                    let off = (&got - &want).amax() / want.amax().max(1.0);
                    assert!(off < 1e-11, "world {seed}, sample {k}: adjoint {} {off:e}", NAMES[c]);
                }
            }
            // w·(J dx) = (Jᵀ w)·dx
            let (there, here) =
                (dot(&test.w[0], &dq) + dot(&test.w[1], &dv), (0..4).map(|c| dot(&back[c], &test.d[c])).sum::<f64>());
            let size = dv.iter().chain(&dq).fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!((there - here).abs() < 1e-11 * size, "world {seed}, sample {k}: {there} and {here}");
        }
    }
}

#[test]
fn adjoints_of_impulses_are_products_with_their_matrix() {
    let mut touching = 0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        for (k, mut lab) in fall(seed, 150, 3).into_iter().enumerate() {
            let test = Test::new(&mut lab, &mut rng);
            touching += usize::from(!test.w[2].is_empty());
            let matrices = impulses(&mut lab);
            let back = reverse(&mut lab, OutputGrad { impulses: &test.w[2], ..OutputGrad::default() });
            for c in 0..3 {
                let want = matrices[c].transpose() * DVector::from_column_slice(&test.w[2]);
                // how redundant points share a change of load is known to fewer digits than the motion that it makes
                let size = if matrices[c].is_empty() { 1.0 } else { matrices[c].amax().max(1.0) };
                let off = (DVector::from_column_slice(&back[c]) - &want).amax() / size;
                assert!(off < 1e-9, "world {seed}, sample {k}: impulses by {} {off:e}", ["q", "v", "tau"][c]);
            }
            // and all together is the sum of the parts
            let all = reverse(&mut lab, test.adjoint());
            let motion = reverse(&mut lab, OutputGrad { impulses: &[], ..test.adjoint() });
            for c in 0..4 {
                for i in 0..all[c].len() {
                    let sum = motion[c][i] + back[c][i];
                    // loads of redundant points are resolved to ten digits at most
                    assert!((all[c][i] - sum).abs() < 1e-8 * sum.abs().max(1e3), "{} and {sum}", all[c][i]);
                }
            }
        }
    }
    assert!(touching > 30);
}

#[test]
fn impulses_have_the_derivative_that_differences_of_them_have() {
    // balls on a floor and against each other: one point each, so that impulses are unique
    let mut rng = Rng::new(21);
    let (mut checked, mut sliding) = (0, 0);
    for n in 0..20 {
        let mut w = World::new();
        let s = surface(0.3, if n % 4 == 3 { 0.5 } else { 0.0 });
        w.plane(Pose::IDENTITY, s);
        w.ball("a", 1.0, 0.1, vec3(0.0, 0.0, 0.1), s);
        w.ball("b", 2.0, 0.1, vec3(0.2, 0.0, 0.1), s);
        let mut run = Run::new(w.build(|_| ())).thrown(&rng.vector(12, if n % 2 == 0 { 0.1 } else { 1.0 }));
        (run.x.v[0], run.x.v[6]) = (0.3, -0.3);
        (run.x.v[2], run.x.v[8]) = (-run.x.v[2].abs(), -run.x.v[8].abs());
        // every third throw spins, so that it slides
        (3..6).chain(9..12).for_each(|j| run.x.v[j] *= if n % 3 == 0 { 50.0 } else { 1.0 });
        for _ in 0..4 {
            (0..5).for_each(|_| drop(run.attempt(&Input::default())));
            let mut lab = Lab::new(&run.model, &run.x.q, &run.x.v);
            let (got, base) = (impulses(&mut lab), lab.evaluate());
            sliding += usize::from(lab.step().contacts().any(|c| c.mode == Mode::Slide));
            for (kind, matrix) in got.iter().enumerate().filter(|(_, m)| !m.is_empty()) {
                let scale = matrix.amax().max(1e-3 * [1e3, 1.0, 1e-3][kind]);
                for j in 0..12 {
                    let steps = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8].map(|h| if kind == 2 { 1e3 * h } else { h });
                    let errors = steps.iter().filter_map(|h| {
                        let d = lab.difference(kind, j, *h, &base)?;
                        Some(column_error(matrix, j, &d[2]) / scale)
                    });
                    let Some(e) = errors.reduce(f64::min) else { continue };
                    checked += 1;
                    assert!(e < 1e-6, "throw {n}: impulses by {} {j}: {e:e}", ["q", "v", "tau"][kind]);
                }
            }
        }
    }
    assert!(checked > 1000 && sliding > 10, "{checked} columns, {sliding} sliding");
}

#[test]
fn matrices_a_and_b_are_made_of_the_blocks() {
    for driven in [true, false] {
        let mut lab = busy();
        if !driven {
            lab.at.ctrl = None;
        }
        let (nv, nu) = (lab.model.nv(), lab.inputs()[3]);
        let blocks = lab.jacobian();
        let mut done = lab.step();
        let j = done.jacobian().expect("a derivative");
        let mut a = vec![0.0; 4 * nv * nv];
        j.copy_a(&mut a).expect("fits");
        assert_eq!(DMatrix::from_row_slice(2 * nv, 2 * nv, &a), blocks.a());
        let columns = if nu > 0 { nu } else { nv };
        let mut b = vec![0.0; 2 * nv * columns];
        j.copy_b(&mut b).expect("fits");
        let which = if nu > 0 { 3 } else { 2 };
        let want = DMatrix::from_fn(2 * nv, columns, |i, k| blocks.0[4 * (i / nv) + which][(i % nv, k)]);
        assert_eq!(DMatrix::from_row_slice(2 * nv, columns, &b), want);
        assert_eq!((j.A(), j.B()), (a.clone(), b.clone()));
        assert!(matches!(j.copy_a(&mut a[1..]), Err(InputError::Length { .. })));
        assert!(matches!(j.copy_b(&mut b[1..]), Err(InputError::Length { .. })));
    }
}

#[test]
fn adjoints_add_to_what_is_there_and_leave_out_what_is_not_wanted() {
    let mut lab = busy();
    let mut rng = Rng::new(8);
    let test = Test::new(&mut lab, &mut rng);
    let zero = reverse(&mut lab, test.adjoint());
    let start = lab.inputs().map(|n| rng.vector(n, 1.0));
    let mut sum = start.clone();
    let [q, v, tau, ctrl] = &mut sum;
    lab.step().vjp(test.adjoint(), InputGrad { q, v, tau, ctrl, ..Default::default() }).expect("a derivative");
    for c in 0..4 {
        for i in 0..sum[c].len() {
            let want = start[c][i] + zero[c][i];
            assert!((sum[c][i] - want).abs() <= 1e-12 * want.abs().max(1.0), "{} is not {want}", sum[c][i]);
        }
    }
    // parts of an adjoint add up, empty ones count as zeros
    let parts = [
        OutputGrad { q: &test.w[0], ..OutputGrad::default() },
        OutputGrad { v: &test.w[1], ..OutputGrad::default() },
        OutputGrad { impulses: &test.w[2], ..OutputGrad::default() },
    ];
    let parts = parts.map(|w| reverse(&mut lab, w));
    for c in 0..4 {
        for i in 0..zero[c].len() {
            let total: f64 = parts.iter().map(|p| p[c][i]).sum();
            assert!((zero[c][i] - total).abs() <= 1e-10 * total.abs().max(1e3));
        }
    }
    assert!(reverse(&mut lab, OutputGrad::default()).iter().flatten().all(|x| *x == 0.0));
    // only what is wanted is written, with the same bits
    let mut only = vec![0.0; lab.model.nv()];
    lab.step().vjp(test.adjoint(), InputGrad { tau: &mut only, ..InputGrad::default() }).expect("a derivative");
    assert_eq!(only, zero[2]);
    let nv = lab.model.nv();
    let [mut dq, mut dv] = [vec![1.0; nv], vec![1.0; nv]];
    lab.step().jvp(InputDirection::default(), &mut dq, &mut dv).expect("a derivative");
    assert!(dq.iter().chain(&dv).all(|x| *x == 0.0), "no direction, no change: jvp overwrites");
}

/// The error is one about the length of what was handed in.
fn refused<T: std::fmt::Debug>(what: &str, got: Result<T, GradientError>) {
    assert!(matches!(got, Err(GradientError::Input(InputError::Length { .. }))), "{what}: {got:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_length() {
    let mut lab = busy();
    let (nv, nu, contacts) = (lab.model.nv(), lab.model.nu(), lab.step().contacts().count());
    let long = vec![0.0; nv + 1];
    let right = vec![0.0; nv];
    let [mut a, mut b] = [vec![0.0; nv], vec![0.0; nv]];
    let none = InputDirection::default();
    let mut done = lab.step();
    for (what, d) in [
        ("q", InputDirection { q: &long, ..none }),
        ("v", InputDirection { v: &long, ..none }),
        ("tau", InputDirection { tau: &long, ..none }),
        ("ctrl", InputDirection { ctrl: &right[..nu - 1], ..none }),
    ] {
        refused(what, done.jvp(d, &mut a, &mut b));
        refused(what, done.jvp_one_sided(d, None, &mut a, &mut b));
    }
    refused("dq_next", done.jvp(none, &mut a[1..], &mut b));
    refused("dv_next", done.jvp(none, &mut a, &mut b[1..]));
    let w = OutputGrad::default();
    for (what, w) in [
        ("w.q", OutputGrad { q: &long, ..w }),
        ("w.v", OutputGrad { v: &long, ..w }),
        ("w.impulses", OutputGrad { impulses: &[1.0, 2.0], ..w }),
    ] {
        refused(what, done.vjp(w, InputGrad::default()));
        refused(what, done.vjp_parameters(w, ParameterGroup::Gravity, &mut [0.0; 3]));
    }
    refused("out.q", done.vjp(w, InputGrad { q: &mut a[1..], ..InputGrad::default() }));
    refused("out.v", done.vjp(w, InputGrad { v: &mut a[1..], ..InputGrad::default() }));
    refused("out.tau", done.vjp(w, InputGrad { tau: &mut a[1..], ..InputGrad::default() }));
    refused("out.ctrl", done.vjp(w, InputGrad { ctrl: &mut [0.0; 77], ..InputGrad::default() }));
    refused("group", done.vjp_parameters(w, ParameterGroup::Gravity, &mut [0.0; 2]));
    refused("group", done.parameter_jacobian(ParameterGroup::Gravity, &mut a, &mut vec![0.0; 3 * nv]));
    let mut rows = [0; 3].map(|_| vec![0.0; 3 * nv]);
    let [x, y, z] = &mut rows;
    refused("rows", done.impulse_jacobian(0, [x, &mut y[1..], z]));
    let beyond = done.impulse_jacobian(contacts, [x, y, z]);
    assert!(matches!(beyond, Err(GradientError::Input(InputError::OutOfRange { .. }))), "{beyond:?}");
}

#[test]
fn controls_have_no_place_after_a_step_without_actuators() {
    let mut lab = fall(5, 150, 1).remove(0);
    let (nv, nu) = (lab.model.nv(), lab.model.nu().max(1));
    let [mut a, mut b, mut c] = [vec![0.0; nv], vec![0.0; nv], vec![0.0; nu]];
    let mut done = lab.step();
    assert_eq!(done.jacobian().expect("a derivative").dv_dctrl.cols(), 0);
    refused("ctrl", done.jvp(InputDirection { ctrl: &c, ..InputDirection::default() }, &mut a, &mut b));
    refused("ctrl", done.vjp(OutputGrad::default(), InputGrad { ctrl: &mut c, ..InputGrad::default() }));
}
