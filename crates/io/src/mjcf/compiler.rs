//! `<compiler>` and `<option>`: how the rest of the file is to be understood.

use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::orientation::Angles;
use crate::xml::Element;
use slipstick_core::Options;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// When the mass of a body comes from its geoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    Never,
    Always,
    /// If the body has no `<inertial>`.
    Auto,
}

/// What the compilers of a file and of the models attached to it say.
#[derive(Debug)]
pub(super) struct Compilers {
    pub main: Compiler,
    others: Vec<(Range<usize>, Compiler)>, // numbers of the files that it holds for
}

impl Compilers {
    pub fn new(main: Compiler) -> Compilers {
        Compilers { main, others: Vec::new() }
    }

    /// Settings for the files with these numbers.
    pub fn add(&mut self, files: Range<usize>, compiler: Compiler) {
        self.others.push((files, compiler));
    }

    /// The settings that an element was written for.
    pub fn of(&self, element: Element) -> &Compiler {
        let file = element.file_number();
        self.others.iter().find(|(files, _)| files.contains(&file)).map_or(&self.main, |(_, c)| c)
    }
}

/// What `<compiler>` says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compiler {
    pub angles: Angles,
    /// A range without the word "limited" limits.
    pub autolimits: bool,
    /// Folder of mesh files.
    pub mesh_dir: PathBuf,
    /// Folder of texture files.
    pub texture_dir: PathBuf,
    /// Only the last part of a mesh file's path counts.
    pub strip_path: bool,
    pub inertia_from_geom: InertiaFromGeom,
    /// Groups of geoms that have mass.
    pub inertia_groups: [f64; 2],
    /// Smallest mass of a body (kg).
    pub bound_mass: f64,
    /// Smallest principal moment of a body [kg·m²].
    pub bound_inertia: f64,
    /// Replace moments that no body can have by their mean.
    pub balance_inertia: bool,
    /// Scale all masses to this sum (kg).
    pub total_mass: Option<f64>,
    /// Geoms that touch nothing are not kept.
    pub discard_visual: bool,
    /// Shapes are fitted to the box around a mesh instead of to its inertia.
    pub fit_aabb: bool,
    /// Frames of free bodies without children move to their inertia.
    pub align_free: bool,
}

impl Compiler {
    /// Reads all `compiler` sections; later ones override. `folder` is that of the main file.
    pub fn read(root: Element, folder: &Path) -> Result<Compiler, LoadError> {
        let mut c = Compiler {
            angles: Angles::default(),
            autolimits: true,
            mesh_dir: PathBuf::new(),
            texture_dir: PathBuf::new(),
            strip_path: false,
            inertia_from_geom: InertiaFromGeom::Auto,
            inertia_groups: [0.0, 5.0],
            bound_mass: 0.0,
            bound_inertia: 0.0,
            balance_inertia: false,
            total_mass: None,
            discard_visual: false,
            fit_aabb: false,
            align_free: false,
        };
        for section in root.all("compiler") {
            c.override_by(section)?;
        }
        c.mesh_dir = folder.join(&c.mesh_dir);
        c.texture_dir = folder.join(&c.texture_dir);
        Ok(c)
    }

    fn override_by(&mut self, e: Element) -> Result<(), LoadError> {
        let degree = Angles::default().unit;
        self.angles.unit = e.one_of("angle", &[("degree", degree), ("radian", 1.0)], self.angles.unit)?;
        if let Some(sequence) = e.attribute("eulerseq") {
            self.angles.euler_sequence = euler_sequence(sequence)?;
        }
        if let Some(coordinate) = e.attribute("coordinate").filter(|c| c.value != "local") {
            return Err(coordinate.wrong("'local'").with_hint("global coordinates were removed from MJCF in 2023"));
        }
        self.autolimits = e.flag("autolimits", self.autolimits)?;
        self.strip_path = e.flag("strippath", self.strip_path)?;
        for name in ["assetdir", "meshdir"] {
            if let Some(dir) = e.attribute(name) {
                self.mesh_dir = PathBuf::from(dir.value);
            }
        }
        for name in ["assetdir", "texturedir"] {
            if let Some(dir) = e.attribute(name) {
                self.texture_dir = PathBuf::from(dir.value);
            }
        }
        let rules =
            [("false", InertiaFromGeom::Never), ("true", InertiaFromGeom::Always), ("auto", InertiaFromGeom::Auto)];
        self.inertia_from_geom = e.one_of("inertiafromgeom", &rules, self.inertia_from_geom)?;
        self.inertia_groups = e.array("inertiagrouprange")?.unwrap_or(self.inertia_groups);
        self.bound_mass = e.float_or("boundmass", self.bound_mass)?;
        self.bound_inertia = e.float_or("boundinertia", self.bound_inertia)?;
        self.balance_inertia = e.flag("balanceinertia", self.balance_inertia)?;
        self.discard_visual = e.flag("discardvisual", self.discard_visual)?;
        self.fit_aabb = e.flag("fitaabb", self.fit_aabb)?;
        self.align_free = e.flag("alignfree", self.align_free)?;
        if let Some(total) = e.float("settotalmass")? {
            self.total_mass = Some(total).filter(|m| *m > 0.0);
        }
        Ok(())
    }
}

fn euler_sequence(attribute: Attribute) -> Result<[u8; 3], LoadError> {
    let letters = <[u8; 3]>::try_from(attribute.value.trim().as_bytes()).ok();
    let letters = letters.filter(|l| l.iter().all(|b| b"xyzXYZ".contains(b)));
    letters.ok_or_else(|| attribute.wrong("three of the letters x, y, z, X, Y, Z"))
}

/// Time step, gravity and magnetic field.
pub(super) fn options(root: Element, out: &mut Options) -> Result<(), LoadError> {
    out.dt = 0.002; // MuJoCo's, where the file says nothing
    let mut weightless = false;
    for e in root.all("option") {
        if let Some(step) = e.attribute("timestep") {
            let dt = step.float()?;
            out.dt = if dt > 0.0 { dt } else { return Err(step.wrong("a positive time step")) };
        }
        out.gravity = e.array("gravity")?.unwrap_or(out.gravity);
        out.magnetic = e.array("magnetic")?.unwrap_or(out.magnetic);
        for flag in e.all("flag") {
            weightless = flag.text("gravity").map_or(weightless, |switch| switch == "disable");
        }
    }
    if weightless {
        out.gravity = [0.0; 3]; // whatever vector any <option> gives
    }
    Ok(())
}
