//! What stands below the timeline: what its signs mean, and what it amounts to.

use super::Canvas;
use super::cells::{BUBBLE, MARK, ON_ITS_WAY, style_of, style_of_work};
use super::text::Piece;
use crate::amounts;
use crate::analysis::{Engine, Work};
use crate::draw::scale::Scale;
use crate::draw::{meaning, percent};
use crate::model::Link;

impl Canvas<'_> {
    /// What the letters, the marks and the rows mean.
    pub(super) fn legend(&mut self) {
        let chunks = self.picture.chunks();
        let mut pieces = Vec::new();
        for kind in self.picture.kinds() {
            let (upper, lower) = (kind.letter(), kind.letter().to_ascii_lowercase());
            let mut swatch = self.in_style(style_of(kind, 0), &upper.to_string());
            let mut width = 1;
            if chunks > 1 {
                swatch.push_str(&self.in_style(style_of(kind, 1), &lower.to_string()));
                width = 2;
            }
            let text = meaning(kind);
            pieces.push(Piece::sized(format!("{swatch} {text}"), width + 1 + text.len()));
        }
        let works = self.picture.works();
        if works.contains(&Work::Optimizer) {
            let swatch = self.in_style(style_of_work(Work::Optimizer), "O");
            let text = "optimiser step, with its stage";
            pieces.push(Piece::sized(format!("{swatch} {text}"), 2 + text.len()));
        }
        pieces.push(Piece::sized(format!("{BUBBLE} bubble"), "x bubble".len()));
        if self.goes_on {
            pieces.push(Piece::own("< goes on from above"));
        }
        self.paragraph(pieces, "  ");
        self.legend_of_lanes(&works);
        match chunks {
            1 => {}
            2 => self.paragraph([Piece::own("upper case: chunk 0, lower case: chunk 1")], " "),
            _ => {
                let text = "upper case: even chunks, lower case: odd chunks; raised figure: the chunk";
                self.paragraph([Piece::own(text)], " ");
            }
        }
    }

    /// What the rows below a device are, and what is in them.
    fn legend_of_lanes(&mut self, works: &[Work]) {
        let lanes = &self.picture.lanes;
        if lanes.is_empty() {
            return;
        }
        let has = |of: fn(Engine) -> bool| lanes.iter().any(|lane| of(lane.engine));
        let mut rows = Vec::new();
        if has(|engine| matches!(engine, Engine::Link(Link::Pair { .. }))) {
            rows.push(">N sent to device N");
        }
        if has(|engine| matches!(engine, Engine::Link(Link::Card { .. }))) {
            rows.push("cardN sent through the network card of node N");
        }
        for (engine, text) in [
            (Engine::ToHost, ">host copied to the host"),
            (Engine::FromHost, "<host copied from the host"),
            (Engine::Collective, "coll collective stream"),
        ] {
            if lanes.iter().any(|lane| lane.engine == engine) {
                rows.push(text);
            }
        }
        let mut pieces: Vec<Piece> = rows.into_iter().map(Piece::own).collect();
        if works.iter().any(|work| !matches!(work, Work::Gather | Work::Reduction | Work::Optimizer)) {
            pieces.push(Piece::own(&format!("F0{ON_ITS_WAY}{ON_ITS_WAY} what F0 yields")));
        }
        for (work, letter) in [(Work::Gather, "A"), (Work::Reduction, "G")] {
            if !works.contains(&work) {
                continue;
            }
            let swatch = self.in_style(style_of_work(work), letter);
            let text = format!("{}, with its stage", work.name());
            pieces.push(Piece::sized(format!("{swatch} {text}"), 2 + text.len()));
        }
        if self.marked {
            pieces.push(Piece::own(&format!("{MARK} shorter than a column")));
        }
        self.paragraph(pieces, "  ");
    }

    /// What the times and the memory amount to.
    pub(super) fn facts(&mut self) {
        let picture = self.picture;
        let Scale { columns, ticks } = self.plan.scale;
        let unit = &picture.model.costs().unit;
        let columns = if columns == 1 { "1 column is".to_owned() } else { format!("{columns} columns are") };
        let mut facts = picture.facts();
        facts.push(format!("{columns} {}", amounts::time(ticks, unit)));
        if self.hidden > 0 {
            facts.push(format!("{} passes are too short to be drawn", self.hidden));
        }
        if self.unmarked > 0 {
            facts.push(format!("{} other tasks are too short to be drawn", self.unmarked));
        }
        if !self.plan.figures {
            for device in picture.devices() {
                let idle = percent(picture.idle_share(device), 2);
                let peak = picture.peak_of(device);
                facts.push(format!("device {device}: idle {idle} %, peak {peak}"));
            }
        }
        let last = facts.len() - 1;
        for fact in &mut facts[..last] {
            fact.push(';');
        }
        let pieces: Vec<Piece> = facts.iter().map(|fact| Piece::foreign(fact)).collect();
        self.paragraph(pieces, " ");
    }
}
