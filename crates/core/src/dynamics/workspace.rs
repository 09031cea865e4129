//! The public boundary of the dynamics: memory for one model, with checks of lengths and numbers.
#![allow(non_snake_case)]

use super::aba::{self, ArticulatedBodies};
use super::aba_derivatives::AbaDerivatives;
use super::kinematics::{self, Kinematics};
use super::kinematics_derivatives::KinematicsDerivatives;
use super::mass_factor::{self, MassFactor};
use super::mass_solve::{self, Panel};
use super::rnea::{self, Wrench};
use super::rnea_adjoint::RneaAdjoint;
use super::rnea_derivatives::RneaDerivatives;
use super::tree_matrix::factor;
use super::{activation, actuation, centroidal, jacobian, passive};
use crate::error::{DynamicsError, InputError};
use crate::footprint::{FEW_DOFS, check_room};
use crate::input_check;
use crate::model::{Actuator, BodyId, FrameId, Model, StructureId, Transmission};
use crate::spatial::{Force, Motion, Pose, Vec3};

/// Memory for the dynamics of one model; nothing is allocated after its construction. Models of more than 1000 dofs are an
/// exception: memory for matrices of derivatives is taken when the first one is asked for, and refused beyond 4 GiB.
///
/// Vectors follow the model: `q` has nq numbers, `v`, `a`, `tau` have nv. Matrices are row by row.
///
/// ```
/// # use slipstick_core::{*, model::*, spatial::*, dynamics::Workspace};
/// # let mut b = ModelBuilder::new("pendulum");
/// # let bob = BodyInertia { mass: 2.0, com: vec3(0.0, 0.0, -1.0), about_com: Sym3::ZERO };
/// # let hinge = JointSpec::new("swing", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
/// # b.add_link(ModelBuilder::WORLD, "bob", Pose::IDENTITY, bob, vec![hinge]);
/// # let model = b.build()?;
/// let mut work = Workspace::new(&model);
/// let (q, v, a) = ([std::f64::consts::FRAC_PI_2], [0.0], [0.0]);
/// let mut tau = [0.0];
/// work.rnea(&model, &q, &v, &a, &[], &mut tau)?;
/// assert!((tau[0] - 2.0 * 9.81).abs() < 1e-12); // the torque that holds the bob out level
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Workspace {
    pub(super) structure: StructureId,
    pub(super) kin: Kinematics,
    pub(super) mass: MassFactor,
    pub(super) art: ArticulatedBodies,
    pub(super) dkin: KinematicsDerivatives,
    pub(super) dense: Option<Box<Dense>>,
    pub(super) adj: RneaAdjoint,
    pub(super) panel: Panel,
    /// Whether `mass` holds factors rather than M.
    pub(super) factored: bool,
    pub(super) f: Vec<Force>,
    /// nv numbers.
    pub(super) scratch: Vec<f64>,
    pub(super) zero: Vec<f64>,
}

/// Matrices of derivatives: their size grows with the square of the dofs.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub drnea: RneaDerivatives,
    pub daba: AbaDerivatives,
}

impl Dense {
    fn new(model: &Model) -> Dense {
        Dense { drnea: RneaDerivatives::new(model), daba: AbaDerivatives::new(model) }
    }
}

impl Workspace {
    /// Memory for a model.
    pub fn new(model: &Model) -> Workspace {
        Workspace {
            structure: model.structure_id(),
            kin: Kinematics::new(model),
            mass: MassFactor::new(model),
            art: ArticulatedBodies::new(model),
            dkin: KinematicsDerivatives::new(model),
            dense: (model.nv() <= FEW_DOFS).then(|| Box::new(Dense::new(model))),
            adj: RneaAdjoint::new(model),
            panel: Panel::new(model),
            factored: false,
            f: vec![Force::ZERO; model.n_bodies()],
            scratch: vec![0.0; model.nv()],
            zero: vec![0.0; model.nv()],
        }
    }

