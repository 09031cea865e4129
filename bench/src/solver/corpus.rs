//! Files of single contact problems: W with `G = W Wᵀ`, compliance, free velocity, cones, warm start, a solution.

use slipstick::ncp::{Cone, Problem};
use std::fs;
use std::path::Path;

/// One problem of a file.
pub struct Record {
    /// Newton from the warm start did not solve it when it was written.
    pub hard: bool,
    cones: Vec<Cone>,
    compliance: Vec<f64>,
    rows: usize,
    columns: usize,
    root: Vec<f64>,
    free: Vec<f64>,
    /// Impulses to start from.
    pub warm: Vec<f64>,
    /// Impulses that the solver of that time ended with.
    pub end: Vec<f64>,
}

impl Record {
    /// The problem, from its Delassus matrix alone.
    pub fn problem(&self) -> Result<Problem, String> {
        let (m, n) = (self.rows, self.columns);
        let row = |i: usize| &self.root[i * n..(i + 1) * n];
        let entry = |k: usize| row(k / m).iter().zip(row(k % m)).map(|(a, b)| a * b).sum::<f64>();
        let matrix: Vec<f64> = (0..m * m).map(entry).collect();
        Problem::new(&self.cones, &matrix, &self.free, &self.compliance).map_err(|e| e.to_string())
    }
}

/// All problems of a file.
pub fn read(file: &Path) -> Result<Vec<Record>, String> {
    let bytes = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let (mut rest, mut records) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let length = Words(&mut rest).word()? as usize;
        if length > rest.len() {
            return Err(format!("{}: ends within problem {}", file.display(), records.len()));
        }
        let (mut record, after) = rest.split_at(length);
        rest = after;
        let problem = records.len();
        records.push(one(&mut Words(&mut record)).map_err(|e| format!("{}, problem {problem}: {e}", file.display()))?);
    }
    Ok(records)
}

fn one(words: &mut Words) -> Result<Record, String> {
    let [blocks, rows, columns, flags, _stage, _iterations] = [(); 6].map(|()| words.word());
    let (rows, columns) = (rows? as usize, columns? as usize);
    let (mut cones, mut compliance) = (Vec::new(), Vec::new());
    for _ in 0..blocks? {
        let (kind, _group) = (words.word()?, words.word()?);
        let [p, r, _mean, _stiffest] = [(); 4].map(|()| words.number());
        let p = p?;
        cones.push(match kind & 255 {
            0 => Cone::Friction { mu: p },
            1 => Cone::Unilateral,
            2 => Cone::Box { bound: p },
            3 => Cone::Bilateral,
            other => return Err(format!("expected a kind of constraint from 0 to 3, got {other}")),
        });
        compliance.push(r?);
    }
    let root = words.numbers(rows * columns)?;
    let [free, warm, end] = [words.numbers(rows)?, words.numbers(rows)?, words.numbers(rows)?];
    Ok(Record { hard: flags? & 1 == 1, cones, compliance, rows, columns, root, free, warm, end })
}

/// Numbers one after the other, little endian.
struct Words<'a, 'b>(&'a mut &'b [u8]);

impl Words<'_, '_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or("ends too early")?;
        *self.0 = rest;
        Ok(*first)
    }

    fn word(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    fn number(&mut self) -> Result<f64, String> {
        self.take().map(f64::from_le_bytes)
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f64>, String> {
        (0..count).map(|_| self.number()).collect()
    }
}
