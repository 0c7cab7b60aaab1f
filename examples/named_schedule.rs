//! The library in use: reads a model, generates a named schedule of the catalogue at any size of it, and writes the
//! schedule file. `make browser` draws what it writes.
//!
//! ```sh
//! cargo run --no-default-features --example named_schedule -- v-half models/profiles/unit-v.toml 64 256 out.json
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bubbleproof::catalog;
use bubbleproof::files;
use bubbleproof::model;
use bubbleproof::schedule;
use bubbleproof::stop::Stop;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, model, devices, microbatches, out] = arguments.as_slice() else {
        return Err("usage: named_schedule NAME MODEL DEVICES MICROBATCHES OUT".into());
    };
    let entry = catalog::find(name).ok_or_else(|| format!("there is no schedule of the name {name}"))?;
    let model = model::parse(&fs::read_to_string(model)?)?;
    let model = model.resized(devices.parse()?)?.with_microbatches(microbatches.parse()?)?;
    let mut schedule = entry.generate_until(&model, &Stop::after(Duration::ZERO))?;
    if let Some(provenance) = &mut schedule.provenance {
        provenance.devices = Some(model.devices());
        provenance.microbatches = Some(model.microbatches());
    }
    files::write_with(Path::new(out), |out| schedule::write(&schedule, out))?;
    Ok(())
}
