//! The list of the named schedules.

use super::{Build, Entry, Needs, adaptive, limited, linear, looped, two_way, v};

/// Every named schedule, those for linear placement first; without [`V_ADAPTIVE`].
#[must_use]
pub const fn entries() -> &'static [Entry] {
    ENTRIES
}

const ZERO_BUBBLE: &str = "Zero Bubble Pipeline Parallelism (ICLR 2024, arXiv 2401.10241)";
const CONTROLLABLE: &str = "Pipeline Parallelism with Controllable Memory (NeurIPS 2024, arXiv 2405.15362)";

/// The adaptive scheduler of the paper about controllable memory. It is found by its name, but not among [`entries`]: it is no
/// schedule of its own but a search over a family of blocks, so what goes through all named schedules goes without it.
pub static V_ADAPTIVE: Entry = Entry {
    name: "v-adaptive",
    summary: "The block with uniform offsets on V placement whose schedule is shortest within the memory limit",
    source: CONTROLLABLE,
    needs: Needs::V,
    memory: "at most 2d chunks",
    bubble: "6d-3k-1 units within k chunks if k < 2d-1, none within 2d",
    build: Build::Improved(adaptive::v_adaptive),
};

const DUALPIPE: &str =
    "DeepSeek-V3 Technical Report (arXiv 2412.19437), and the description of DualPipe by its authors";

