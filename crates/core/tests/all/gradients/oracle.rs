//! The step differentiated by brute force: central differences on the manifold, from one warm start, by the rule that a
//! state counts unless a mode or a feature changes within a difference even at its smallest step.

use nalgebra::DMatrix;
use slipstick_core::dynamics::{Workspace, Wrench};
use slipstick_core::gradient::StepJacobian;
use slipstick_core::step::{ConstraintView, ContactView};
use slipstick_core::*;

/// The blocks of a derivative, in the order of [`Blocks`].
pub const NAMES: [&str; 8] = ["dq_dq", "dq_dv", "dq_dtau", "dq_dctrl", "dv_dq", "dv_dv", "dv_dtau", "dv_dctrl"];

/// Stands for the pair of geoms in the key of what is no contact.
const OTHER: usize = usize::MAX;

/// All blocks of a derivative: two rows (q_next, v_next) of four (q, v, tau, ctrl).
#[derive(Clone, PartialEq)]
pub struct Blocks(pub [DMatrix<f64>; 8]);

impl Blocks {
    pub fn new(j: &StepJacobian) -> Blocks {
        let all = [j.dq_dq, j.dq_dv, j.dq_dtau, j.dq_dctrl, j.dv_dq, j.dv_dv, j.dv_dtau, j.dv_dctrl];
        Blocks(all.map(|m| DMatrix::from_fn(m.rows(), m.cols(), |i, k| m[(i, k)])))
    }

    pub fn dv_dq(&self) -> &DMatrix<f64> {
        &self.0[4]
    }

    pub fn dv_dv(&self) -> &DMatrix<f64> {
        &self.0[5]
    }

    pub fn dv_dtau(&self) -> &DMatrix<f64> {
        &self.0[6]
    }

    /// ∂(q_next, v_next)/∂(q, v).
    pub fn a(&self) -> DMatrix<f64> {
        let n = self.0[0].nrows();
        DMatrix::from_fn(2 * n, 2 * n, |i, k| self.0[4 * (i / n) + k / n][(i % n, k % n)])
    }

    /// Largest difference between two derivatives, each block relative to its largest entry, or to what free motion of
    /// about a kilogram in steps of a millisecond has if that is more.
    pub fn distance(&self, other: &Blocks) -> f64 {
        let floors = [1.0, 1e-3, 1e-6, 1e-6, 1.0, 1.0, 1e-3, 1e-3];
        let of = |b: usize| {
            let (a, b, floor) = (&self.0[b], &other.0[b], floors[b]);
            if a.is_empty() { 0.0 } else { (a - b).amax() / a.amax().max(b.amax()).max(floor) }
        };
        (0..8).map(of).fold(0.0, f64::max)
    }

    pub fn is_finite(&self) -> bool {
        self.0.iter().all(|m| m.iter().all(|x| x.is_finite()))
    }
}

/// What a step is made from: q, v, tau, ctrl and wrenches.
#[derive(Clone)]
pub struct Inputs {
    pub x: State,
    pub tau: Vec<f64>,
    pub ctrl: Option<Vec<f64>>,
    pub wrenches: Vec<Wrench>,
}

impl Inputs {
    pub fn input(&self) -> Input<'_> {
        Input { tau: &self.tau, ctrl: self.ctrl.as_deref(), wrenches: &self.wrenches, mocap: &[] }
    }
}

/// What came out, and the modes and features in it.
#[derive(Clone, PartialEq)]
pub struct Outcome {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub impulses: Vec<f64>,
    pub modes: Vec<(usize, usize, u64, i32)>,
    pub status: Status,
    pub margin: f64,
}

/// A model at a state, with the warm start from which all its steps begin.
pub struct Lab {
    pub model: Model,
    pub at: Inputs,
    pub data: Data,
    warm: WarmStart,
    /// Whether differences take no notice of modes, for steps that have none.
    pub without_modes: bool,
}

/// Errors of the blocks of one state; `None`: no difference without a change of modes.
pub type Errors = Option<[f64; 8]>;

impl Lab {
    /// Solves at 1e-13 and keeps the solution as the warm start.
    pub fn new(model: &Model, q: &[f64], v: &[f64]) -> Lab {
        let at = Inputs {
            x: State::new(model, q, v).expect("a sound state"),
            tau: vec![0.0; model.nv()],
            ctrl: None,
            wrenches: Vec::new(),
        };
        Lab::with(model, at)
    }

    pub fn with(model: &Model, at: Inputs) -> Lab {
        let mut options = model.options().clone();
        options.tolerance = 1e-13;
        let model = model.with_options(options).expect("sound options");
        let data = Data::new(&model);
        let warm = data.warm_start();
        let mut lab = Lab { model, at, data, warm, without_modes: false };
        lab.settle();
        lab
    }

    /// Takes the warm start from the solution of the present inputs.
    pub fn settle(&mut self) {
        self.data.clear_warm_start();
        self.warm = self.data.warm_start();
        self.step();
        self.warm = self.data.warm_start();
    }

    pub fn tau(mut self, tau: &[f64]) -> Lab {
        self.at.tau.copy_from_slice(tau);
        self.settle();
        self
    }

