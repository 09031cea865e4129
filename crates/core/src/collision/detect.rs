//! All contacts of a model: pairs that may touch, their nearest points, patches, frames.

use super::broadphase::Broadphase;
use super::contact::Contact;
use super::epa::Polytope;
use super::frame::frame;
use super::lookahead::{Lookahead, Reaches};
use super::narrow::{Warm, witness};
use super::patch::{feature_key, nearest, patch};
use super::query::{ClosestPoints, RayHit, cast, check_ray, convex, in_world, shape_pair, two_planes};
use super::shape::Convex;
use super::terrain::{Terrain, TerrainMemory, Touch, ray, touch};
use super::witness::{ShapePair, Side};
use crate::error::InputError;
use crate::footprint::footprint;
use crate::model::{GeomId, Model, Pair, Shape, StructureId};
use crate::spatial::{Pose, Vec3};

/// Pairs for which there is room to be remembered from the start.
const MANY: usize = 256;

/// The contacts of a model at one configuration, and the memory of the search for them.
#[derive(Debug, Clone)]
pub struct ContactSet {
    structure: StructureId,
    pub(super) broad: Broadphase,
    pub(super) candidates: Vec<u32>,
    /// Per candidate: the distance up to which it was looked for (m).
    pub(super) limits: Vec<f64>,
    /// Distance up to which the last search looked for all pairs (m).
    pub(super) distance: f64,
    /// Memory: how far each body comes (m).
    pub(super) reached: Vec<f64>,
    /// Per pair: where the last search ended. It makes the next one sooner, not different.
    pub(super) warm: Vec<Warm>,
    /// Pairs of which something is remembered.
    pub(super) searched: Vec<u32>,
    pub(super) memory: Polytope,
    contacts: Vec<Contact>,
    /// Per patch: what touches.
    pub(super) touches: Vec<[Side; 2]>,
    /// Per patch: which triangle of the ground touches; `NO_GROUND` if none does.
    triangles: Vec<u32>,
    ground: TerrainMemory,
    unconverged: usize,
    growths: usize,
}

footprint!(ContactSet: broad, candidates, limits, reached, warm, searched, memory, contacts, touches, triangles, ground);

/// No triangle.
const NO_GROUND: u32 = u32::MAX;
/// Contacts for which there is room from the start.
const ROOM: usize = 64;

impl ContactSet {
    /// Memory for the contacts of a model.
    pub fn new(model: &Model) -> ContactSet {
        let n = model.pairs().len();
        ContactSet {
            structure: model.structure_id(),
            broad: Broadphase::new(model),
            candidates: Vec::with_capacity(n),
            limits: Vec::with_capacity(n),
            distance: 0.0,
            reached: vec![0.0; model.n_bodies()],
            warm: vec![Warm::default(); n],
            searched: Vec::with_capacity(n.min(MANY)),
            memory: Polytope::new(),
            contacts: Vec::with_capacity(ROOM),
            touches: Vec::with_capacity(ROOM),
            triangles: Vec::with_capacity(ROOM),
            ground: TerrainMemory::default(),
            unconverged: 0,
            growths: 0,
        }
    }

    /// Contacts of the last search, by rising number of their pairs.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// How many pairs of the last search ended at the iteration limit, with the best answer found.
    pub fn unconverged(&self) -> usize {
        self.unconverged
    }

    /// How often the memory had to grow since it was made.
    pub fn growths(&self) -> usize {
        self.growths
    }

    /// Which geom of a contact is ground (0 or 1), and the triangle that touches.
    pub(super) fn triangle(&self, model: &Model, contact: &Contact) -> Option<(usize, u32)> {
        let triangle = self.triangles[contact.witness as usize];
        let which = usize::from(!model.shape(contact.geoms[0]).is_terrain());
        (triangle != NO_GROUND).then_some((which, triangle))
    }

    /// How much there is room for.
    fn room(&self) -> [usize; 4] {
        [self.contacts.capacity(), self.touches.capacity(), self.triangles.capacity(), self.ground.capacity()]
    }

    /// Drops what was remembered of earlier searches.
    pub fn forget(&mut self) {
        self.searched.drain(..).for_each(|k| self.warm[k as usize] = Warm::default());
    }
}

/// Finds every contact nearer than the option `contact_distance`; `X_wb` are the poses of the bodies in the world.
pub fn detect(model: &Model, X_wb: &[Pose], set: &mut ContactSet) -> Result<(), InputError> {
    set.structure.check(model, "contact set")?;
    crate::check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    search(model, X_wb, model.options().contact_distance, None, set);
    Ok(())
}

