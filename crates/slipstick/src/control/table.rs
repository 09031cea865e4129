//! Controls from a text: one row per step, numbers apart by commas or blanks.

use super::Command;
use slipstick_core::Model;
use std::fmt;

/// Rows of controls.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: Vec<Vec<f64>>,
    next: usize,
}

/// A text that is no table of controls.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TableError {
    /// A row has more or fewer numbers than the robot has controls.
    Length {
        /// Line of the text, from 1.
        line: usize,
        /// Controls of the robot.
        expected: usize,
        /// Numbers in the row.
        got: usize,
    },
    /// Something is not a finite number.
    Number {
        /// Line of the text, from 1.
        line: usize,
        /// What is there.
        got: String,
    },
    /// A line of names lacks an actuator's column.
    Column {
        /// The name that is missing.
        expected: String,
    },
    /// There is not a single row.
    Empty,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Length { line, expected, got } => {
                write!(f, "line {line}: expected {expected} numbers, one per control, got {got}")
            }
            TableError::Number { line, got } => write!(f, "line {line}: expected a finite number, got '{got}'"),
            TableError::Column { expected } => write!(f, "line of names: there is no column '{expected}'"),
            TableError::Empty => f.write_str("expected a row of controls per step, got none"),
        }
    }
}

impl std::error::Error for TableError {}

impl Table {
    /// Reads rows of one number per control. Lines that begin with `#` are remarks. If the first line has names instead
    /// of numbers, the columns `ctrl:NAME` are taken, as a recorded trajectory has them.
    pub fn parse(model: &Model, text: &str) -> Result<Table, TableError> {
        let lines = text.lines().enumerate().map(|(k, l)| (k + 1, l.trim()));
        let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#')).peekable();
        let has_names = lines.peek().is_some_and(|(_, l)| cells(l).next().is_some_and(|c| c.parse::<f64>().is_err()));
        let columns = match lines.next_if(|_| has_names) {
            Some((_, names)) => Some(columns(model, names)?),
            None => None,
        };
        let rows = lines.filter_map(|(line, text)| row(model, line, text, columns.as_deref()).transpose());
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() { Err(TableError::Empty) } else { Ok(Table { rows, next: 0 }) }
    }

    pub(super) fn fill(&mut self, command: &mut Command) {
        command.ctrl.copy_from_slice(&self.rows[self.next]);
        self.next = (self.next + 1).min(self.rows.len() - 1);
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ' ', '\t', ';']).filter(|c| !c.is_empty())
}

/// For each control the place of its column in a line of names.
fn columns(model: &Model, names: &str) -> Result<Vec<usize>, TableError> {
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let place = |name: &String| {
        let place = names.iter().position(|n| n == name);
        place.ok_or_else(|| TableError::Column { expected: name.clone() })
    };
    control_names(model).iter().map(place).collect()
}

/// Names of the columns of controls: `ctrl:NAME`, or `ctrl:NUMBER` where an actuator has none.
pub(crate) fn control_names(model: &Model) -> Vec<String> {
    let name = |(k, a): (usize, &slipstick_core::model::Actuator)| match a.name.as_str() {
        "" => format!("ctrl:{k}"),
        name => format!("ctrl:{name}"),
    };
    model.actuators().iter().enumerate().map(name).collect()
}

/// The controls of a line; `None` where all cells are empty, as behind the last step of a recorded trajectory.
fn row(model: &Model, line: usize, text: &str, columns: Option<&[usize]>) -> Result<Option<Vec<f64>>, TableError> {
    let number = |cell: &str| {
        let number = cell.parse().ok().filter(|x: &f64| x.is_finite());
        number.ok_or_else(|| TableError::Number { line, got: cell.into() })
    };
    let Some(columns) = columns else {
        let row = cells(text).map(number).collect::<Result<Vec<f64>, _>>()?;
        let (expected, got) = (model.nu(), row.len());
        return if got == expected { Ok(Some(row)) } else { Err(TableError::Length { line, expected, got }) };
    };
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    let chosen = || columns.iter().map(|k| cells.get(*k).copied().unwrap_or(""));
    if chosen().all(str::is_empty) { Ok(None) } else { chosen().map(number).collect::<Result<_, _>>().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<Table, TableError> {
        Table::parse(&crate::builtin("double_pendulum").unwrap(), text)
    }

    #[test]
    fn rows_are_taken_one_by_one_and_the_last_stays() {
        let model = crate::builtin("double_pendulum").unwrap();
        let mut command = Command::new(&model);
        let mut table = table("# two motors\n1, 2\n3 4\n").unwrap();
        let rows = [0; 4].map(|_| {
            table.fill(&mut command);
            command.ctrl.clone()
        });
        assert_eq!(rows, [[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]]);
    }

    #[test]
    fn columns_are_found_by_name() {
        let model = crate::builtin("double_pendulum").unwrap();
        let names = control_names(&model);
        let text = format!("time,{},{}\n0,5,6\n1,,\n", names[1], names[0]);
        assert_eq!(table(&text).unwrap().rows, [[6.0, 5.0]]);
    }

    #[test]
    fn mistakes_name_their_line() {
        let told = |text: &str| table(text).unwrap_err().to_string();
        assert_eq!(told("1 2\n\n1 2 3\n"), "line 3: expected 2 numbers, one per control, got 3");
        assert_eq!(told("1 2\n1 nan\n"), "line 2: expected a finite number, got 'nan'");
        assert!(told("time,ctrl:nobody\n0,1\n").starts_with("line of names: there is no column 'ctrl:"));
        assert_eq!(told("# nothing\n"), "expected a row of controls per step, got none");
    }
}
