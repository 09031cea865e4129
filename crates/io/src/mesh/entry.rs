//! A finished mesh as bytes, for the cache. Numbers are little-endian, counts come first.

use super::{PhysicsMesh, Solid, TriangleMesh};
use slipstick_core::spatial::{Sym3, Vec3};

/// To be raised whenever the same file would give another result.
pub(super) const VERSION: u32 = 1;

pub(super) fn encode(shapes: &[TriangleMesh], solids: &[Option<Solid>; 4]) -> Vec<u8> {
    let mut out = Vec::new();
    put_count(&mut out, shapes.len());
    shapes.iter().for_each(|s| put_mesh(&mut out, s));
    for solid in solids {
        put_count(&mut out, usize::from(solid.is_some()));
        if let Some(Solid { volume, center: c, inertia: i }) = solid {
            put_numbers(&mut out, &[*volume, c.x, c.y, c.z, i.xx, i.xy, i.yy, i.xz, i.yz, i.zz]);
        }
    }
    out
}

fn put_count(out: &mut Vec<u8>, n: usize) {
    out.extend((n as u32).to_le_bytes());
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[f64]) {
    out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
}

fn put_mesh(out: &mut Vec<u8>, mesh: &TriangleMesh) {
    put_count(out, mesh.vertices.len());
    put_count(out, mesh.triangles.len());
    mesh.vertices.iter().for_each(|v| put_numbers(out, &v.to_array()));
    out.extend(mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes()));
}

/// `None` if the bytes are not what [`encode`] writes.
pub(super) fn decode(bytes: &[u8]) -> Option<PhysicsMesh> {
    let mut input = Input { rest: bytes };
    let shapes: Option<Vec<TriangleMesh>> = (0..input.count()?).map(|_| input.mesh()).collect();
    let shapes = shapes.filter(|s| !s.is_empty())?;
    let mut solids = [None; 4];
    for solid in &mut solids {
        *solid = match input.count()? {
            0 => None,
            1 => Some(input.solid()?),
            _ => return None,
        };
    }
    input.rest.is_empty().then_some(PhysicsMesh { shapes: Ok(shapes), solids })
}

struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// The next `n` items of `size` bytes, if that many are there.
    fn take(&mut self, n: usize, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n.checked_mul(size)?)?;
        self.rest = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        let bytes = self.take(1, 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    }

    fn numbers(&mut self, n: usize) -> Option<Vec<f64>> {
        let bytes = self.take(n, 8)?;
        let numbers = bytes.chunks_exact(8).map(|b| b.try_into().ok().map(f64::from_le_bytes));
        numbers.map(|x| x.filter(|x| x.is_finite())).collect()
    }

    fn mesh(&mut self) -> Option<TriangleMesh> {
        let (n_vertices, n_triangles) = (self.count()?, self.count()?);
        let vertices: Vec<Vec3> =
            self.numbers(n_vertices.checked_mul(3)?)?.chunks_exact(3).map(Vec3::from_slice).collect();
        let corners = self.take(n_triangles.checked_mul(3)?, 4)?.chunks_exact(4);
        let corners: Vec<u32> = corners.filter_map(|b| b.try_into().ok().map(u32::from_le_bytes)).collect();
        let fits = n_vertices >= 4 && corners.iter().all(|i| (*i as usize) < n_vertices);
        let triangles = corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
        fits.then_some(TriangleMesh { vertices, triangles })
    }

    fn solid(&mut self) -> Option<Solid> {
        let n = self.numbers(10)?;
        let inertia = Sym3 { xx: n[4], xy: n[5], yy: n[6], xz: n[7], yz: n[8], zz: n[9] };
        Some(Solid { volume: n[0], center: Vec3::from_slice(&n[1..]), inertia })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    fn example() -> PhysicsMesh {
        let mesh = TriangleMesh {
            vertices: vec![vec3(0.1, 0.2, 0.3), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let inertia = Sym3 { xx: 1.0, xy: 2.0, yy: 3.0, xz: 4.0, yz: 5.0, zz: 6.0 };
        let solid = Solid { volume: 0.7, center: vec3(1.0, 2.0, 3.0), inertia };
        PhysicsMesh { shapes: Ok(vec![mesh.clone(), mesh]), solids: [Some(solid), None, None, Some(solid)] }
    }

    fn bytes() -> Vec<u8> {
        let PhysicsMesh { shapes, solids } = example();
        encode(&shapes.unwrap(), &solids)
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(decode(&bytes()), Some(example()));
    }

    #[test]
    fn damaged_bytes_are_refused_and_never_panic() {
        let bytes = bytes();
        for n in 0..bytes.len() {
            assert_eq!(decode(&bytes[..n]), None, "cut after {n}");
            let mut changed = bytes.clone();
            changed[n] = 0xff; // huge counts among them
            let _ = decode(&changed);
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(decode(&longer), None);
        let mut lying = bytes;
        lying[..12].fill(0xff);
        assert_eq!(decode(&lying), None);
    }
}
