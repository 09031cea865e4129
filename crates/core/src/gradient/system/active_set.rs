//! The linear system of the derivative: the unknowns of each constraint in its mode.   (grad-2, grad-3)
//!
//! A sticking constraint has as many unknowns as rows. A sliding contact has two: its normal impulse, to which friction is
//! proportional, and the rotation of friction across the slip. An open contact has none. With the impulses `dλ = C x` and the
//! rows B that stay zero, `A x = −B r`, `A = B (G + R) C + Q`, r the change of velocity at fixed impulses. G is the Delassus
//! matrix of the step, in its group form `T G Tᵀ`: rows and columns are multiplied by T once. Any choice among redundant rows
//! gives the same motion; infeasible right-hand sides are made consistent (`consistent`). Rows on single dofs are no unknowns
//! of the system: their dofs are locked in M̂ (`locked`).
#![allow(non_snake_case)]

use super::consistent::Consistent;
use super::locked::{Locked, RowOnDof};
use crate::constraint::{self, Block, Cone, Mode, Problem, Solution, TWIST, rows_of};
use crate::dispatch::dispatch;
use crate::dynamics::StepMass;
use crate::footprint::{Footprint, footprint};
use crate::linalg::{Factor, FullPivotLu, Term, add_product};
use crate::spatial::{Lane, Mat3, Vec3};
use core::ops::Range;

/// Fraction of its inverse inertia below which the local compliance of a constraint on the central path fades out.
const FAINT: f64 = 1e-6;
/// Entries of the scaled system below this are rounding: the equation is redundant.
const REDUNDANT: f64 = 1e-8;
/// Friction below this counts as none.
const FRICTIONLESS: f64 = 1e-12;

/// One unknown and its equation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unknown {
    /// Its constraint.
    pub block: usize,
    /// Column of C and row of B, in the rows of the constraint.
    pub c: [f64; 3],
    pub b: [f64; 3],
    /// Column and row multiplied by T: numbers from `xi` on in the space of G.
    pub xi: usize,
    pub width: usize,
    pub column: [f64; TWIST],
    pub row: [f64; TWIST],
    /// Its entry in Q: the resistance of friction to rotation of its direction (1/kg).
    turning: f64,
    /// Scales that make the entries of its column and of its row about one.
    scale: f64,
    weight: f64,
    /// Whether its equation is independent of the others.
    pub kept: bool,
    /// Its number, and its position in the order of classes of its island.
    index: usize,
    position: usize,
    /// Priority in over-determined islands: friction (later classes) is violated first.
    pub class: usize,
    /// Its dof, if it is a row on a single dof.
    pub on_dof: Option<RowOnDof>,
}

impl Unknown {
    /// The scale that makes the entries of its equation about one.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

/// Normals, limits and bilateral rows; friction of contacts; dry friction of joints.
const CLASSES: usize = 3;

/// The unknowns of an island and the factors of their system.
#[derive(Debug, Clone, Default)]
struct System {
    unknowns: Range<usize>,
    lu: FullPivotLu,
    /// Unknowns by class, counted from the island's first, and where each class ends. Rows on single dofs are not among them.
    order: Vec<usize>,
    ends: [usize; CLASSES],
    /// Projection onto consistent right-hand sides.
    consistent: Consistent,
}

footprint!(System: lu, order, consistent);

/// Systems, and those of more islands than there are now.
#[derive(Debug, Clone, Default)]
struct Systems(Vec<System>);

impl Footprint for Systems {
    fn measure<const BYTES: bool>(&self) -> usize {
        self.0.measure::<BYTES>() + self.0.iter().map(System::measure::<BYTES>).sum::<usize>()
    }
}

/// All unknowns and the factors of their systems.
#[derive(Debug, Clone, Default)]
pub(crate) struct Active {
    pub unknowns: Vec<Unknown>,
    /// One for each island of the problem; those beyond are memory.
    systems: Systems,
    islands: usize,
    /// The columns of C, scaled, and G times them (one row of lanes per row of G).
    columns: Vec<[f64; 4]>,
    product: Vec<[f64; 4]>,
    /// Wᵀ times the columns, where W is stored instead of G.
    through: Vec<[f64; 4]>,
    terms: Vec<Term>,
    scratch: Vec<[f64; 4]>,
    /// M̂ with the dofs of sticking joints locked.
    pub locked: Locked,
}

footprint!(Active: unknowns, systems, columns, product, through, terms, scratch, locked);

impl Active {
    /// Unknowns and factors of a solution, each constraint in the mode that `mode` returns; `frame` returns the position and
    /// axes of a contact.
    pub fn factor(
        &mut self,
        problem: &Problem,
        solution: &Solution,
        mass: &StepMass,
        mode: impl Fn(usize) -> Mode,
        frame: impl Fn(usize) -> Option<ContactFrame>,
    ) {
        self.unknowns.clear();
        for island in &problem.islands {
            for group in &problem.groups[island.groups.clone()] {
                let mut patch = StickingPatch::default();
                for k in group.blocks.clone() {
                    match (frame(k), mode(k)) {
                        (Some(frame), Mode::Stick) => self.add_sticking(problem, k, &mut patch, &frame),
                        (_, mode) => self.add_block(problem, k, mode, &BlockState::of(solution, &problem.blocks[k])),
                    }
                }
            }
            for k in island.blocks.clone().filter(|k| problem.blocks[*k].is_on_dof()) {
                self.add_block(problem, k, mode(k), &BlockState::of(solution, &problem.blocks[k]));
            }
        }
        self.factor_systems(problem, mass, &|k| compliance(&problem.blocks[k]));
    }

