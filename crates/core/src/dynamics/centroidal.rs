//! Center of mass, energies and momenta of all moving bodies.   (cen-1 … cen-3)
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use crate::model::Model;
use crate::spatial::{Force, Vec3};

/// Center of mass of all moving bodies, world axes (m). Needs poses in `kin`.   (cen-1)
pub(crate) fn center_of_mass(model: &Model, kin: &Kinematics) -> Vec3 {
    let inertia = &model.numbers().inertia;
    let bodies = (1..model.n_bodies()).filter(|i| model.tree().nodes[*i].moves());
    let sum = bodies.fold(Vec3::ZERO, |s, i| s + kin.X_wb[i].point(inertia[i].com) * inertia[i].mass);
    let mass = model.total_mass();
    if mass > 0.0 { sum * (1.0 / mass) } else { Vec3::ZERO }
}

/// Kinetic energy (drives included) and potential energy of gravity and joint springs (J).   (cen-2)
pub(crate) fn energy(model: &Model, kin: &Kinematics, q: &[f64], v: &[f64]) -> (f64, f64) {
    let (inertia, g) = (&model.numbers().inertia, Vec3::from(model.options().gravity));
    let (mut kinetic, mut potential) = (0.0, super::passive::spring_energy(model, q));
    for i in 1..model.n_bodies() {
        let (R, point) = (&kin.X_wb[i].rotation, kin.X_wb[i].point(inertia[i].com));
        let V = kin.V[i];
        let speed = V.at(point - kin.origin[model.tree().nodes[i].tree]);
        let w = R.tmul(V.ang);
        kinetic += 0.5 * (inertia[i].mass * speed.dot(speed) + w.dot(inertia[i].about_com * w));
        potential -= inertia[i].mass * g.dot(point);
    }
    kinetic += model.armature().iter().zip(v).map(|(a, v)| 0.5 * a * v * v).sum::<f64>();
    (kinetic, potential)
}

/// Linear momentum and angular momentum about the center of mass, world axes.   (cen-3)
pub(crate) fn momentum(model: &Model, kin: &Kinematics) -> Force {
    let inertia = &model.numbers().inertia;
    let com = center_of_mass(model, kin);
    let mut sum = Force::ZERO;
    for i in 1..model.n_bodies() {
        let (R, point) = (&kin.X_wb[i].rotation, kin.X_wb[i].point(inertia[i].com));
        let V = kin.V[i];
        let linear = V.at(point - kin.origin[model.tree().nodes[i].tree]) * inertia[i].mass;
        let spin = *R * (inertia[i].about_com * R.tmul(V.ang));
        sum += Force::at_point(linear, spin, point - com);
    }
    sum
}
