//! Pinocchio's coordinates: configurations, velocities, accelerations, forces and Jacobians, there and back.
//!
//! Three things differ. Pinocchio writes quaternions (x, y, z, w) and unbounded angles as (cos, sin). It sorts siblings
//! by name, so joints stand in another order and are matched by name. And its free-flyer and planar joints measure
//! linear velocity in the axes of the body, where ours use those of the parent (the world), so for R the rotation of
//! the body
//!
//! ```text
//! v_pin = Rᵀ v        a_pin = Rᵀ a − ω × Rᵀ v        tau_pin = Rᵀ tau        J_pin = J R
//! ```
//!
//! in the linear part, ω the angular velocity in body axes; the angular part is the same in both. A free joint may also
//! stand as a translation that carries a spherical joint, where v is ours number by number.

#![allow(non_snake_case)]

mod pairing;

pub use pairing::{MapError, PinJoint, PinKind};

use pairing::{Pair, Rule};
use slipstick_core::linalg::MatRef;
use slipstick_core::spatial::{Mat3, Quat, Vec3, axis_rotation, vec3};
use slipstick_core::{InputError, Model};

/// Translates between a model and the same robot in Pinocchio.
///
/// Methods ending in `_to` take our numbers and give Pinocchio's; those ending in `_from` take Pinocchio's, q included.
/// Configurations come out with unit quaternions.
///
/// ```
/// use slipstick::pinocchio::{Map, PinJoint, PinKind};
/// let model = slipstick::builtin("cube")?;
/// let free = PinJoint { name: "root_joint".into(), kind: PinKind::FreeFlyer, idx_q: 0, idx_v: 0, parent: None };
/// let map = Map::new(&model, &[free])?;
/// let pin_q = map.q_to(&[0.0, 0.0, 1.0, 0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0, 0.0])?; // a quarter turn about x
/// assert!((pin_q[6] - 0.5_f64.sqrt()).abs() < 1e-15);
/// let pin_v = map.v_to(&map.q_from(&pin_q)?, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])?;
/// assert!((pin_v[2] + 1.0).abs() < 1e-15); // world y is −z of the body
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Map {
    model: Model,
    pairs: Vec<Pair>,
    pin_nq: usize,
}

/// From our numbers to Pinocchio's, or back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    To,
    From,
}

impl Map {
    /// Matches the joints of a model with those of a Pinocchio model, without its universe: by name, and a free joint
    /// that finds no namesake with the one free joint of Pinocchio that has none either.
    pub fn new(model: &Model, joints: &[PinJoint]) -> Result<Map, MapError> {
        let pairs = pairing::pair(model, joints)?;
        let pin_nq = pairs.iter().map(|p| p.rule.pin_nq()).sum();
        Ok(Map { model: model.clone(), pairs, pin_nq })
    }

    /// Pinocchio's configuration.
    pub fn q_to(&self, q: &[f64]) -> Result<Vec<f64>, InputError> {
        let mut q = q.to_vec();
        self.model.normalize_q(&mut q)?;
        let mut pin = vec![0.0; self.pin_nq];
        for p in &self.pairs {
            p.write_pin_q(&q, &mut pin);
        }
        Ok(pin)
    }

    /// Our configuration.
    pub fn q_from(&self, pin_q: &[f64]) -> Result<Vec<f64>, InputError> {
        check("pin_q", pin_q, self.pin_nq)?;
        let mut q = vec![0.0; self.model.nq()];
        for p in &self.pairs {
            p.write_q(pin_q, &mut q);
        }
        self.model.normalize_q(&mut q)?;
        Ok(q)
    }

    /// Pinocchio's velocity.
    pub fn v_to(&self, q: &[f64], v: &[f64]) -> Result<Vec<f64>, InputError> {
        self.check(q, &[("v", v)])?;
        Ok(self.turn(q, v, Way::To))
    }

    /// Our velocity.
    pub fn v_from(&self, pin_q: &[f64], pin_v: &[f64]) -> Result<Vec<f64>, InputError> {
        let q = self.q_from(pin_q)?;
        self.check(&q, &[("pin_v", pin_v)])?;
        Ok(self.turn(&q, pin_v, Way::From))
    }

    /// Pinocchio's acceleration.
    pub fn a_to(&self, q: &[f64], v: &[f64], a: &[f64]) -> Result<Vec<f64>, InputError> {
        self.check(q, &[("v", v), ("a", a)])?;
        Ok(self.carry(q, a, Way::To, |p, R, a| {
            let omega = p.angular(v, p.v);
            R.tmul(a) - omega.cross(R.tmul(Vec3::from_slice(&v[p.v..])))
        }))
    }

    /// Our acceleration.
    pub fn a_from(&self, pin_q: &[f64], pin_v: &[f64], pin_a: &[f64]) -> Result<Vec<f64>, InputError> {
        let q = self.q_from(pin_q)?;
        self.check(&q, &[("pin_v", pin_v), ("pin_a", pin_a)])?;
        Ok(self.carry(&q, pin_a, Way::From, |p, R, a| {
            let omega = p.angular(pin_v, p.pin_v);
            *R * (a + omega.cross(Vec3::from_slice(&pin_v[p.pin_v..])))
        }))
    }

    /// Pinocchio's generalized forces.
    pub fn tau_to(&self, q: &[f64], tau: &[f64]) -> Result<Vec<f64>, InputError> {
        self.check(q, &[("tau", tau)])?;
        Ok(self.turn(q, tau, Way::To))
    }

