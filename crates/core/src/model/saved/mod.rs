//! A model as bytes, for pickles and for other processes: every number bit for bit, unlike a text that is compiled anew.
//!
//! After the head come sections, each with a number and a length. One that a reader does not know is refused: it may
//! change the motion. What need not be there is a section of its own, left out where it is empty.

mod fields;
mod visuals;

use super::compile::hulls;
use super::{DerivedParameters, Model, Options, ParameterLayout, Parameters, Structure, Visuals};
use crate::bytes::{Bytes, Kind, Reader, open, seal};
use crate::error::InputError;
use std::sync::{Arc, OnceLock};

/// To be raised whenever a field is added, removed or moved.
const KIND: Kind = Kind { what: "saved model", magic: *b"slipmodl", version: 1 };

/// Numbers of the sections.
const STRUCTURE: u32 = 1;
const PARAMETERS: u32 = 2;
const OPTIONS: u32 = 3;
const VISUALS: u32 = 4;

impl Model {
    /// Bytes of which [`Model::from_bytes`] makes the same model: same names, same numbers, and so the same motion, bit for
    /// bit. They are of this version of the library; for other programs and for years to come, write a MJCF file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let parameters = self.parameters();
        section(&mut body, STRUCTURE, |out| self.structure.put(out));
        section(&mut body, PARAMETERS, |out| {
            parameters.layout().owners().put(out);
            parameters.values().to_vec().put(out);
        });
        section(&mut body, OPTIONS, |out| self.options.put(out));
        if *self.visuals() != Visuals::default() {
            section(&mut body, VISUALS, |out| self.visuals().put(out));
        }
        seal(&KIND, &body)
    }

    /// The model that was saved. Bytes of another version, damaged ones, and those of something else are errors. The
    /// checksum finds damage; bytes that somebody made to harm are not what this is for.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, InputError> {
        let body = open(&KIND, bytes)?;
        let damaged = InputError::Damaged { what: KIND.what, found: "bytes that are not those of a model" };
        let (model, visuals) = read(body).ok_or(damaged)?;
        visuals.map_or(Ok(model.clone()), |visuals| model.with_visuals(visuals))
    }
}

const OPTIONS_KIND: Kind = Kind { what: "saved options", magic: *b"slipoptn", version: KIND.version };

impl Options {
    /// Bytes of which [`Options::from_bytes`] makes the same options.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.put(&mut body);
        seal(&OPTIONS_KIND, &body)
    }

    /// The options that were saved. Bytes of another version, damaged ones, and those of something else are errors.
    pub fn from_bytes(bytes: &[u8]) -> Result<Options, InputError> {
        let mut input = Reader(open(&OPTIONS_KIND, bytes)?);
        let options = Options::take(&mut input).filter(|_| input.0.is_empty());
        let options = options.ok_or(InputError::Damaged { what: OPTIONS_KIND.what, found: "other bytes" })?;
        options.check().map(|()| options)
    }
}

fn section(out: &mut Vec<u8>, number: u32, put: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    put(&mut body);
    number.put(out);
    body.len().put(out);
    out.extend(body);
}

fn read(body: &[u8]) -> Option<(Model, Option<Visuals>)> {
    let mut input = Reader(body);
    let (mut structure, mut parameters, mut options, mut visuals) = (None, None, None, None);
    while !input.0.is_empty() {
        let (number, length) = (u32::take(&mut input)?, usize::take(&mut input)?);
        let mut part = Reader(input.next(length)?);
        match number {
            STRUCTURE => structure = Some(Structure::take(&mut part)?),
            PARAMETERS => parameters = Some(take_parameters(&mut part)?),
            OPTIONS => options = Some(Bytes::take(&mut part)?),
            VISUALS => visuals = Some(Visuals::take(&mut part)?),
            _ => return None,
        }
        part.0.is_empty().then_some(())?;
    }
    let (structure, options) = (structure?, options?);
    let numbers = DerivedParameters::new(&structure, parameters?);
    Some((Model::assemble(structure, numbers, options), visuals))
}

fn take_parameters(input: &mut Reader) -> Option<Parameters> {
    let (owners, values): (Vec<Vec<String>>, Vec<f64>) = Bytes::take(input)?;
    let mut owners = owners.into_iter();
    let layout = ParameterLayout::new(|_| owners.next().unwrap_or_default());
    (owners.next().is_none() && values.len() == layout.len()).then(|| Parameters::new(values, Arc::new(layout)))
}

/// Hulls follow from the meshes, pairs from the rules.
impl Bytes for Structure {
    fn put(&self, out: &mut Vec<u8>) {
        let Structure { name, tree, bodies, joints, frames, geoms, meshes, fields, hulls: _, pairs: _, key: _, .. } =
            self;
        name.put(out);
        tree.put(out);
        bodies.put(out);
        joints.put(out);
        frames.put(out);
        geoms.put(out);
        meshes.put(out);
        fields.put(out);
        let Structure { actuators, activated, keyframes, equalities, tendons, sensors, contacts, .. } = self;
        actuators.put(out);
        activated.put(out);
        keyframes.put(out);
        equalities.put(out);
        tendons.put(out);
        sensors.put(out);
        contacts.put(out);
        let Structure { compensation, driven_compensation, warnings, notes, q0, dof_names, .. } = self;
        compensation.put(out);
        driven_compensation.put(out);
        warnings.put(out);
        notes.put(out);
        q0.put(out);
        dof_names.put(out);
    }

    fn take(input: &mut Reader) -> Option<Structure> {
        let (name, tree, bodies) = (Bytes::take(input)?, Bytes::take(input)?, Bytes::take(input)?);
        let (joints, frames) = (Bytes::take(input)?, Bytes::take(input)?);
        let (geoms, meshes): (Vec<_>, Vec<_>) = (Bytes::take(input)?, Bytes::take(input)?);
        Some(Structure {
            name,
            tree,
            bodies,
            joints,
            frames,
            hulls: hulls(&meshes, &geoms),
            geoms,
            meshes,
            fields: Bytes::take(input)?,
            actuators: Bytes::take(input)?,
            activated: Bytes::take(input)?,
            keyframes: Bytes::take(input)?,
            equalities: Bytes::take(input)?,
            tendons: Bytes::take(input)?,
            sensors: Bytes::take(input)?,
            contacts: Bytes::take(input)?,
            pairs: OnceLock::new(),
            compensation: Bytes::take(input)?,
            driven_compensation: Bytes::take(input)?,
            warnings: Bytes::take(input)?,
            notes: Bytes::take(input)?,
            q0: Bytes::take(input)?,
            dof_names: Bytes::take(input)?,
            visuals: Arc::default(),
            key: OnceLock::new(),
        })
    }
}
