//! Whether a robot can rest in a pose: its actuators are locked, and the statue either stands or accelerates.
//!
//! Torques of actuators are free to choose, so the pose can rest if and only if contact forces within Coulomb's cones
//! carry the dofs without actuators. These forces are impulses that stop a statue: a robot whose actuated dofs are
//! locked. Its contact problem has `G = J_u M_uu⁻¹ J_uᵀ`, u the dofs without actuators, and a solution without velocity
//! is the proof. One with a velocity counts as a no, although Coulomb's law may have several solutions.
#![allow(non_snake_case)]

use super::error::BalanceError;
use super::motion::Posture;
use super::support::nearest;
use crate::drives::Drives;
use slipstick::model::{BodyId, Solver};
use slipstick::ncp::{Problem, Solution, solve};
use slipstick::spatial::Vec3;
use slipstick::step::ContactView;
use slipstick::{Data, Input, Model, State, Status};

/// Distance below which things touch (m). At 1 ms a gap of this size is closed with 1e-6 m/s.
const TOUCH: f64 = 1e-9;

/// Acceleration below which a statue stands (m/s² or rad/s²): what rounding leaves is a thousandth of it.
const STANDS: f64 = 1e-6;

/// Residual to which the contact problem of the statue is solved.
const TOLERANCE: f64 = 1e-13;

/// A pose in which a robot can rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// Configuration (nq).
    pub q: Vec<f64>,
    /// What it stands on.
    pub supports: Vec<Support>,
    /// Center of mass, world axes (m).
    pub center_of_mass: Vec3,
    /// Largest acceleration of the statue (m/s² or rad/s²).
    pub acceleration: f64,
}

/// A contact that may bear a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The bodies.
    pub bodies: [BodyId; 2],
    /// Where, world axes (m).
    pub point: Vec3,
    /// Distance of their surfaces, negative when they overlap (m).
    pub distance: f64,
    /// Force on the second body that would do, world axes (N). Many others do as well if there are more than three
    /// points.
    pub force: Vec3,
}

/// Whether the robot can rest in a configuration, with the contacts that collision detection sees there.   (bal-4)
pub fn rest(model: &Model, q: &[f64]) -> Result<Rest, BalanceError> {
    let contacts = touching(model, q)?;
    let names = |c: &ContactView| c.bodies.map(|b| model.bodies()[b.0].name.clone());
    if let Some(c) = contacts.iter().find(|c| !c.bodies.contains(&BodyId(0))) {
        return Err(BalanceError::Touches { bodies: names(c), distance: c.distance });
    }
    if let Some(c) = contacts.iter().find(|c| c.distance < -TOUCH) {
        return Err(BalanceError::Overlap { bodies: names(c), depth: -c.distance });
    }
    let mut posture = Posture::new(model);
    posture.set(q)?;
    let statue = Statue::new(model, &mut posture, &contacts)?;
    let (impulses, acceleration) = statue.solve(&contacts)?;
    let (center_of_mass, _) = posture.center_of_mass()?;
    let largest = acceleration.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    if largest > STANDS {
        let named = statue.dofs.iter().zip(&acceleration).filter(|(_, a)| a.abs() > STANDS);
        return Err(BalanceError::OutOfBalance {
            distance: distance_from_supports(model, &contacts, center_of_mass),
            accelerations: named.map(|(j, a)| (model.dof_names()[*j].clone(), *a)).collect(),
        });
    }
    let dt = model.options().dt;
    let support = |(c, l): (&ContactView, &[f64])| Support {
        bodies: c.bodies,
        point: c.point,
        distance: c.distance,
        force: c.frame * Vec3::from_slice(l) * (1.0 / dt),
    };
    let supports = contacts.iter().zip(impulses.chunks_exact(3)).map(support).collect();
    Ok(Rest { q: q.to_vec(), supports, center_of_mass, acceleration: largest })
}

/// Contacts that bear or could bear a load.
fn touching(model: &Model, q: &[f64]) -> Result<Vec<ContactView>, BalanceError> {
    let x = State::new(model, q, &vec![0.0; model.nv()])?;
    let (mut data, mut next) = (Data::new(model), x.clone());
    let step = slipstick::step(model, &mut data, &x, &Input::default(), &mut next)?;
    Ok(step.contacts().filter(|c| c.distance < TOUCH).collect())
}

/// Distance of a point from between the contacts, seen along gravity (m); infinite without contacts.
pub(super) fn distance_from_supports(model: &Model, contacts: &[ContactView], point: Vec3) -> f64 {
    let axes = horizontal(model);
    let flat = |p: Vec3| axes.map(|a| a.dot(p));
    let points: Vec<[f64; 2]> = contacts.iter().map(|c| flat(c.point)).collect();
    nearest(&points, flat(point)).map_or(f64::INFINITY, |n| n.distance())
}

