//! With which inertia each link is written, so that MuJoCo takes the file and the bodies are the same.

use super::mjcf::Writer;
use super::{ConversionWarning, is_first_link};
use slipstick_core::model::BodyId;
use slipstick_core::spatial::{BodyInertia, Sym3, Vec3, principal_moments};

impl Writer<'_> {
    /// Links are written with their own inertia, unless the parameters of their body have been changed since.
    pub(super) fn check_inertias(&mut self, n: usize) {
        let model = self.model;
        let mut sums = vec![BodyInertia::default(); model.n_bodies()];
        for f in &model.frames()[..n] {
            sums[f.body.0] = sums[f.body.0].joined(&f.inertia.unwrap_or_default().moved(&f.pose));
        }
        for b in 1..model.n_bodies() {
            let (a, b10) = (sums[b].to_parameters(), model.inertias()[b].to_parameters());
            let size = b10.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            if a.iter().zip(b10).all(|(x, y)| (x - y).abs() <= 1e-12 * size) {
                continue;
            }
            for (i, f) in model.frames()[..n].iter().enumerate().filter(|(_, f)| f.body == BodyId(b)) {
                self.inertia[i] = if is_first_link(model, i) { model.inertias()[b] } else { BodyInertia::default() };
                if !is_first_link(model, i) && f.inertia.is_some_and(|i| i.mass > 0.0) {
                    let effect = "its body has other parameters than the file: all mass is written with the body";
                    self.losses.push(ConversionWarning::new(format!("link '{}'", f.name), effect));
                }
            }
        }
    }

    /// The model knows how much weight is taken off a body, and where; links have shares.
    pub(super) fn share_compensation(&mut self, n: usize) {
        let model = self.model;
        for (b, (mass, center)) in model.gravity_compensation().iter().enumerate().skip(1).filter(|(_, c)| c.0 != 0.0) {
            let whole = &model.inertias()[b];
            let near = |p: Vec3| (p - *center).norm() <= 1e-9 * (1.0 + center.norm());
            let links = (0..n).filter(|i| model.frames()[*i].body == BodyId(b));
            if near(whole.com) {
                links.for_each(|i| self.compensation[i] = mass / whole.mass);
                continue;
            }
            let com = |i: &usize| model.frames()[*i].pose.point(self.inertia[*i].com);
            match links.clone().find(|i| self.inertia[*i].mass > 0.0 && near(com(i))) {
                Some(i) => self.compensation[i] = mass / self.inertia[i].mass,
                None => {
                    let what = format!("body '{}'", model.bodies()[b].name);
                    self.lose(what, "gravity is compensated on some of its links: the file has no compensation");
                }
            }
        }
    }

    /// Rotational inertia that no body has, of a link merged into a sound body, is written with the sturdiest link of that
    /// body: MuJoCo refuses it in a link of its own. The body stays the same.
    pub(super) fn gather_defects(&mut self, n: usize) {
        let model = self.model;
        let mut links = vec![Vec::new(); model.n_bodies()];
        (1..n).for_each(|i| links[model.frames()[i].body.0].push(i));
        for (b, links) in links.into_iter().enumerate() {
            let (sound, odd): (Vec<usize>, Vec<usize>) = links.into_iter().partition(|i| is_sound(&self.inertia[*i]));
            let trace = |i: &usize| self.inertia[*i].about_com.trace();
            let carrier = sound.into_iter().max_by(|x, y| trace(x).total_cmp(&trace(y)));
            if odd.is_empty() || b > 0 && (carrier.is_none() || !is_sound(&model.inertias()[b])) {
                continue;
            }
            for i in odd {
                let f = &model.frames()[i];
                let part = self.inertia[i].about_com.rotated(&f.pose.rotation);
                self.inertia[i].about_com = Sym3::ZERO;
                // what is fixed to the world does not turn
                if let Some(carrier) = carrier.filter(|_| b > 0) {
                    let back = model.frames()[carrier].pose.rotation.transpose();
                    self.inertia[carrier].about_com += part.rotated(&back);
                }
                let effect = "its rotational inertia is physically impossible and is written with its parent link";
                self.losses.push(ConversionWarning::new(format!("link '{}'", f.name), effect));
            }
        }
    }
}

/// Whether MuJoCo takes the inertia: positive moments, A + B ≥ C, or none at all.
fn is_sound(i: &BodyInertia) -> bool {
    let [a, b, c] = principal_moments(i.about_com);
    i.about_com == Sym3::ZERO || a > 0.0 && a + b >= c
}
