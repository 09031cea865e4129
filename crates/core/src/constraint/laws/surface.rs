//! Contact of two surfaces: friction, restitution, compliance, and the speed at which gaps close. (contact-1 … contact-4)

use crate::model::{Correction, Geom, Model, Options, Pair, ParameterGroup};

/// Parameters of a pair of surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairLaw {
    pub friction: f64,
    pub restitution: f64,
    pub compliance: f64,
}

/// Friction: the larger of the two unless one geom has priority. Restitution: the larger. Compliances add up.   (contact-1)
pub(crate) fn pair_law(model: &Model, pair: &Pair) -> PairLaw {
    let of = |group| {
        let values = model.parameters().group(group);
        [values[pair.geoms[0].0], values[pair.geoms[1].0]]
    };
    let [a, b] = pair.geoms.map(|g| &model.geoms()[g.0]);
    let (friction, condim) = match pair.surface {
        Some(s) => (s.friction, s.condim),
        None => (combined(a, b, of(ParameterGroup::Friction)), condim(a, b)),
    };
    let (restitution, compliance) = (of(ParameterGroup::Restitution), of(ParameterGroup::Compliance));
    PairLaw {
        friction: if condim == 1 { 0.0 } else { friction },
        restitution: restitution[0].max(restitution[1]),
        compliance: compliance[0] + compliance[1],
    }
}

fn combined(a: &Geom, b: &Geom, friction: [f64; 2]) -> f64 {
    match a.surface.priority.cmp(&b.surface.priority) {
        core::cmp::Ordering::Greater => friction[0],
        core::cmp::Ordering::Less => friction[1],
        core::cmp::Ordering::Equal => friction[0].max(friction[1]),
    }
}

/// How the friction of a pair changes with that of its two geoms; half each where both decide.   (grad-12)
pub(crate) fn friction_fractions(model: &Model, pair: &Pair) -> [f64; 2] {
    let [a, b] = pair.geoms.map(|g| &model.geoms()[g.0]);
    match a.surface.priority.cmp(&b.surface.priority) {
        _ if pair.surface.is_some() || condim(a, b) == 1 => [0.0; 2],
        core::cmp::Ordering::Greater => [1.0, 0.0],
        core::cmp::Ordering::Less => [0.0, 1.0],
        core::cmp::Ordering::Equal => larger(model, pair, ParameterGroup::Friction),
    }
}

/// Fractions of a pair's restitution that are due to each geom.
pub(crate) fn restitution_fractions(model: &Model, pair: &Pair) -> [f64; 2] {
    larger(model, pair, ParameterGroup::Restitution)
}

fn larger(model: &Model, pair: &Pair, group: ParameterGroup) -> [f64; 2] {
    let values = model.parameters().group(group);
    match values[pair.geoms[0].0].total_cmp(&values[pair.geoms[1].0]) {
        core::cmp::Ordering::Greater => [1.0, 0.0],
        core::cmp::Ordering::Less => [0.0, 1.0],
        core::cmp::Ordering::Equal => [0.5, 0.5],
    }
}

fn condim(a: &Geom, b: &Geom) -> u8 {
    match a.surface.priority.cmp(&b.surface.priority) {
        core::cmp::Ordering::Greater => a.surface.condim,
        core::cmp::Ordering::Less => b.surface.condim,
        core::cmp::Ordering::Equal => a.surface.condim.max(b.surface.condim),
    }
}

/// Velocity added to that of a gap `phi`, so that the law for velocities becomes one for gaps. A gap may close within the
/// step. An overlap must open: all of it down to `full_depth`, a fraction of what is deeper.   (contact-3)
pub(crate) fn gap_velocity(correction: &Correction, dt: f64, phi: f64) -> f64 {
    let depth = correction.full_depth;
    let f = if phi >= -depth { phi } else { -depth + correction.beta * (phi + depth) };
    f.max(-correction.max_speed * dt) / dt
}

/// Velocity added to that of a gap with restitution. A surface that approaches at `approach < 0` and touches within the
/// step leaves at a fraction of that speed, or opens its overlap, whichever is faster.   (contact-4)
pub(crate) fn rebound_velocity(options: &Options, restitution: f64, phi: f64, approach: f64) -> f64 {
    let gap = gap_velocity(&options.correction, options.dt, phi);
    let bounces = restitution > 0.0 && approach < -options.restitution_threshold && phi + options.dt * approach <= 0.0;
    if bounces { gap.min(restitution * approach) } else { gap }
}

/// Derivatives of [`rebound_velocity`] with respect to the gap and the approach.   (grad-4)
pub(crate) fn rebound_slopes(options: &Options, restitution: f64, phi: f64, approach: f64) -> BiasSlope {
    let gap = gap_velocity(&options.correction, options.dt, phi);
    if rebound_velocity(options, restitution, phi, approach) < gap {
        return BiasSlope { gap: 0.0, approach: restitution };
    }
    let c = &options.correction;
    let slope = if phi >= -c.full_depth { 1.0 } else { c.beta };
    let limited = gap <= -c.max_speed;
    BiasSlope { gap: if limited { 0.0 } else { slope / options.dt }, approach: 0.0 }
}

/// How far a gap is from the next corner of its correction (m): where the correction becomes a fraction, and where its
/// speed is limited.   (contact-3)
pub(crate) fn corner_distance(options: &Options, phi: f64) -> f64 {
    let c = &options.correction;
    let limit = c.max_speed * options.dt;
    let fastest = if limit <= c.full_depth { -limit } else { -c.full_depth - (limit - c.full_depth) / c.beta };
    let first = if c.beta == 1.0 { f64::INFINITY } else { (phi + c.full_depth).abs() };
    first.min((phi - fastest).abs())
}

/// How the velocity that is added to a row changes with its gap (1/s) and with the velocity at which that closes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct BiasSlope {
    pub gap: f64,
    pub approach: f64,
}

/// Without correction and restitution: a gap may close, an overlap may stay.   (contact-5)
pub(crate) fn uncorrected_velocity(dt: f64, phi: f64) -> f64 {
    phi.max(0.0) / dt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correction_is_continuous_and_limited() {
        let c = Correction::default();
        let f = |phi: f64| gap_velocity(&c, 1e-3, phi) * 1e-3;
        assert_eq!(f(0.01), 0.01);
        assert!((f(-1e-4) + 1e-4).abs() < 1e-18);
        assert!((f(-1.1e-4) - (-1e-4 - 0.2e-5)).abs() < 1e-12);
        assert_eq!(f(-1.0), -1e-3);
    }

    #[test]
    fn what_approaches_fast_and_touches_bounces() {
        let options = Options::default();
        assert_eq!(rebound_velocity(&options, 0.5, 1e-4, -2.0), -1.0);
        // does not reach the surface within the step
        assert_eq!(rebound_velocity(&options, 0.5, 5e-3, -2.0), 5.0);
        // too slow
        assert_eq!(rebound_velocity(&options, 0.5, 0.0, -0.001), 0.0);
    }
}