/// Finds every contact that the given velocities can close, whatever its distance, and those of the patches they are part of.
/// (collision-14)
pub(crate) fn detect_ahead(model: &Model, X_wb: &[Pose], ahead: &Lookahead, set: &mut ContactSet) {
    search(model, X_wb, ahead.distance, Some(ahead), set);
}

fn search(model: &Model, X_wb: &[Pose], distance: f64, ahead: Option<&Lookahead>, set: &mut ContactSet) {
    let room = set.room();
    set.distance = distance;
    let near = model.options().contact_distance;
    let ContactSet {
        broad,
        candidates,
        limits,
        warm,
        searched,
        memory,
        contacts,
        touches,
        triangles,
        ground,
        unconverged,
        ..
    } = set;
    contacts.clear();
    touches.clear();
    triangles.clear();
    *unconverged = 0;
    limits.clear();
    broad.candidates(model, X_wb, distance, ahead, candidates);
    let poses = broad.geom_poses();
    let reaches = Reaches { reach: broad.reach(), around: broad.around() };
    for &k in candidates.iter() {
        let pair = &model.pairs()[k as usize];
        let [a, b] = pair.geoms;
        let (offset, X_w1) = (offset(model, pair), &poses[a.0]);
        let limit = ahead.map_or(distance, |ahead| ahead.limit(model, pair, poses, reaches));
        limits.push(limit);
        if model.shape(a).is_terrain() || model.shape(b).is_terrain() {
            on_ground(model, pair, limit.max(near) + offset, poses, memory, ground);
            *unconverged += ground.unconverged;
            for t in &ground.touches {
                contacts.push(Contact {
                    pair: k as usize,
                    geoms: pair.geoms,
                    point: t.point,
                    frame: frame(t.normal),
                    distance: t.distance - offset,
                    feature: t.feature(),
                    witness: touches.len() as u32,
                    kind: t.kind,
                });
                touches.push(t.sides);
                triangles.push(t.triangle);
            }
            continue;
        }
        let shapes = shape_pair(shape_of(model, a), X_w1, shape_of(model, b), &poses[b.0]);
        let known = warm[k as usize] != Warm::default();
        let found = witness(&shapes, limit + offset, &mut warm[k as usize], memory);
        if !known && warm[k as usize] != Warm::default() {
            searched.push(k);
        }
        let Some(w) = found else { continue };
        *unconverged += !w.converged as usize;
        let found = if pair.single_point { nearest(&w) } else { patch(&shapes, &w, limit.max(near) + offset) };
        let axes = frame(X_w1.rotation * found.normal);
        for p in &found.points[..found.count] {
            contacts.push(Contact {
                pair: k as usize,
                geoms: pair.geoms,
                point: X_w1.point(p.point),
                frame: axes,
                distance: p.distance - offset,
                feature: feature_key(&p.kind, &found.sides),
                witness: touches.len() as u32,
                kind: p.kind,
            });
        }
        touches.push(found.sides);
        triangles.push(NO_GROUND);
    }
    set.growths += (room != set.room()) as usize;
}

/// Points of a shape on the ground, in world axes, with the geoms in the order of the pair; `memory.touches` holds them.
fn on_ground(
    model: &Model,
    pair: &Pair,
    limit: f64,
    poses: &[Pose],
    polytope: &mut Polytope,
    memory: &mut TerrainMemory,
) {
    memory.touches.clear();
    memory.unconverged = 0;
    let swapped = !model.shape(pair.geoms[0]).is_terrain();
    let [g, s] = if swapped { [pair.geoms[1], pair.geoms[0]] } else { pair.geoms };
    let (Some(terrain), false) = (Terrain::of(model, g), model.shape(s).is_terrain()) else { return };
    let shape = shape_of(model, s);
    let X_gs = shape_pair(shape, &poses[g.0], shape, &poses[s.0]).X_12;
    touch(terrain, &shape, &X_gs, limit, pair.single_point, polytope, memory);
    for t in &mut memory.touches {
        let turn = |v: Vec3| poses[g.0].rotation * v;
        let (point, normal) = (poses[s.0].position + turn(t.point), turn(t.normal));
        let world = Touch { point, normal, ..*t };
        *t = if swapped { world.swapped() } else { world };
    }
}

/// Distance by which the surfaces of a pair lie outside their shapes (m).
#[inline(always)]
pub(super) fn offset(model: &Model, pair: &Pair) -> f64 {
    let own = |g: GeomId| model.geoms()[g.0].surface.offset;
    pair.surface.map_or_else(|| own(pair.geoms[0]) + own(pair.geoms[1]), |s| s.offset)
}

#[inline(always)]
pub(super) fn shape_of(model: &Model, geom: GeomId) -> Convex<'_> {
    let shape = model.shape(geom);
    convex(shape, || match shape {
        Shape::Mesh { mesh } => Some(model.hull(mesh)),
        _ => None,
    })
}

