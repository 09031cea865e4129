//! Which geoms may touch: a rule over the tree, exclusions, explicit pairs.

use super::ids::{BodyId, FrameId, GeomId};
use super::{Geom, Model, Shape, Structure};
use crate::error::InputError;
use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

/// How the list of pairs is made.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum PairRule {
    /// MuJoCo's: masks of geoms decide; geoms of one body, of a body and its parent (unless that is the world), and of
    /// excluded links do not touch; explicit pairs are added.
    #[default]
    Mujoco,
    /// The paper's: masks and exclusions are ignored; geoms of one body and of a body and its parent do not touch, except
    /// that planes fixed to the world touch everything that moves. Readers of files also exclude pairs that are nearer than
    /// 1 cm in the neutral configuration (see [`Model::without_pairs`]).
    Paper,
    /// Exactly these.
    List(Vec<[GeomId; 2]>),
}

/// Two geoms that may touch.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The geoms, the lower number first.
    pub geoms: [GeomId; 2],
    /// Properties of an explicit pair of the file, instead of the geoms' own surfaces.
    pub surface: Option<PairSurface>,
    /// Whether the pair has one contact point at most instead of a patch of four.
    pub single_point: bool,
}

/// Contact properties that a file gives to a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSurface {
    /// Coulomb's coefficient.
    pub friction: f64,
    /// 1: frictionless, 3: sliding friction.
    pub condim: u8,
    /// Distance by which the surfaces lie outside the shapes: `margin` of the file (m).
    pub offset: f64,
}

/// Rules of a file for pairs, in addition to the masks of geoms.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PairRules {
    pub rule: PairRule,
    /// Links whose geoms do not touch each other.
    pub excludes: Vec<[FrameId; 2]>,
    pub explicit: Vec<([GeomId; 2], PairSurface)>,
    /// Pairs that the rule makes and that are excluded, sorted.
    pub dropped: Vec<[GeomId; 2]>,
    /// Pairs that have one contact point at most, sorted.
    pub single_point: Vec<[GeomId; 2]>,
}

impl Model {
    /// This robot with another list of pairs. Memory made for the old one does not fit the new one.
    pub fn with_pair_rule(&self, rule: PairRule) -> Result<Model, InputError> {
        if let PairRule::List(list) = &rule {
            self.check_pairs(list)?;
        }
        Ok(self.with_contacts(|contacts| {
            contacts.rule = rule;
            contacts.dropped.clear();
        }))
    }

    /// This robot whose given pairs have one contact point at most instead of a patch of up to four. Memory made for
    /// the old one does not fit the new one.
    pub fn with_single_points(&self, pairs: &[[GeomId; 2]]) -> Result<Model, InputError> {
        let list = self.sorted_pairs(pairs)?;
        Ok(self.with_contacts(|contacts| contacts.single_point = list))
    }

    /// This robot without the given pairs, in addition to those that it lacks already. Memory made for the old one does not fit
    /// the new one.
    pub fn without_pairs(&self, pairs: &[[GeomId; 2]]) -> Result<Model, InputError> {
        let list = self.sorted_pairs(pairs)?;
        Ok(self.with_contacts(|contacts| {
            if let PairRule::List(all) = &mut contacts.rule {
                all.retain(|[a, b]| list.binary_search(&sorted(*a, *b)).is_err());
            }
            contacts.dropped.extend(list);
            contacts.dropped.sort();
        }))
    }

    /// This robot with further links whose geoms do not touch each other, unless an explicit pair says so. Memory made for the
    /// old one does not fit the new one.
    pub fn with_excludes(&self, links: &[[FrameId; 2]]) -> Result<Model, InputError> {
        let count = self.frames().len();
        if let Some(link) = links.iter().flatten().find(|link| link.0 >= count) {
            return Err(InputError::OutOfRange { what: "link", count, got: link.0 });
        }
        Ok(self.with_contacts(|contacts| {
            for link in links {
                if !contacts.excludes.contains(link) {
                    contacts.excludes.push(*link);
                }
            }
        }))
    }

