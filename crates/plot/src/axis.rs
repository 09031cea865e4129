//! From numbers to places along an axis, and which numbers are written beside it.

/// How numbers lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm: whole decades from end to end. Numbers that are not positive lie at its lower end.
    Log,
}

/// An axis: numbers from `low` to `high` (of their logarithm to base ten) lie between the places of `ends`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ends: [f64; 2],
}

/// Numbers at most so many, else they run into each other.
const MOST: f64 = 8.0;

impl Axis {
    /// An axis that shows all numbers.
    pub fn over(scale: Scale, numbers: impl Iterator<Item = f64>, ends: [f64; 2]) -> Axis {
        let shown = numbers.filter(|x| x.is_finite() && (scale == Scale::Linear || *x > 0.0));
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        // nothing to show still has an axis
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let (low, high) = match scale {
            Scale::Log => {
                let first = low.log10().floor();
                (first, high.log10().ceil().max(first + 1.0))
            }
            Scale::Linear if low == high => (low - 0.5, high + 0.5),
            Scale::Linear => (low, high),
        };
        Axis { scale, low, high, ends }
    }

    /// An axis with given ends, whatever is shown.
    pub fn between(scale: Scale, [low, high]: [f64; 2], ends: [f64; 2]) -> Axis {
        match scale {
            Scale::Log => Axis { scale, low: low.log10(), high: high.log10(), ends },
            Scale::Linear => Axis { scale, low, high, ends },
        }
    }

    /// The smallest axis of the same scale that shows what both do.
    pub fn joined(&self, other: &Axis) -> Axis {
        Axis { low: self.low.min(other.low), high: self.high.max(other.high), ..self.clone() }
    }

    /// The axis at other places.
    pub fn on(&self, ends: [f64; 2]) -> Axis {
        Axis { ends, ..self.clone() }
    }

    /// Where a number lies; beyond the ends, at the end. `None` if it is not a number.
    pub fn place(&self, x: f64) -> Option<f64> {
        let along = match self.scale {
            Scale::Linear => x,
            Scale::Log if x > 0.0 => x.log10(),
            Scale::Log if x.is_nan() => x,
            Scale::Log => self.low,
        };
        let part = ((along - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (!part.is_nan()).then(|| self.ends[0] + part * (self.ends[1] - self.ends[0]))
    }

    /// Numbers to write beside the axis: their places and texts.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let step = match self.scale {
            Scale::Linear => round_step((self.high - self.low) / MOST),
            Scale::Log => ((self.high - self.low) / MOST).ceil().max(1.0),
        };
        let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let tick = |k: i64| {
            let x = k as f64 * step;
            match self.scale {
                Scale::Linear => self.place(x).map(|p| (p, number(x, step))),
                Scale::Log => self.place(10f64.powf(x)).map(|p| (p, power_of_ten(x as i32))),
            }
        };
        (first..=last).filter_map(tick).collect()
    }
}

/// The least of 1, 2, 5, 10, 20, 50, … times a power of ten that is not below x.
fn round_step(x: f64) -> f64 {
    let decade = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|k| k * decade).find(|s| *s >= x * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// With as many digits as steps need.
fn number(x: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    // minus zero is zero
    format!("{:.digits$}", if x == 0.0 { 0.0 } else { x })
}

/// Plain near one, else 10 with a small exponent.
fn power_of_ten(k: i32) -> String {
    if (-2..=3).contains(&k) {
        return 10f64.powi(k).to_string();
    }
    let small = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + (digit as u32 - '0' as u32)).unwrap_or(digit),
    };
    format!("10{}", k.to_string().chars().map(small).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_a_linear_axis_are_round_and_inside() {
        let axis = Axis::over(Scale::Linear, [0.0, 37.0].into_iter(), [0.0, 370.0]);
        let ticks = axis.ticks();
        assert_eq!(
            ticks.iter().map(|t| t.1.as_str()).collect::<Vec<_>>(),
            ["0", "5", "10", "15", "20", "25", "30", "35"]
        );
        assert!(ticks.iter().all(|(p, t)| (p - 10.0 * t.parse::<f64>().unwrap()).abs() < 1e-9));
        let fine = Axis::over(Scale::Linear, [-0.02, 0.11].into_iter(), [0.0, 1.0]);
        assert_eq!(fine.ticks()[1].1, "0.00");
    }

    #[test]
    fn a_logarithmic_axis_has_whole_decades_and_few_numbers() {
        let axis = Axis::over(Scale::Log, [3e-15, 20.0].into_iter(), [0.0, 1.0]);
        let texts: Vec<String> = axis.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(texts[0], "10⁻¹⁵");
        assert!(texts.len() <= 9 && texts.contains(&"1".to_string()), "{texts:?}");
        assert_eq!(axis.place(1e-15), Some(0.0));
        assert_eq!(axis.place(100.0), Some(1.0));
    }

    #[test]
    fn what_an_axis_cannot_show_lies_at_its_end_or_nowhere() {
        let axis = Axis::over(Scale::Log, [1.0, 100.0].into_iter(), [10.0, 20.0]);
        assert_eq!(axis.place(0.0), Some(10.0));
        assert_eq!(axis.place(f64::INFINITY), Some(20.0));
        assert_eq!(axis.place(f64::NAN), None);
        let none = Axis::over(Scale::Linear, [].into_iter(), [0.0, 1.0]);
        assert!(none.place(1.0).is_some());
    }
}