const ENTRIES: &[Entry] = &[
    Entry {
        name: "gpipe",
        summary: "All forwards, then all backwards",
        source: "GPipe (NeurIPS 2019, arXiv 1811.06965)",
        needs: Needs::Any,
        memory: "m",
        bubble: "(d-1)(F+I+W) + 2(d-1)c",
        build: Build::Always(linear::gpipe),
    },
    Entry {
        name: "1f1b",
        summary: "d-1-i forwards ahead on device i, then one forward and one backward in turn",
        source: "PipeDream-Flush (ICML 2021, arXiv 2006.09503); DAPPLE (PPoPP 2021, arXiv 2007.01045)",
        needs: Needs::Linear,
        memory: "min(m, d-i)",
        bubble: "(d-1)(F+I+W)",
        build: Build::Always(linear::one_f_one_b),
    },
    Entry {
        name: "eager-1f1b",
        summary: "1F1B with twice as many forwards ahead, which hides transfers",
        source: "On Optimizing the Communication of Model Parallelism (MLSys 2023, arXiv 2211.05322)",
        needs: Needs::Linear,
        memory: "min(m, 2(d-i)-1)",
        bubble: "(d-1)(F+I+W)",
        build: Build::Always(linear::eager),
    },
    Entry {
        name: "1f1b-r",
        summary: "1F1B that keeps checkpoints and recomputes the forward before each backward",
        source: "Training Deep Nets with Sublinear Memory Cost (arXiv 1604.06174), in 1F1B",
        needs: Needs::Linear,
        memory: "min(m, d-i) checkpoints and the rest of one activation",
        bubble: "(d-1)(F+R+I+W)",
        build: Build::Where(linear::recomputing),
    },
    Entry {
        name: "zb-h1",
        summary: "1F1B with W delayed into the bubble, at the memory of 1F1B",
        source: ZERO_BUBBLE,
        needs: Needs::Linear,
        memory: "d-i and i times what W releases",
        bubble: "(d-1)(F+I-W)",
        build: Build::Always(linear::zb_h1),
    },
    Entry {
        name: "zb-h2",
        summary: "ZB-H1 with twice as many forwards ahead: no bubble at equal durations",
        source: ZERO_BUBBLE,
        needs: Needs::Linear,
        memory: "2(d-i)-1 and 2i times what W releases",
        bubble: "(d-1)(F+I-2W)",
        build: Build::Always(linear::zb_h2),
    },
    Entry {
        name: "zb-1p",
        summary: "Scheduled with the real durations within the memory of 1F1B on device 0",
        source: ZERO_BUBBLE,
        needs: Needs::Linear,
        memory: "at most d",
        bubble: "no formula: at most that of ZB-H1 where ZB-H1 fits",
        build: Build::Within(limited::zb_1p, limited::zb_1p_at_once),
    },
    Entry {
        name: "zb-2p",
        summary: "Scheduled with the real durations within twice the memory of 1F1B on device 0",
        source: ZERO_BUBBLE,
        needs: Needs::Linear,
        memory: "at most 2d",
        bubble: "no formula: at most that of ZB-H2 where ZB-H2 fits",
        build: Build::Within(limited::zb_2p, limited::zb_2p_at_once),
    },
    Entry {
        name: "interleaved-1f1b",
        summary: "Megatron-LM's order: groups of d microbatches, chunk after chunk",
        source: "Efficient Large-Scale Language Model Training on GPU Clusters (SC 2021, arXiv 2104.04473)",
        needs: Needs::Looped,
        memory: "2(d-1-i) + (v-1)d + 1 chunks",
        bubble: "(d-1)(F+I+W) of one chunk",
        build: Build::Always(looped::interleaved),
    },
    Entry {
        name: "interleaved-1f1b-uniform",
        summary: "Interleaved 1F1B from a building block repeated at a uniform interval",
        source: CONTROLLABLE,
        needs: Needs::Looped,
        memory: "about (v+1)d chunks",
        bubble: "(d-1)(F+I+W) of one chunk at best; grows with v",
        build: Build::Improved(looped::uniform),
    },
    Entry {
        name: "looped-bfs",
        summary: "Breadth first: every chunk runs all microbatches before the next one starts",
        source: "Breadth-First Pipeline Parallelism (MLSys 2023, arXiv 2211.05953)",
        needs: Needs::Looped,
        memory: "m of each chunk",
        bubble: "(d-1)(F+I+W) of one chunk",
        build: Build::Always(looped::breadth_first),
    },
    Entry {
        name: "dualpipe-v",
        summary: "DualPipe cut in half: V placement, forwards overlapped with backwards",
        source: DUALPIPE,
        needs: Needs::V,
        memory: "2d+1 chunks",
        bubble: "(d-1)(F&B+B-3W), where F&B is an overlapped pair",
        build: Build::Always(two_way::dualpipe_v),
    },
    Entry {
        name: "1f1b-v",
        summary: "V placement with the backward in one piece, at two thirds of the memory of 1F1B",
        source: CONTROLLABLE,
        needs: Needs::V,
        memory: "ceil((4d+2)/3) chunks",
        bubble: "about 6d units",
        build: Build::Improved(v::one_f_one_b_v),
    },
    Entry {
        name: "v-min",
        summary: "V placement at a third of the memory of 1F1B, the least at equal durations",
        source: CONTROLLABLE,
        needs: Needs::V,
        memory: "2*floor((d+4)/3) chunks",
        bubble: "about 4d units",
        build: Build::Improved(v::v_min),
    },
    Entry {
        name: "v-half",
        summary: "V placement at half the memory of 1F1B",
        source: CONTROLLABLE,
        needs: Needs::V,
        memory: "2*floor((d+2)/2) chunks",
        bubble: "about 3d units",
        build: Build::Improved(v::v_half),
    },
    Entry {
        name: "v-zb",
        summary: "V placement without bubbles at the memory of 1F1B",
        source: CONTROLLABLE,
        needs: Needs::V,
        memory: "2d chunks",
        bubble: "about none",
        build: Build::Improved(v::v_zb),
    },
    Entry {
        name: "dualpipe",
        summary: "Two directions that feed each other, forwards overlapped with backwards",
        source: DUALPIPE,
        needs: Needs::Bidirectional,
        memory: "d+1, and two copies of the weights",
        bubble: "(d/2-1)(F&B+B-3W), where F&B is an overlapped pair",
        build: Build::Where(two_way::dualpipe),
    },
    Entry {
        name: "chimera",
        summary: "1F1B in two directions, d microbatches at a time",
        source: "Chimera (SC 2021, arXiv 2107.06925)",
        needs: Needs::Bidirectional,
        memory: "d/2+1 to d, and two copies of the weights",
        bubble: "(d/2-1)(F+B) if F = B",
        build: Build::Where(two_way::chimera),
    },
    Entry {
        name: "gems",
        summary: "One microbatch at a time, alternately down and up",
        source: "GEMS (SC 2020), as described in Chimera (arXiv 2107.06925, section 2)",
        needs: Needs::Bidirectional,
        memory: "1, and two copies of the weights",
        bubble: "m(d-1)B",
        build: Build::Always(two_way::gems),
    },
];