    pub fn ctrl(mut self, ctrl: &[f64]) -> Lab {
        self.at.ctrl = Some(ctrl.to_vec());
        self.settle();
        self
    }

    pub fn wrenches(mut self, wrenches: &[Wrench]) -> Lab {
        self.at.wrenches = wrenches.to_vec();
        self.settle();
        self
    }

    /// The step at the present inputs.
    pub fn step(&mut self) -> Step<'_> {
        self.step_to().0
    }

    pub fn step_to(&mut self) -> (Step<'_>, State) {
        self.data.restore(&self.warm).expect("of this model");
        let at = &self.at;
        let mut next = at.x.clone();
        let done = step(&self.model, &mut self.data, &at.x, &at.input(), &mut next);
        (done.expect("a finite step"), next)
    }

    pub fn evaluate(&mut self) -> Outcome {
        let model = self.model.clone();
        let (mut done, next) = self.step_to();
        let (status, margin) = (done.report().status, done.report().margin);
        let impulses = done.contacts().flat_map(|c| c.impulse.to_array()).collect();
        let contacts: Vec<_> = done.contacts().collect();
        let mut modes: Vec<_> = contacts.iter().map(|c| contact_key(model.options(), c)).collect();
        modes.extend(other_keys(&mut done));
        if self.without_modes {
            modes.retain(|m| m.0 != OTHER);
            modes.iter_mut().for_each(|m| m.3 = 0);
        }
        modes.sort_unstable();
        Outcome { q: next.q, v: next.v, impulses, modes, status, margin }
    }

    pub fn jacobian(&mut self) -> Blocks {
        self.try_jacobian().expect("a derivative")
    }

    pub fn try_jacobian(&mut self) -> Result<Blocks, GradientError> {
        self.step().jacobian().map(|j| Blocks::new(&j))
    }

    /// Number of columns of q, v, tau and ctrl.
    pub fn inputs(&self) -> [usize; 4] {
        let nv = self.model.nv();
        [nv, nv, nv, self.at.ctrl.as_ref().map_or(0, Vec::len)]
    }

    /// The step with input `kind` moved by `h` along its coordinate `j`.
    pub fn moved(&mut self, kind: usize, j: usize, h: f64) -> Outcome {
        let kept = self.at.clone();
        self.at.shift(&self.model, kind, j, h);
        let out = self.evaluate();
        self.at = kept;
        out
    }

    /// Central difference of (q_next, v_next, impulses) along a coordinate of an input; `None` where modes differ.
    pub fn difference(&mut self, kind: usize, j: usize, h: f64, base: &Outcome) -> Option<[Vec<f64>; 3]> {
        let (plus, minus) = (self.moved(kind, j, h), self.moved(kind, j, -h));
        central(&self.model, base, &plus, &minus, h)
    }

    /// Errors of all blocks against the best central difference of each column.
    pub fn audit(&mut self) -> Result<Errors, GradientError> {
        let (blocks, base) = (self.try_jacobian()?, self.evaluate());
        let unit = self.velocity_per_force();
        let dt = self.model.options().dt;
        // a block that vanishes is measured by what free motion would have; places are rounded more coarsely than they move
        let floors = [1.0, dt, dt * unit, dt * unit, 1e-3, 1e-3, 1e-3 * unit, 1e-3 * unit];
        let scales: Vec<f64> = (0..8).map(|b| blocks.0[b].amax_or_zero().max(floors[b])).collect();
        let mut errors = [0.0; 8];
        for (kind, n) in self.inputs().into_iter().enumerate() {
            for j in 0..n {
                let mut best: Option<[f64; 2]> = None;
                for h in steps(kind, unit) {
                    let Some(d) = self.difference(kind, j, h, &base) else { continue };
                    let now = [0, 1].map(|r| column_error(&blocks.0[4 * r + kind], j, &d[r]) / scales[4 * r + kind]);
                    let better = best.map_or(now, |b| [b[0].min(now[0]), b[1].min(now[1])]);
                    best = Some(better);
                    if better.iter().all(|e| *e < 1e-10) {
                        break;
                    }
                }
                let Some(best) = best else { return Ok(None) };
                (0..2).for_each(|r| errors[4 * r + kind] = f64::max(errors[4 * r + kind], best[r]));
            }
        }
        Ok(Some(errors))
    }

    /// All blocks agree with differences to `tolerance`, and there are differences.
    pub fn check(&mut self, tolerance: f64, what: &str) {
        let errors = self.audit().unwrap_or_else(|e| panic!("{what}: {e}"));
        let errors = errors.unwrap_or_else(|| panic!("{what}: the modes change in every difference"));
        for (name, e) in NAMES.iter().zip(errors) {
            assert!(e <= tolerance, "{what}: {name} is {e:e} off its difference");
        }
    }

    /// The largest velocity that a unit of generalized force gives in a step.
    pub fn velocity_per_force(&self) -> f64 {
        let nv = self.model.nv();
        let mut inverse = vec![0.0; nv * nv];
        Workspace::new(&self.model).mass_inverse(&self.model, &self.at.x.q, &mut inverse).expect("positive definite");
        self.model.options().dt * inverse.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    }
}