/// Two unit vectors across gravity and across each other; x and y if gravity is along z, or zero.
pub(super) fn horizontal(model: &Model) -> [Vec3; 2] {
    let down = Vec3::from(model.options().gravity).normalized().unwrap_or(Vec3::UNITS[2]);
    let least = (0..2).min_by(|i, j| down[*i].abs().total_cmp(&down[*j].abs())).unwrap_or(0);
    let x = Vec3::UNITS[least] - down * down[least];
    let x = x.normalized().unwrap_or(Vec3::UNITS[0]);
    [x, x.cross(down)]
}

/// The robot with its actuators locked.   (bal-5)
struct Statue {
    /// Dofs that still move.
    dofs: Vec<usize>,
    /// Their part of the Jacobian of the contacts along (T, T, N): three rows per contact.
    J: Vec<Vec<f64>>,
    /// M_uu⁻¹ Jᵀ: as many rows.
    MinvJ: Vec<Vec<f64>>,
    /// Acceleration without contact forces (m/s² or rad/s²).
    free: Vec<f64>,
    dt: f64,
}

impl Statue {
    fn new(model: &Model, posture: &mut Posture, contacts: &[ContactView]) -> Result<Statue, BalanceError> {
        let driven = Drives::of(model);
        let dofs: Vec<usize> = (0..model.nv()).filter(|j| !driven.dofs.contains(j)).collect();
        let mut J = Vec::new();
        for c in contacts {
            let [on, by] = [posture.point(c.bodies[1], c.point)?, posture.point(c.bodies[0], c.point)?];
            for axis in 0..3 {
                let along = |j: usize| (0..3).map(|k| c.frame.at(k, axis) * (on[k][j] - by[k][j])).sum();
                J.push(dofs.iter().map(|j| along(*j)).collect::<Vec<f64>>());
            }
        }
        let (M, b) = posture.inertia_and_load()?;
        let (n, nv) = (dofs.len(), model.nv());
        let mut L: Vec<f64> = (0..n * n).map(|k| M[dofs[k / n] * nv + dofs[k % n]]).collect();
        cholesky(&mut L, n);
        let solved = |x: &[f64]| {
            let mut x = x.to_vec();
            cholesky_solve(&L, &mut x);
            x
        };
        let MinvJ = J.iter().map(|row| solved(row)).collect();
        let free = solved(&dofs.iter().map(|j| -b[*j]).collect::<Vec<_>>());
        Ok(Statue { dofs, J, MinvJ, free, dt: model.options().dt })
    }

    /// Impulses of one time step (three per contact, T, T, N) and the accelerations that they leave.
    fn solve(&self, contacts: &[ContactView]) -> Result<(Vec<f64>, Vec<f64>), BalanceError> {
        if self.J.is_empty() {
            return Ok((Vec::new(), self.free.clone()));
        }
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let rows = self.J.len();
        // from the lower triangle: rounding must not make it unsymmetric
        let entry = |k: usize| product(&self.J[(k / rows).max(k % rows)], &self.MinvJ[(k / rows).min(k % rows)]);
        let G: Vec<f64> = (0..rows * rows).map(entry).collect();
        let g: Vec<f64> = self.J.iter().map(|row| self.dt * product(row, &self.free)).collect();
        let mu: Vec<f64> = contacts.iter().map(|c| c.friction).collect();
        let (problem, mut solution) = (Problem::bare(&G, &g, &mu)?, Solution::default());
        let report = solve(&problem, Solver::Auto, TOLERANCE, 1000, None, &mut solution)?;
        let mut acceleration = self.free.clone();
        for (lambda, row) in solution.lambda().iter().zip(&self.MinvJ) {
            acceleration.iter_mut().zip(row).for_each(|(a, r)| *a += r * lambda / self.dt);
        }
        let unsolved = report.status == Status::NotConverged && report.residual > STANDS * self.dt;
        if unsolved || !acceleration.iter().all(|a| a.is_finite()) {
            return Err(BalanceError::Undecided { residual: report.residual });
        }
        Ok((solution.lambda().to_vec(), acceleration))
    }
}

/// The lower factor of a positive definite matrix (n × n), in its place.
fn cholesky(A: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).map(|k| A[i * n + k] * A[j * n + k]).sum::<f64>();
            let rest = A[i * n + j] - sum;
            A[i * n + j] = if i == j { rest.sqrt() } else { rest / A[j * n + j] };
        }
    }
}

/// `x = (L Lᵀ)⁻¹ x`.
fn cholesky_solve(L: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| L[i * n + k] * x[k]).sum::<f64>()) / L[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| L[k * n + i] * x[k]).sum::<f64>()) / L[i * n + i];
    }
}