    /// This robot with one friction for all explicit pairs.
    pub(super) fn with_explicit_friction(&self, friction: f64) -> Model {
        match self.structure.contacts.explicit.iter().all(|(_, surface)| surface.friction == friction) {
            true => self.clone(),
            false => self.with_contacts(|contacts| {
                contacts.explicit.iter_mut().for_each(|(_, surface)| surface.friction = friction);
            }),
        }
    }

    fn with_contacts(&self, change: impl FnOnce(&mut PairRules)) -> Model {
        let mut model = self.clone();
        let structure = model.structure_mut();
        change(&mut structure.contacts);
        structure.pairs = OnceLock::new();
        model
    }

    fn sorted_pairs(&self, pairs: &[[GeomId; 2]]) -> Result<Vec<[GeomId; 2]>, InputError> {
        self.check_pairs(pairs)?;
        let mut list: Vec<_> = pairs.iter().map(|[a, b]| sorted(*a, *b)).collect();
        list.sort();
        Ok(list)
    }

    fn check_pairs(&self, list: &[[GeomId; 2]]) -> Result<(), InputError> {
        let n = self.geoms().len();
        match list.iter().find(|[a, b]| a == b || a.0 >= n || b.0 >= n) {
            Some([a, b]) => {
                let what = format!("pair of geoms {} and {}", a.0, b.0);
                Err(InputError::Value { what, expected: "two different geoms of the model", got: b.0 as f64 })
            }
            None => Ok(()),
        }
    }
}

/// What carries a geom. All that dofs do not move counts as one body: it has no contact forces, and there may be a lot of it.
fn carrier(s: &Structure, g: &Geom) -> usize {
    if s.tree.nodes[g.body.0].moves() { g.body.0 } else { 0 }
}

/// Types and affinities of a geom, of which the paper's rule knows nothing.
fn mask(g: &Geom, ignored: bool) -> [u32; 2] {
    if ignored { [1, 1] } else { [g.surface.contype, g.surface.conaffinity] }
}

fn meet(a: [u32; 2], b: [u32; 2]) -> bool {
    a[0] & b[1] != 0 || b[0] & a[1] != 0
}

/// Geoms with one mask.
struct Kind {
    mask: [u32; 2],
    /// By what carries them, their numbers rising.
    carried: Vec<(usize, Vec<usize>)>,
}

impl Kind {
    fn of_all(s: &Structure, ignored: bool) -> Vec<Kind> {
        let mut kinds: BTreeMap<[u32; 2], BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (k, g) in s.geoms.iter().enumerate() {
            kinds.entry(mask(g, ignored)).or_default().entry(carrier(s, g)).or_default().push(k);
        }
        kinds.into_iter().map(|(mask, carried)| Kind { mask, carried: carried.into_iter().collect() }).collect()
    }
}

/// Models with more kinds of masks get a bound that ignores them.
const MANY_MASKS: usize = 1000;

impl Model {
    /// A bound of the number of pairs, without making their list: exclusions, and that links do not touch those that carry
    /// them, are left out of account.
    pub fn pair_bound(&self) -> usize {
        let (s, rules) = (&*self.structure, &self.structure.contacts);
        if let PairRule::List(list) = &rules.rule {
            return list.len();
        }
        let ignored = rules.rule == PairRule::Paper;
        let mut all: Vec<(usize, [u32; 2])> = s.geoms.iter().map(|g| (carrier(s, g), mask(g, ignored))).collect();
        all.sort_unstable();
        let inside: usize = all.chunk_by(|a, b| a.0 == b.0).map(compatible).sum();
        all.sort_unstable_by_key(|(_, mask)| *mask);
        compatible(&all).saturating_sub(inside) + rules.explicit.len()
    }
}

/// Pairs among geoms, sorted by their masks, whose masks let them touch.
fn compatible(geoms: &[(usize, [u32; 2])]) -> usize {
    let pairs_of = |n: usize| n * n.saturating_sub(1) / 2;
    let kinds: Vec<([u32; 2], usize)> = geoms.chunk_by(|a, b| a.1 == b.1).map(|c| (c[0].1, c.len())).collect();
    if kinds.len() > MANY_MASKS {
        return pairs_of(geoms.len());
    }
    let mut sum = 0;
    for (k, (a, n)) in kinds.iter().enumerate() {
        sum += if meet(*a, *a) { pairs_of(*n) } else { 0 };
        sum += kinds[..k].iter().filter(|(b, _)| meet(*a, *b)).map(|(_, m)| m * n).sum::<usize>();
    }
    sum
}

