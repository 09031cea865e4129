//! Where the numbers of each sensor are, and which sensors can be read.

use super::SensorError;
use super::needs::Needs;
use super::support;
use super::touch::{self, SiteVolume};
use crate::error::InputError;
use crate::model::{Model, Sensor, StructureId};
use core::ops::Range;

/// The arrangement of the readings, which is constant for a model.
#[derive(Debug, Clone)]
pub(super) struct SensorLayout {
    structure: StructureId,
    /// Range of the numbers of each sensor among all, in the order of `Model::sensors`.
    pub ranges: Vec<Range<usize>>,
    /// Why a sensor cannot be read.
    unsupported: Vec<Option<&'static str>>,
    names: Vec<String>,
    pub needs: Needs,
    pub site_volumes: Vec<SiteVolume>,
    /// The interval to which each number is clamped; empty if none is.
    bounds: Vec<[f64; 2]>,
}

impl SensorLayout {
    /// The layout of a model.
    pub fn new(model: &Model) -> SensorLayout {
        let mut end = 0;
        let ranges = model.sensors().iter().map(|s| {
            end += s.quantity.size(s.object);
            end - s.quantity.size(s.object)..end
        });
        let ranges = ranges.collect();
        let name = |(k, s): (usize, &Sensor)| if s.name.is_empty() { k.to_string() } else { s.name.clone() };
        let bounds = |s: &Sensor| std::iter::repeat_n(s.bounds(), s.size());
        let is_clamped = model.sensors().iter().any(|s| s.cutoff > 0.0);
        SensorLayout {
            bounds: model.sensors().iter().filter(|_| is_clamped).flat_map(bounds).collect(),
            structure: model.structure_id(),
            ranges,
            unsupported: model.sensors().iter().map(|s| support::missing(model, s)).collect(),
            names: model.sensors().iter().enumerate().map(name).collect(),
            needs: Needs::of(model),
            site_volumes: touch::site_volumes(model),
        }
    }

    /// Whether this is the layout of a model.
    pub fn check(&self, model: &Model) -> Result<(), InputError> {
        self.structure.check(model, "memory for sensors")
    }

    /// How many numbers there are.
    pub fn size(&self) -> usize {
        self.ranges.last().map_or(0, |r| r.end)
    }

    /// Whether any number is clamped.
    pub fn is_clamped(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// Clamps the numbers of sensors with a cutoff.
    pub fn clamp(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.bounds).for_each(|(x, [lo, hi])| *x = x.max(*lo).min(*hi));
    }

    /// One for each number within its bounds, zero for those beyond.
    pub fn pass(&self, values: &mut [f64]) {
        let passes = |x: f64, [lo, hi]: [f64; 2]| if x < lo || x > hi { 0.0 } else { 1.0 };
        values.iter_mut().zip(&self.bounds).for_each(|(x, bounds)| *x = passes(*x, *bounds));
    }

    pub fn is_readable(&self, index: usize) -> bool {
        self.unsupported[index].is_none()
    }

    /// Range of the numbers of a sensor that can be read.
    pub fn range(&self, index: usize) -> Result<Range<usize>, SensorError> {
        let count = self.ranges.len();
        let range = self.ranges.get(index).ok_or(InputError::OutOfRange { what: "sensor", count, got: index })?;
        match self.unsupported[index] {
            Some(why) => Err(SensorError::Unsupported { sensor: self.names[index].clone(), why }),
            None => Ok(range.clone()),
        }
    }

    /// The range of a sensor by its name.
    pub fn named(&self, name: &str) -> Result<Range<usize>, SensorError> {
        let index = self.names.iter().position(|n| n == name);
        let unknown = || InputError::unknown_name("sensor", name, self.names.iter().map(String::as_str));
        self.range(index.ok_or_else(unknown)?)
    }

    /// Range of all numbers; an error if one of them cannot be read.
    pub fn all(&self) -> Result<Range<usize>, SensorError> {
        (0..self.ranges.len()).try_for_each(|k| self.range(k).map(|_| ()))?;
        Ok(0..self.size())
    }
}
