//! The gallery: a drawing of every named schedule, and the page `docs/gallery.md` that shows them.
//!
//! ```sh
//! make gallery        # which is
//! cargo run --no-default-features --example gallery
//! ```

mod pages;

use std::error::Error;
use std::fs;
use std::path::Path;

use bubbleproof::files;

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let folder = docs.join(pages::FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for (path, text) in pages::files()? {
        files::write(&docs.join(&path), text)?;
        println!("wrote docs/{path}");
    }
    Ok(())
}