fn sorted(a: GeomId, b: GeomId) -> [GeomId; 2] {
    if a < b { [a, b] } else { [b, a] }
}

/// All pairs of a model, in ascending order.
pub(super) fn list(s: &Structure) -> Vec<Pair> {
    let single = |geoms: &[GeomId; 2]| s.contacts.single_point.binary_search(geoms).is_ok();
    let plain = |geoms| Pair { geoms, surface: None, single_point: single(&geoms) };
    if let PairRule::List(list) = &s.contacts.rule {
        return list.iter().map(|[a, b]| plain(sorted(*a, *b))).collect();
    }
    let paper = s.contacts.rule == PairRule::Paper;
    let explicit: HashSet<[GeomId; 2]> =
        if paper { HashSet::new() } else { s.contacts.explicit.iter().map(|([a, b], _)| sorted(*a, *b)).collect() };
    let excluded: HashSet<[FrameId; 2]> = s.contacts.excludes.iter().flat_map(|[a, b]| [[*a, *b], [*b, *a]]).collect();
    let mut pairs = Vec::new();
    let kinds = Kind::of_all(s, paper);
    for (j, b) in s.geoms.iter().enumerate() {
        let (carrier, mask) = (carrier(s, b), mask(b, paper));
        let near = kinds.iter().filter(|kind| meet(kind.mask, mask)).flat_map(|kind| &kind.carried);
        for i in near.filter(|(k, _)| *k != carrier).flat_map(|(_, geoms)| geoms.iter().take_while(|i| **i < j)) {
            let (a, geoms) = (&s.geoms[*i], [GeomId(*i), GeomId(j)]);
            let wanted = if paper { touch_in_paper(s, a, b) } else { touch_in_mujoco(s, a, b, &excluded) };
            if wanted && !explicit.contains(&geoms) {
                pairs.push(plain(geoms));
            }
        }
    }
    if !paper {
        let given = s.contacts.explicit.iter();
        pairs.extend(given.map(|([a, b], surface)| Pair { surface: Some(*surface), ..plain(sorted(*a, *b)) }));
    }
    pairs.retain(|p| s.contacts.dropped.binary_search(&p.geoms).is_err());
    // MuJoCo leaves such pairs out as well where a file asks for them
    let stay = |p: &Pair| p.geoms.iter().all(|g| !s.tree.nodes[s.geoms[g.0].body.0].moves());
    pairs.retain(|p| !stay(p) || p.geoms.iter().all(|g| s.geoms[g.0].body == BodyId::WORLD));
    pairs.sort_by_key(|p| p.geoms);
    pairs
}

fn is_parent_of(s: &Structure, parent: BodyId, child: BodyId) -> bool {
    child != BodyId::WORLD && s.bodies[child.0].parent == parent
}

fn touch_in_mujoco(s: &Structure, a: &Geom, b: &Geom, excluded: &HashSet<[FrameId; 2]>) -> bool {
    let masks = a.surface.contype & b.surface.conaffinity != 0 || b.surface.contype & a.surface.conaffinity != 0;
    let world = a.body == BodyId::WORLD || b.body == BodyId::WORLD;
    let family = !world && (is_parent_of(s, a.body, b.body) || is_parent_of(s, b.body, a.body));
    masks && a.body != b.body && !family && !excluded.contains(&[a.link, b.link])
}

fn touch_in_paper(s: &Structure, a: &Geom, b: &Geom) -> bool {
    let floor = |g: &Geom| g.body == BodyId::WORLD && (g.shape == Shape::Plane || g.shape.is_terrain());
    let family = is_parent_of(s, a.body, b.body) || is_parent_of(s, b.body, a.body);
    a.body != b.body && (floor(a) || floor(b) || !family)
}