pub(super) fn geom_pose(model: &Model, X_wb: &[Pose], geom: GeomId) -> Result<Pose, InputError> {
    crate::check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    let count = model.geoms().len();
    let found = model.geoms().get(geom.0).ok_or(InputError::OutOfRange { what: "geom", count, got: geom.0 })?;
    Ok(X_wb[found.body.0] * found.pose)
}

/// Two geoms of a model in the frame of the first, and that frame in the world.
pub(super) fn geom_pair<'m>(
    model: &'m Model,
    X_wb: &[Pose],
    [a, b]: [GeomId; 2],
) -> Result<(ShapePair<'m>, [Pose; 2]), InputError> {
    let poses = [geom_pose(model, X_wb, a)?, geom_pose(model, X_wb, b)?];
    Ok((shape_pair(shape_of(model, a), &poses[0], shape_of(model, b), &poses[1]), poses))
}

/// Nearest points of two geoms of a model (offsets of their surfaces are left out).
pub fn geom_distance(model: &Model, X_wb: &[Pose], a: GeomId, b: GeomId) -> Result<ClosestPoints, InputError> {
    let (pair, poses) = geom_pair(model, X_wb, [a, b])?;
    if model.shape(a).is_terrain() || model.shape(b).is_terrain() {
        return ground_distance(model, X_wb, [a, b]);
    }
    let found = witness(&pair, f64::INFINITY, &mut Warm::default(), &mut Polytope::empty());
    found.map(|w| in_world(&pair, &w, &poses[0])).ok_or_else(two_planes)
}

fn ground_distance(model: &Model, X_wb: &[Pose], geoms: [GeomId; 2]) -> Result<ClosestPoints, InputError> {
    let poses = (0..model.geoms().len()).map(|k| geom_pose(model, X_wb, GeomId(k))).collect::<Result<Vec<_>, _>>()?;
    let mut memory = TerrainMemory::default();
    let pair = Pair { geoms, surface: None, single_point: true };
    on_ground(model, &pair, f64::INFINITY, &poses, &mut Polytope::empty(), &mut memory);
    let nearest = memory.touches.first().ok_or_else(|| InputError::Value {
        what: "geoms that touch ground".into(),
        expected: "one over the ground, not behind or below it, and no plane or other ground",
        got: 0.0,
    })?;
    let half = nearest.normal * (0.5 * nearest.distance);
    Ok(ClosestPoints {
        distance: nearest.distance,
        normal: nearest.normal,
        points: [nearest.point - half, nearest.point + half],
        converged: memory.unconverged == 0,
    })
}

/// The first geom of a model that a ray meets within `max_distance`.
pub fn raycast_model(
    model: &Model,
    X_wb: &[Pose],
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
) -> Result<Option<(GeomId, RayHit)>, InputError> {
    let direction = check_ray(origin, direction, max_distance)?;
    let mut first: Option<(GeomId, RayHit)> = None;
    for k in (0..model.geoms().len()).map(GeomId) {
        let pose = geom_pose(model, X_wb, k)?;
        let reach = first.map_or(max_distance, |(_, hit)| hit.distance);
        let hit = match Terrain::of(model, k) {
            Some(terrain) => cast_on_ground(terrain, &pose, origin, direction, reach),
            None => cast(&shape_of(model, k), &pose, origin, direction, reach),
        };
        if let Some(hit) = hit
            && first.is_none_or(|(_, best)| hit.distance < best.distance)
        {
            first = Some((k, hit));
        }
    }
    Ok(first)
}

fn cast_on_ground(terrain: Terrain, X_wg: &Pose, origin: Vec3, direction: Vec3, reach: f64) -> Option<RayHit> {
    let local = X_wg.rotation.tmul(origin - X_wg.position);
    let (distance, n) = ray(terrain, local, X_wg.rotation.tmul(direction), reach)?;
    Some(RayHit { distance, point: origin + direction * distance, normal: X_wg.rotation * n })
}

/// DerivedParameters of the pairs of moving geoms that are nearer than `distance`. Pairs with a plane or other ground are not
/// among them.
pub fn near_pairs(model: &Model, X_wb: &[Pose], distance: f64) -> Result<Vec<usize>, InputError> {
    let mut near = Vec::new();
    for (k, pair) in model.pairs().iter().enumerate() {
        let is_floor = |g: GeomId| model.shape(g) == Shape::Plane || model.shape(g).is_terrain();
        if !pair.geoms.into_iter().any(is_floor) {
            let found = geom_distance(model, X_wb, pair.geoms[0], pair.geoms[1])?;
            if found.distance < distance {
                near.push(k);
            }
        }
    }
    Ok(near)
}