    /// Unknowns and factors of a solution of a dense problem, which has no dofs.   (grad-19)
    pub fn factor_bare(&mut self, problem: &Problem, solution: &Solution, mode: impl Fn(usize) -> Mode) {
        self.unknowns.clear();
        for (k, b) in problem.blocks.iter().enumerate() {
            self.add_block(problem, k, mode(k), &BlockState::of(solution, b));
        }
        self.locked.unlock();
        self.factor_islands(problem, &|k| compliance(&problem.blocks[k]));
    }

    /// The unknowns of a contact that sticks. Two bodies that stick in several points cannot move in their common plane once
    /// the first point sticks in both directions and a second one across the line between them: the friction of all others
    /// would be redundant.
    fn add_sticking(&mut self, problem: &Problem, k: usize, patch: &mut StickingPatch, frame: &ContactFrame) {
        let normal = frame.axes.c[2];
        let parallel = patch.normal.is_none_or(|n| n.dot(normal) > 1.0 - PARALLEL_NORMALS);
        match patch.first {
            Some(first) if parallel => {
                let across = normal.cross(frame.point - first);
                if !patch.spin_sticks && across.norm() > DISTINCT_POINTS {
                    let d = frame.axes.tmul(across * (1.0 / across.norm()));
                    self.add_unknown(problem, k, [d.x, d.y, 0.0], [d.x, d.y, 0.0], 0.0);
                    patch.spin_sticks = true;
                }
            }
            _ => {
                let (c, s) = free_direction(&problem.diagonal_block(k));
                for d in [[c, s, 0.0], [-s, c, 0.0]] {
                    self.add_unknown(problem, k, d, d, 0.0);
                }
                (patch.first, patch.normal) = (patch.first.or(Some(frame.point)), patch.normal.or(Some(normal)));
            }
        }
        self.add_unknown(problem, k, axis(2), axis(2), 0.0);
    }

    /// Unknowns and factors of a solution on the central path: every constraint is active, with its own
    /// local compliance. `surrogate`: for the derivative of the exact step.   (grad-13)
    pub fn factor_centrally(&mut self, problem: &Problem, solution: &Solution, mass: &StepMass, surrogate: bool) {
        let of =
            |local_compliance, mean| if surrogate { without_faint(local_compliance, mean) } else { local_compliance };
        self.unknowns.clear();
        let of_island = |blocks: &Range<usize>| {
            let on_dof = |k: &usize| problem.blocks[*k].is_on_dof();
            blocks.clone().filter(move |k| !on_dof(k)).chain(blocks.clone().filter(on_dof))
        };
        for k in problem.islands.iter().flat_map(|island| of_island(&island.blocks)) {
            let b = &problem.blocks[k];
            if let Cone::Friction { mu } = b.cone {
                // along and across the slip: along it local compliance may be greater by all digits there are
                let u = BlockState::of(solution, b).slip_direction(b);
                let axes = [[u[0], u[1], 0.0], [-u[1], u[0], 0.0], axis(2)];
                let first = if mu < FRICTIONLESS { 2 } else { 0 };
                axes[first..].iter().for_each(|a| self.add_unknown(problem, k, *a, *a, 0.0));
            } else {
                self.add_unknown(problem, k, axis(0), axis(0), 0.0);
            }
        }
        self.factor_systems(problem, mass, &|k| {
            let (mut local, more) =
                (compliance(&problem.blocks[k]), of(solution.local_compliance(k), problem.blocks[k].mean));
            local.as_flattened_mut().iter_mut().zip(more.as_flattened()).for_each(|(a, b)| *a += b);
            local
        });
    }