    /// Our generalized forces.
    pub fn tau_from(&self, pin_q: &[f64], pin_tau: &[f64]) -> Result<Vec<f64>, InputError> {
        let q = self.q_from(pin_q)?;
        self.check(&q, &[("pin_tau", pin_tau)])?;
        Ok(self.turn(&q, pin_tau, Way::From))
    }

    /// A matrix with a column per dof (a Jacobian) for Pinocchio's velocities; row by row.
    pub fn jacobian_to(&self, q: &[f64], J: MatRef) -> Result<Vec<f64>, InputError> {
        self.rows(q, J, Way::To)
    }

    /// A matrix with a column per dof of Pinocchio for our velocities; row by row.
    pub fn jacobian_from(&self, pin_q: &[f64], pin_J: MatRef) -> Result<Vec<f64>, InputError> {
        self.rows(&self.q_from(pin_q)?, pin_J, Way::From)
    }

    /// A row of a Jacobian turns like a force: both are dual to velocities.
    fn rows(&self, q: &[f64], J: MatRef, way: Way) -> Result<Vec<f64>, InputError> {
        self.model.check_q(q)?;
        let mut out = Vec::with_capacity(J.rows() * self.model.nv());
        for i in 0..J.rows() {
            check("row of J", J.row(i), self.model.nv())?;
            out.extend(self.turn(q, J.row(i), way));
        }
        Ok(out)
    }

    /// Linear parts turned, the rest only put in its place: velocities, forces and rows of Jacobians.
    fn turn(&self, q: &[f64], x: &[f64], way: Way) -> Vec<f64> {
        self.carry(q, x, way, |_, R, linear| if way == Way::To { R.tmul(linear) } else { *R * linear })
    }

    /// `x` in the other order; `linear` makes the linear part of joints whose axes differ.
    fn carry(&self, q: &[f64], x: &[f64], way: Way, linear: impl Fn(&Pair, &Mat3, Vec3) -> Vec3) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        for p in &self.pairs {
            let (from, to) = if way == Way::To { (p.v, p.pin_v) } else { (p.pin_v, p.v) };
            let n = p.rule.nv();
            out[to..to + n].copy_from_slice(&x[from..from + n]);
            if let Some(R) = p.rotation(q) {
                let turned = linear(p, &R, Vec3::from_slice(&x[from..]));
                out[to..to + 3].copy_from_slice(&turned.to_array());
            }
        }
        out
    }

    fn check(&self, q: &[f64], vectors: &[(&'static str, &[f64])]) -> Result<(), InputError> {
        self.model.check_q(q)?;
        vectors.iter().try_for_each(|(what, x)| check(what, x, self.model.nv()))
    }
}

impl Pair {
    fn write_pin_q(&self, q: &[f64], pin: &mut [f64]) {
        let (q, pin) = (&q[self.q..], &mut pin[self.pin_q..]);
        match self.rule {
            Rule::Number { reference } => pin[0] = q[0] - reference,
            Rule::Angle { reference } => (pin[1], pin[0]) = (q[0] - reference).sin_cos(),
            Rule::Position => pin[..3].copy_from_slice(&q[..3]),
            Rule::Ball => pin[..4].copy_from_slice(&[q[1], q[2], q[3], q[0]]),
            Rule::Planar => {
                pin[..2].copy_from_slice(&q[..2]);
                (pin[3], pin[2]) = q[2].sin_cos();
            }
            Rule::FreeFlyer => pin[..7].copy_from_slice(&[q[0], q[1], q[2], q[4], q[5], q[6], q[3]]),
        }
    }

    fn write_q(&self, pin: &[f64], q: &mut [f64]) {
        let (q, pin) = (&mut q[self.q..], &pin[self.pin_q..]);
        match self.rule {
            Rule::Number { reference } => q[0] = pin[0] + reference,
            Rule::Angle { reference } => q[0] = pin[1].atan2(pin[0]) + reference,
            Rule::Position => q[..3].copy_from_slice(&pin[..3]),
            Rule::Ball => q[..4].copy_from_slice(&[pin[3], pin[0], pin[1], pin[2]]),
            Rule::Planar => q[..3].copy_from_slice(&[pin[0], pin[1], pin[3].atan2(pin[2])]),
            Rule::FreeFlyer => q[..7].copy_from_slice(&[pin[0], pin[1], pin[2], pin[6], pin[3], pin[4], pin[5]]),
        }
    }

    /// Rotation of the body, if Pinocchio measures the first three dofs in its axes.
    /// For a planar joint the third of them is the angle, which a turn about z leaves as it is.
    fn rotation(&self, q: &[f64]) -> Option<Mat3> {
        match self.rule {
            Rule::FreeFlyer => Quat::from_slice(&q[self.q + 3..]).normalized().map(Quat::to_matrix),
            Rule::Planar => {
                let (s, c) = q[self.q + 2].sin_cos();
                Some(axis_rotation(vec3(0.0, 0.0, 1.0), s, c))
            }
            _ => None,
        }
    }

    /// Angular velocity in body axes of such a joint, whose dofs begin at `first`.
    fn angular(&self, v: &[f64], first: usize) -> Vec3 {
        match self.rule {
            Rule::Planar => vec3(0.0, 0.0, v[first + 2]),
            _ => Vec3::from_slice(&v[first + 3..]),
        }
    }
}

/// Length and finiteness of what users hand in.
fn check(what: &'static str, x: &[f64], expected: usize) -> Result<(), InputError> {
    if x.len() != expected {
        return Err(InputError::Length { what, expected, got: x.len() });
    }
    match x.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }),
        None => Ok(()),
    }
}