impl Inputs {
    /// Moves q (along a tangent), v, tau or ctrl by `h` along coordinate `j`.
    pub fn shift(&mut self, model: &Model, kind: usize, j: usize, h: f64) {
        match kind {
            0 => {
                let (mut d, q) = (vec![0.0; model.nv()], self.x.q.clone());
                d[j] = h;
                model.integrate(&q, &d, &mut self.x.q).expect("a sound tangent");
            }
            1 => self.x.v[j] += h,
            2 => self.tau[j] += h,
            _ => self.ctrl.as_mut().expect("there are controls")[j] += h,
        }
    }
}

pub trait Largest {
    fn amax_or_zero(&self) -> f64;
}

impl Largest for DMatrix<f64> {
    fn amax_or_zero(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.amax() }
    }
}

/// Steps of a difference: those of velocities and forces may be larger, since the step is nearly linear in them and q_next
/// hardly moves with them. Forces are measured by the velocity that they make.
fn steps(kind: usize, unit: f64) -> Vec<f64> {
    match kind {
        0 => vec![1e-6, 1e-7, 1e-8],
        1 => vec![1e-4, 1e-5, 1e-6, 1e-7, 1e-8],
        _ => [1e-4, 1e-5, 1e-6, 1e-7, 1e-8].map(|h| h / unit).to_vec(),
    }
}

pub fn column_error(block: &DMatrix<f64>, j: usize, column: &[f64]) -> f64 {
    column.iter().enumerate().fold(0.0, |m, (i, x)| m.max((block[(i, j)] - x).abs()))
}

/// (plus − minus) / 2h of q_next (as a tangent), v_next and the impulses.
pub fn central(model: &Model, base: &Outcome, plus: &Outcome, minus: &Outcome, h: f64) -> Option<[Vec<f64>; 3]> {
    if plus.modes != minus.modes || plus.modes != base.modes {
        return None;
    }
    let tangent = |q: &[f64]| {
        let mut d = vec![0.0; model.nv()];
        model.difference(&base.q, q, &mut d).expect("sound configurations");
        d
    };
    let halve = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<_>>();
    let impulses = halve(&plus.impulses, &minus.impulses);
    Some([halve(&tangent(&plus.q), &tangent(&minus.q)), halve(&plus.v, &minus.v), impulses])
}

/// Pair, feature, mode and branch of the bias of a contact.
fn contact_key(o: &Options, c: &ContactView) -> (usize, usize, u64, i32) {
    let (phi, depth) = (c.distance, o.correction.full_depth);
    let shallow = phi >= -depth;
    let f = if shallow { phi } else { -depth + o.correction.beta * (phi + depth) };
    let limited = f < -o.correction.max_speed * o.dt;
    let gap = f.max(-o.correction.max_speed * o.dt) / o.dt;
    // a contact that moves neither as its gap demands nor stays open is one that bounces (or yields)
    let bounces = c.mode != Mode::Break && (c.velocity.z + gap).abs() > 1e-4 * gap.abs().max(1.0);
    // at the edge of its cone without moving it is between sticking and sliding this way or that
    let edge = c.mode == Mode::Slide && c.friction > 0.0 && c.velocity.x.hypot(c.velocity.y) < 1e-8;
    let mode = if edge { 3 } else { c.mode as i32 };
    let flags = mode * 8 + i32::from(shallow) * 4 + i32::from(limited) * 2 + i32::from(bounces);
    (c.geoms[0].0, c.geoms[1].0, c.feature, flags)
}

/// What joints, tendons and loops do: a name, a mode, and the side on which dry friction gives way. A joint at its stop
/// moves as the stop says, whatever its dry friction does beside it.
fn other_keys(done: &mut Step) -> Vec<(usize, usize, u64, i32)> {
    let acts = |c: &ConstraintView| !c.name.starts_with("contact") && c.mode != Mode::Break;
    let all: Vec<ConstraintView> = done.constraints().into_iter().filter(acts).collect();
    let owner = |c: &ConstraintView| c.name.split('\'').nth(1).map(str::to_string);
    let idle = |c: &ConstraintView| {
        let stopped = |other: &ConstraintView| other.name.contains("limit") && owner(other) == owner(c);
        c.name.starts_with("dry friction") && all.iter().any(stopped)
    };
    let key = |c: &ConstraintView| {
        let hash = c.name.bytes().fold(7_u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let side = if c.mode == Mode::Slide { c.impulse[0].signum() as i32 } else { 0 };
        (OTHER, 0, hash, 4 * c.mode as i32 + side)
    };
    all.iter().filter(|c| !idle(c)).map(key).collect()
}

/// What is expected of a matrix, entry by entry, to an absolute tolerance.
pub fn expect(what: &str, got: &DMatrix<f64>, want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let want = DMatrix::from_row_slice(got.nrows(), got.ncols(), want);
    assert!((got - &want).amax() <= tolerance, "{what}: got {got} instead of {want}");
}