    /// Every row of every constraint in any mode; nothing is factored.
    pub fn set_every_row(&mut self, problem: &Problem) {
        self.unknowns.clear();
        for (k, b) in problem.blocks.iter().enumerate() {
            (0..b.cone.rows()).for_each(|n| self.add_unknown(problem, k, axis(n), axis(n), 0.0));
        }
    }

    /// The systems of all islands. `local` is the addition of a constraint to its own block of G.
    fn factor_systems(&mut self, problem: &Problem, mass: &StepMass, local: &dyn Fn(usize) -> [[f64; 3]; 3]) {
        self.locked.lock(problem, mass, &mut self.unknowns, local);
        self.factor_islands(problem, local);
    }

    fn factor_islands(&mut self, problem: &Problem, local: &dyn Fn(usize) -> [[f64; 3]; 3]) {
        self.islands = problem.islands.len();
        if self.systems.0.len() < self.islands {
            self.systems.0.resize_with(self.islands, System::default);
        }
        let mut first = 0;
        for (n, island) in problem.islands.iter().enumerate() {
            let count = self.unknowns[first..].iter().take_while(|u| island.blocks.contains(&u.block)).count();
            self.systems.0[n].unknowns = first..first + count;
            first += count;
            fill(self, problem, n, local);
            let System { lu, ends, unknowns, .. } = &mut self.systems.0[n];
            lu.factor(ends, REDUNDANT);
            lu.independent().iter().for_each(|u| self.unknowns[unknowns.start + u].kept = true);
            let System { lu, unknowns, consistent, .. } = &mut self.systems.0[n];
            consistent.find(problem, island.groups.clone(), &self.unknowns[unknowns.clone()], lu);
        }
    }

    /// The projection onto consistent right-hand sides of an island.
    pub fn consistent(&self, n: usize) -> &Consistent {
        &self.systems.0[n].consistent
    }

    /// Unknowns of an island of the problem: those of its system, then rows on single dofs.
    pub fn of_island(&self, n: usize) -> Range<usize> {
        self.systems.0[n].unknowns.clone()
    }

    /// Unknowns of the system of an island.
    pub fn of_system(&self, n: usize) -> Range<usize> {
        let System { unknowns, order, .. } = &self.systems.0[n];
        unknowns.start..unknowns.start + order.len()
    }

    /// The unknowns of one constraint in its mode.
    fn add_block(&mut self, problem: &Problem, k: usize, mode: Mode, state: &BlockState) {
        match (problem.blocks[k].cone, mode) {
            (_, Mode::Break) | (Cone::Box { .. }, Mode::Slide) => {}
            (Cone::Friction { mu }, Mode::Slide) => {
                let normal = axis(2);
                if mu < FRICTIONLESS {
                    return self.add_unknown(problem, k, normal, normal, 0.0);
                }
                let u = state.slip_direction(&problem.blocks[k]);
                let across = [-u[1], u[0], 0.0];
                let slip = state.sigma[0].hypot(state.sigma[1]);
                self.add_unknown(problem, k, normal, [-mu * u[0], -mu * u[1], 1.0], 0.0);
                self.add_unknown(problem, k, across, across, slip / (mu * state.lambda[2]));
            }
            (cone, _) => (0..cone.rows()).for_each(|n| self.add_unknown(problem, k, axis(n), axis(n), 0.0)),
        }
    }

    fn add_unknown(&mut self, problem: &Problem, block: usize, b: [f64; 3], c: [f64; 3], turning: f64) {
        let of = &problem.blocks[block];
        let (width, on_dof) = match of.space {
            constraint::RowSpace::Twist(_) => (TWIST, None),
            constraint::RowSpace::Rows => (of.cone.rows(), None),
            constraint::RowSpace::Dof { dof, scale } => (0, Some(RowOnDof::new(dof as usize, scale))),
        };
        let at_zero = Block { xi: 0, ..*of };
        let (mut column, mut row) = ([0.0; TWIST], [0.0; TWIST]);
        if on_dof.is_none() {
            problem.gather(&at_zero, &c, &mut column);
            problem.gather(&at_zero, &b, &mut row);
        }
        let class = match of.cone {
            Cone::Friction { .. } => usize::from(b[2] == 0.0),
            Cone::Box { .. } => 2,
            _ => 0,
        };
        self.unknowns.push(Unknown {
            block,
            c,
            b,
            xi: of.xi,
            width,
            column,
            row,
            turning,
            scale: 1.0,
            weight: 1.0,
            kept: false,
            index: self.unknowns.len(),
            position: 0,
            class,
            on_dof,
        });
    }