    /// Memory for dense matrices.
    pub(super) fn dense<'a>(dense: &'a mut Option<Box<Dense>>, model: &Model) -> Result<&'a mut Dense, InputError> {
        if dense.is_none() {
            check_room("derivatives of dynamics", 5 * model.nv() * model.nv())?;
        }
        Ok(dense.get_or_insert_with(|| Box::new(Dense::new(model))))
    }

    /// Takes the poses of the mocap bodies for all that follows (7 numbers each); none: those of the model.
    pub fn set_mocap(&mut self, model: &Model, poses: &[f64]) -> Result<(), InputError> {
        self.structure.check(model, "workspace")?;
        model.check_mocap(poses)?;
        self.kin.set_mocap(poses);
        Ok(())
    }

    /// The model is the one this memory was made for, and a state fits it.
    pub(super) fn check(&self, model: &Model, q: &[f64], vectors: &[(&'static str, &[f64])]) -> Result<(), InputError> {
        self.structure.check(model, "workspace")?;
        model.check_q(q)?;
        vectors.iter().try_for_each(|(what, x)| input_check::vector(what, x, model.nv()))
    }

    fn check_factored(&self, model: &Model) -> Result<(), InputError> {
        self.structure.check(model, "workspace")?;
        if self.factored { Ok(()) } else { Err(InputError::NotFactored) }
    }

    /// Inverse dynamics: `tau = M a + b − wrenches`.
    pub fn rnea(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        tau: &mut [f64],
    ) -> Result<(), InputError> {
        self.check(model, q, &[("v", v), ("a", a)])?;
        check_wrenches(model, wrenches)?;
        input_check::length("tau", tau.len(), model.nv())?;
        rnea::rnea(model, q, v, a, wrenches, &mut self.kin, &mut self.f, tau);
        Ok(())
    }

    /// Forces that hold the accelerations at zero: gravity, Coriolis and centrifugal terms.
    pub fn bias(&mut self, model: &Model, q: &[f64], v: &[f64], tau: &mut [f64]) -> Result<(), InputError> {
        self.check(model, q, &[("v", v)])?;
        input_check::length("tau", tau.len(), model.nv())?;
        rnea::rnea(model, q, v, &self.zero, &[], &mut self.kin, &mut self.f, tau);
        Ok(())
    }

    /// Forward dynamics: `a = M⁻¹ (tau − b + wrenches)`, in a time linear in the number of bodies.
    pub fn aba(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        wrenches: &[Wrench],
        a: &mut [f64],
    ) -> Result<(), DynamicsError> {
        self.check(model, q, &[("v", v), ("tau", tau)])?;
        check_wrenches(model, wrenches)?;
        input_check::length("a", a.len(), model.nv())?;
        aba::aba(model, q, v, tau, wrenches, &mut self.kin, &mut self.art, a);
        check_positive_definite(model, self.art.broken_pivot())
    }

    /// Joint-space inertia, armature included: writes nv × nv numbers.
    pub fn crba(&mut self, model: &Model, q: &[f64], M: &mut [f64]) -> Result<(), InputError> {
        self.check(model, q, &[])?;
        input_check::length("M", M.len(), model.nv() * model.nv())?;
        kinematics::positions_and_inertias(model, q, &mut self.kin);
        self.factored = false;
        mass_factor::crba(model, &self.kin, &mut self.mass);
        self.mass.write_full(model.tree(), M);
        Ok(())
    }

    /// Factors M = Lᵀ D L for [`Workspace::solve`]. `crba` and the derivatives overwrite it.
    pub fn factor(&mut self, model: &Model, q: &[f64]) -> Result<(), DynamicsError> {
        self.check(model, q, &[])?;
        kinematics::positions_and_inertias(model, q, &mut self.kin);
        self.factored = false;
        mass_factor::crba(model, &self.kin, &mut self.mass);
        factor(model.tree(), 0..model.nv(), &mut self.mass);
        check_positive_definite(model, self.mass.broken_pivot())?;
        self.factored = true;
        Ok(())
    }

    /// `x = M⁻¹ x` with the last factored M.
    pub fn solve(&mut self, model: &Model, x: &mut [f64]) -> Result<(), InputError> {
        self.check_factored(model)?;
        input_check::vector("x", x, model.nv())?;
        mass_solve::solve_vector(model.tree(), 0..model.nv(), &self.mass, x);
        Ok(())
    }

    /// `x = M⁻¹ b` with the last factored M: matrices with nv rows of `stride` numbers, a multiple of four.
    pub fn solve_columns(&mut self, model: &Model, stride: usize, b: &[f64], x: &mut [f64]) -> Result<(), InputError> {
        self.check_factored(model)?;
        if !stride.is_multiple_of(4) {
            let got = stride as f64;
            return Err(InputError::Value { what: "stride".into(), expected: "a multiple of 4", got });
        }
        input_check::vector("b", b, model.nv() * stride)?;
        input_check::length("x", x.len(), model.nv() * stride)?;
        mass_solve::solve_columns(model, &self.mass, 1.0, stride, b, x, &mut self.panel);
        Ok(())
    }

    /// M⁻¹ (nv × nv).
    pub fn mass_inverse(&mut self, model: &Model, q: &[f64], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.factor(model, q)?;
        input_check::length("out", out.len(), model.nv() * model.nv())?;
        let daba = &mut Workspace::dense(&mut self.dense, model)?.daba;
        daba.invert(model, &self.mass);
        daba.da_dtau().copy_to(out);
        Ok(())
    }

    /// Poses of all bodies; ask for them with [`Workspace::body_pose`] and [`Workspace::frame_pose`].
    pub fn kinematics(&mut self, model: &Model, q: &[f64]) -> Result<(), InputError> {
        self.check(model, q, &[])?;
        kinematics::positions(model, q, &mut self.kin);
        Ok(())
    }

    /// Pose of a body in the world, as [`Workspace::kinematics`] or the last dynamics computed it.
    pub fn body_pose(&self, body: BodyId) -> Result<Pose, InputError> {
        let count = self.kin.X_wb.len();
        let pose = self.kin.X_wb.get(body.0).copied();
        pose.ok_or(InputError::OutOfRange { what: "body", count, got: body.0 })
    }

    /// Pose of a frame in the world, likewise.
    pub fn frame_pose(&self, model: &Model, frame: FrameId) -> Result<Pose, InputError> {
        self.structure.check(model, "workspace")?;
        check_frame(model, frame)?;
        Ok(jacobian::frame_pose(model, &self.kin, frame))
    }

    /// Jacobian of a frame: 6 × nv, velocity of its origin and angular velocity in world axes per unit of v.
    pub fn jacobian(&mut self, model: &Model, q: &[f64], frame: FrameId, J: &mut [f64]) -> Result<(), InputError> {
        self.check(model, q, &[])?;
        check_frame(model, frame)?;
        input_check::length("J", J.len(), 6 * model.nv())?;
        kinematics::positions(model, q, &mut self.kin);
        jacobian::frame_jacobian(model, &self.kin, frame, J);
        Ok(())
    }

    /// Velocity of a frame's origin and its angular velocity, world axes.
    pub fn velocity(&mut self, model: &Model, q: &[f64], v: &[f64], frame: FrameId) -> Result<Motion, InputError> {
        self.check(model, q, &[("v", v)])?;
        check_frame(model, frame)?;
        kinematics::velocities(model, q, v, &mut self.kin);
        Ok(jacobian::frame_velocity(model, &self.kin, frame))
    }

    /// Center of mass of all moving bodies, world axes (m).
    pub fn center_of_mass(&mut self, model: &Model, q: &[f64]) -> Result<Vec3, InputError> {
        self.kinematics(model, q)?;
        Ok(centroidal::center_of_mass(model, &self.kin))
    }

    /// Kinetic energy (drives included) and potential energy of gravity and joint springs (J).
    pub fn energy(&mut self, model: &Model, q: &[f64], v: &[f64]) -> Result<(f64, f64), InputError> {
        self.check(model, q, &[("v", v)])?;
        kinematics::velocities(model, q, v, &mut self.kin);
        Ok(centroidal::energy(model, &self.kin, q, v))
    }

    /// Linear momentum, and angular momentum about the center of mass, world axes.
    pub fn momentum(&mut self, model: &Model, q: &[f64], v: &[f64]) -> Result<Force, InputError> {
        self.check(model, q, &[("v", v)])?;
        kinematics::velocities(model, q, v, &mut self.kin);
        Ok(centroidal::momentum(model, &self.kin))
    }

    /// Forces of springs, dampers and gravity compensation (nv).
    pub fn passive(&mut self, model: &Model, q: &[f64], v: &[f64], tau: &mut [f64]) -> Result<(), InputError> {
        self.check(model, q, &[("v", v)])?;
        input_check::length("tau", tau.len(), model.nv())?;
        if passive::needs_poses(model) {
            kinematics::positions(model, q, &mut self.kin);
        }
        passive::passive(model, &self.kin, q, v, tau);
        Ok(())
    }

    /// What drives each actuator (nu): its control or, where it has one, its activation, the next one if that acts early.
    pub fn drives(&self, model: &Model, act: &[f64], ctrl: &[f64], out: &mut [f64]) -> Result<(), InputError> {
        self.structure.check(model, "workspace")?;
        input_check::vector("act", act, model.na())?;
        input_check::vector("ctrl", ctrl, model.nu())?;
        input_check::length("out", out.len(), model.nu())?;
        activation::drives(model, act, ctrl, out);
        Ok(())
    }

    /// Forces of the actuators (nv). With activations `ctrl` are the [`Workspace::drives`].
    pub fn actuate(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        ctrl: &[f64],
        tau: &mut [f64],
    ) -> Result<(), InputError> {
        self.check(model, q, &[("v", v)])?;
        input_check::vector("ctrl", ctrl, model.nu())?;
        input_check::length("tau", tau.len(), model.nv())?;
        self.place_transmissions(model, q);
        actuation::actuate(model, &self.kin, q, v, ctrl, tau);
        Ok(())
    }

    /// Length of a transmission, and its moment: generalized force per force of the actuator (nv). The actuator need not
    /// be one of the model's; what it acts on must be.
    pub fn transmission(
        &mut self,
        model: &Model,
        q: &[f64],
        actuator: &Actuator,
        moment: &mut [f64],
    ) -> Result<f64, InputError> {
        self.check(model, q, &[])?;
        input_check::length("moment", moment.len(), model.nv())?;
        check_transmission(model, &actuator.transmission)?;
        kinematics::positions(model, q, &mut self.kin);
        moment.fill(0.0);
        actuation::for_each_arm(model, &self.kin, actuator, q, |j, arm, _| moment[j] += arm);
        Ok(actuation::length(model, &self.kin, actuator, q))
    }

    /// Poses, if transmissions between bodies or compensated weights need them.
    pub(super) fn place_transmissions(&mut self, model: &Model, q: &[f64]) {
        let between_bodies = model.actuators().iter().any(|a| a.transmission.frames().next().is_some());
        if between_bodies || !model.driven_compensation().is_empty() {
            kinematics::positions(model, q, &mut self.kin);
        }
    }
}

/// What a transmission refers to exists.
fn check_transmission(model: &Model, t: &Transmission) -> Result<(), InputError> {
    let known = |what, count: usize, got: usize| {
        if got < count { Ok(()) } else { Err(InputError::OutOfRange { what, count, got }) }
    };
    match *t {
        Transmission::Joint(id) | Transmission::JointInParent(id) => known("joint", model.joints().len(), id.0)?,
        Transmission::Tendon(number) => known("tendon", model.tendons().len(), number)?,
        Transmission::Site { .. } | Transmission::SliderCrank { .. } => {}
    }
    t.frames().try_for_each(|f| check_frame(model, f))
}

/// A factorization without a pivot that is zero or negative.
pub(crate) fn check_positive_definite(model: &Model, broken: Option<usize>) -> Result<(), DynamicsError> {
    match broken {
        None => Ok(()),
        Some(dof) => {
            let body = model.bodies()[model.tree().dof_body[dof]].name.clone();
            Err(DynamicsError::SingularMass { body, dof })
        }
    }
}

pub(super) fn check_frame(model: &Model, frame: FrameId) -> Result<(), InputError> {
    let count = model.frames().len();
    if frame.0 < count { Ok(()) } else { Err(InputError::OutOfRange { what: "frame", count, got: frame.0 }) }
}

/// Wrenches act on bodies that exist and are finite.
pub(crate) fn check_wrenches(model: &Model, wrenches: &[Wrench]) -> Result<(), InputError> {
    for (index, w) in wrenches.iter().enumerate() {
        if w.body.0 >= model.n_bodies() {
            return Err(InputError::OutOfRange { what: "body", count: model.n_bodies(), got: w.body.0 });
        }
        let finite = w.force.is_finite() && w.torque.is_finite() && w.point.is_none_or(Vec3::is_finite);
        if !finite {
            return Err(InputError::NotFinite { what: "wrenches", index });
        }
    }
    Ok(())
}
