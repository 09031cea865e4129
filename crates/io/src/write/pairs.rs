//! Which geoms may touch, as MJCF: exclusions, explicit pairs, and a word for the paper's rule.

use super::mjcf::Writer;
use super::xml::Attributes;
use crate::pairs::mixed;
use slipstick_core::model::{GeomId, PairRule, PairSurface};

/// Name of the custom text that says by which rule the pairs of a file are made.
pub(crate) const PAIR_RULE: &str = "slipstick_pairs";

impl Writer<'_> {
    /// MJCF has no word for the paper's rule: a custom text says it to our reader.
    pub(super) fn pair_rule(&mut self) {
        if *self.model.pair_rule() == PairRule::Paper {
            self.xml.open("custom", Attributes::new());
            self.xml.leaf("text", Attributes::new().text("name", PAIR_RULE).text("data", "paper"));
            self.xml.close("custom");
            let effect = "other readers compute them by MuJoCo's rule; a custom text restores them here";
            self.lose("collision pairs", effect);
        }
        let given: Vec<[GeomId; 2]> = self.explicit().iter().map(|(geoms, _)| *geoms).collect();
        for g in given.into_iter().flatten() {
            self.name_geom(g);
        }
    }

    /// Gives a name to a geom that is referred to and has none.
    fn name_geom(&mut self, g: GeomId) {
        if self.geom_names[g.0].is_empty() {
            let mut name = format!("geom_{}", g.0);
            while self.geom_names.contains(&name) {
                name.push('_');
            }
            self.geom_names[g.0] = name;
        }
    }

    /// Pairs that the file must name.
    fn explicit(&self) -> Vec<([GeomId; 2], PairSurface)> {
        let listed = matches!(self.model.pair_rule(), PairRule::List(_));
        let pairs = self.model.pairs().iter();
        pairs.filter_map(|p| p.surface.or(listed.then(|| self.mixed(p.geoms))).map(|s| (p.geoms, s))).collect()
    }

    fn mixed(&self, geoms: [GeomId; 2]) -> PairSurface {
        let [a, b] = geoms.map(|g| &self.model.geoms()[g.0].surface);
        mixed(a, b)
    }

    pub(super) fn contact(&mut self) {
        let explicit = self.explicit();
        if explicit.is_empty() && self.model.excludes().is_empty() {
            return;
        }
        self.xml.open("contact", Attributes::new());
        for [a, b] in self.model.excludes() {
            let name = |i: usize| self.model.frames()[i].name.as_str();
            self.xml.leaf("exclude", Attributes::new().text("body1", name(a.0)).text("body2", name(b.0)));
        }
        for ([a, b], s) in explicit {
            let names = [a, b].map(|g| self.geom_names[g.0].as_str());
            let a = Attributes::new().text("geom1", names[0]).text("geom2", names[1]);
            let a = a.number("condim", f64::from(s.condim), 3.0).numbers("friction", &[s.friction, s.friction]);
            self.xml.leaf("pair", a.number("margin", s.offset, 0.0));
        }
        self.xml.close("contact");
    }
}
