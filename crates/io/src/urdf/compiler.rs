//! `<mujoco><compiler …/></mujoco>`: what a URDF says to MuJoCo. Visuals are for pictures only, fixed links always
//! merged, and angles are radians, so that `discardvisual`, `fusestatic` and `angle` change nothing.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::spatial::{BodyInertia, Sym3, Vec3};
use std::path::PathBuf;

/// What the extension asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compiler {
    /// Folder of mesh files, relative to the URDF; only where the file has the extension.
    pub mesh_dir: Option<PathBuf>,
    /// Only the last part of a mesh file's path counts.
    pub strip_path: bool,
    /// Smallest mass of a link (kg).
    bound_mass: f64,
    /// Smallest principal moment of a link [kg·m²].
    bound_inertia: f64,
    /// Replace moments that no body can have by their mean.
    balance_inertia: bool,
}

impl Compiler {
    pub fn read(robot: Element) -> Result<Compiler, LoadError> {
        let mut c = Compiler {
            mesh_dir: None,
            strip_path: true, // MuJoCo's choice for URDF
            bound_mass: 0.0,
            bound_inertia: 0.0,
            balance_inertia: false,
        };
        for e in robot.all("mujoco").flat_map(|m| m.all("compiler")) {
            for name in ["assetdir", "meshdir"] {
                if let Some(dir) = e.attribute(name) {
                    c.mesh_dir = Some(PathBuf::from(dir.value));
                }
            }
            if e.attribute("strippath").is_some() && c.mesh_dir.is_none() {
                c.mesh_dir = Some(PathBuf::new());
            }
            c.strip_path = e.flag("strippath", c.strip_path)?;
            c.bound_mass = e.float_or("boundmass", c.bound_mass)?;
            c.bound_inertia = e.float_or("boundinertia", c.bound_inertia)?;
            c.balance_inertia = e.flag("balanceinertia", c.balance_inertia)?;
        }
        Ok(c)
    }

    /// Applies the lower bounds and the balancing, as MuJoCo does: link by link, before fixed links are merged.
    pub fn corrected(&self, mut i: BodyInertia) -> BodyInertia {
        i.mass = i.mass.max(self.bound_mass);
        if self.bound_inertia > 0.0 && i.smallest_moment() < self.bound_inertia {
            let (moments, axes) = slipstick_core::spatial::principal_axes(i.about_com);
            i.about_com = Sym3::diagonal(Vec3::from(moments.map(|m| m.max(self.bound_inertia)))).rotated(&axes);
        }
        let [a, b, c] = slipstick_core::spatial::principal_moments(i.about_com);
        if self.balance_inertia && a + b < c {
            let mean = (a + b + c) / 3.0;
            i.about_com = Sym3::diagonal(Vec3::new(mean, mean, mean));
        }
        i
    }
}