    /// Orders the unknowns of an island by class and finds their scales.
    #[inline(always)]
    fn begin(&mut self, problem: &Problem, n: usize, local: &dyn Fn(usize) -> [[f64; 3]; 3]) {
        let System { unknowns, lu, order, ends, .. } = &mut self.systems.0[n];
        let unknowns = &mut self.unknowns[unknowns.clone()];
        order.clear();
        for class in 0..CLASSES {
            order.extend((0..unknowns.len()).filter(|u| unknowns[*u].class == class && unknowns[*u].on_dof.is_none()));
            ends[class] = order.len();
        }
        lu.reset(order);
        order.iter().enumerate().for_each(|(position, u)| unknowns[*u].position = position);
        for u in unknowns {
            let root = problem.blocks[u.block].mean.sqrt();
            let largest = largest_in_row(&u.b, &local(u.block)) + u.turning;
            (u.scale, u.weight) = (1.0 / root, 1.0 / (root + largest / root));
        }
    }

    /// Solves `Aᵀ y = c` for columns side by side, one row of whole lanes per unknown, in place.   (grad-8)
    pub fn solve_transposed(&mut self, lanes: usize, c: &mut [[f64; 4]]) {
        for n in 0..self.islands {
            let unknowns = self.of_system(n);
            self.solve_island_transposed(n, lanes, &mut c[unknowns.start * lanes..unknowns.end * lanes]);
        }
    }

    /// Solves `Aᵀ y = c` of one island: rows of the unknowns of its system only.
    pub fn solve_island_transposed(&mut self, n: usize, lanes: usize, c: &mut [[f64; 4]]) {
        self.scale_rows(n, lanes, c, |u| u.scale);
        self.scratch.resize(c.len().max(self.scratch.len()), [0.0; 4]);
        self.systems.0[n].lu.solve_transposed(lanes, c, &mut self.scratch);
        self.scale_rows(n, lanes, c, |u| u.weight);
    }

    fn scale_rows(&self, n: usize, lanes: usize, c: &mut [[f64; 4]], by: impl Fn(&Unknown) -> f64) {
        for (u, row) in self.unknowns[self.of_system(n)].iter().zip(c.chunks_exact_mut(lanes.max(1))) {
            row.as_flattened_mut().iter_mut().for_each(|x| *x *= by(u));
        }
    }
}

/// The local compliance of a constraint on the central path, or none where it is faint. As κ → 0 it goes to zero in all rows of an
/// active constraint alike. In over-determined islands the rows would still deform in its fixed proportions. Without faint
/// compliance the derivative tends to that of the exact step.   (grad-13)
fn without_faint(local_compliance: [[f64; 3]; 3], mean: f64) -> [[f64; 3]; 3] {
    let size = local_compliance.as_flattened().iter().fold(0.0, |m: f64, x| m.max(x.abs())) / (FAINT * mean);
    let fraction = size * size / (1.0 + size * size);
    if fraction * size * FAINT < REDUNDANT {
        [[0.0; 3]; 3]
    } else {
        local_compliance.map(|row| row.map(|x| fraction * x))
    }
}

dispatch!(
    /// The matrix of an island, scaled.
    pub(crate) fn fill(active: &mut Active, problem: &Problem, n: usize, local: &dyn Fn(usize) -> [[f64; 3]; 3]) {
        active.begin(problem, n, local);
        let Active { unknowns, systems, columns, product, through, terms, locked, .. } = active;
        let (System { unknowns: range, lu, order, .. }, island) = (&mut systems.0[n], &problem.islands[n]);
        let (unknowns, size, lanes) = (&unknowns[range.clone()], island.xi.len(), order.len().div_ceil(4));
        let delassus = locked.delassus(problem);
        if order.is_empty() {
            return;
        }
        for x in [&mut *columns, &mut *product] {
            x.clear();
            x.resize(size * lanes, [0.0; 4]);
        }
        for (j, u) in order.iter().map(|u| &unknowns[*u]).enumerate() {
            for (n, c) in u.column[..u.width].iter().enumerate() {
                columns[(u.xi - island.xi.start + n) * lanes + j / 4][j % 4] = c * u.scale;
            }
        }
        if !island.has_delassus {
            problem.multiply_through(&delassus.W, island, lanes, columns, through, product);
        } else {
            let G = Factor { entries: &delassus.G[island.entries..], row: island.stride, column: 1 };
            add_product(size, size, lanes, 1.0, G, columns, product, terms);
        }
        for (i, u) in order.iter().map(|u| &unknowns[*u]).enumerate() {
            let row = lu.row_mut(i).as_chunks_mut::<4>().0;
            let products = product[(u.xi - island.xi.start) * lanes..].chunks_exact(lanes);
            for (b, GC) in u.row[..u.width].iter().zip(products) {
                row.iter_mut().zip(GC).for_each(|(a, g)| *a = (Lane(*a) + Lane(*g) * (b * u.weight)).0);
            }
        }
        // the addition of a constraint to its own unknowns, which are consecutive
        for (i, ui) in order.iter().map(|u| &unknowns[*u]).enumerate() {
            let own = ui.index - range.start;
            let first = unknowns[..own].iter().rev().take_while(|u| u.block == ui.block).count();
            for uj in unknowns[own - first..].iter().take_while(|u| u.block == ui.block) {
                let turning = if uj.index == ui.index { ui.turning } else { 0.0 };
                let own = bilinear(&ui.b, &local(ui.block), &uj.c) + turning;
                lu.row_mut(i)[uj.position] += own * ui.weight * uj.scale;
            }
        }
    }
);

/// Position and axes of a contact.
pub(crate) struct ContactFrame {
    pub point: Vec3,
    /// Axes (T, T, N) as columns.
    pub axes: Mat3,
}

/// The sticking points of two bodies so far.
#[derive(Default)]
struct StickingPatch {
    first: Option<Vec3>,
    normal: Option<Vec3>,
    spin_sticks: bool,
}

/// One minus the cosine up to which normals count as parallel.
const PARALLEL_NORMALS: f64 = 1e-9;
/// Points nearer than this are one (m).
const DISTINCT_POINTS: f64 = 1e-4;

/// Direction (cosine, sine) of the largest tangential mobility of a contact at fixed normal velocity. Where its bodies have
/// fewer dofs than it has rows, they can move along it and not across: then friction across is the redundant row.
fn free_direction(D: &[[f64; 3]; 3]) -> (f64, f64) {
    if D[2][2] <= 0.0 {
        return (1.0, 0.0);
    }
    let schur = |i: usize, j: usize| D[i][j] - D[i][2] * D[2][j] / D[2][2];
    let angle = 0.5 * (2.0 * schur(0, 1)).atan2(schur(0, 0) - schur(1, 1));
    (angle.cos(), angle.sin())
}

/// Impulse and velocity of a constraint.
pub(crate) struct BlockState {
    pub lambda: [f64; 3],
    pub sigma: [f64; 3],
}

impl BlockState {
    pub fn of(solution: &Solution, b: &Block) -> BlockState {
        BlockState { lambda: rows_of(solution.lambda(), b), sigma: rows_of(solution.sigma(), b) }
    }

    /// Direction of slip: along the slip and against the friction, weighted by their magnitudes.
    pub fn slip_direction(&self, b: &Block) -> [f64; 2] {
        let a = [self.sigma[0] - b.max_eigenvalue * self.lambda[0], self.sigma[1] - b.max_eigenvalue * self.lambda[1]];
        let norm = a[0].hypot(a[1]);
        if norm > 0.0 { [a[0] / norm, a[1] / norm] } else { [1.0, 0.0] }
    }
}

fn axis(n: usize) -> [f64; 3] {
    core::array::from_fn(|i| if i == n { 1.0 } else { 0.0 })
}

/// The addition of compliance to the block of G of a constraint.
fn compliance(b: &Block) -> [[f64; 3]; 3] {
    let (n, mut local) = (b.cone.rows() - 1, [[0.0; 3]; 3]);
    local[n][n] = b.compliance;
    local
}

/// Size of the row `b` of a matrix.
fn largest_in_row(b: &[f64; 3], L: &[[f64; 3]; 3]) -> f64 {
    (0..3).fold(0.0, |m: f64, j| m.max((b[0] * L[0][j] + b[1] * L[1][j] + b[2] * L[2][j]).abs()))
}

fn bilinear(b: &[f64; 3], L: &[[f64; 3]; 3], c: &[f64; 3]) -> f64 {
    (0..3).fold(0.0, |s, i| s + b[i] * (L[i][0] * c[0] + L[i][1] * c[1] + L[i][2] * c[2]))
}
