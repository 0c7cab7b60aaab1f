//! The examples of the front page and of others are run as they stand there.

use std::fs;

#[test]
fn the_examples_of_the_readme_print_what_it_says() {
    trycmd::TestCases::new().case("README.md");
}

#[test]
fn the_examples_of_the_guide_print_what_it_says() {
    // A tutorial enters designs into a folder that is not there yet.
    _ = fs::remove_dir_all("target/designs");
    trycmd::TestCases::new().case("docs/guide.md");
}

#[test]
fn the_examples_of_the_page_on_traces_print_what_it_says() {
    trycmd::TestCases::new().case("docs/traces.md");
}

#[test]
fn the_examples_of_the_page_on_runtimes_print_what_it_says() {
    trycmd::TestCases::new().case("docs/runtimes.md");
}

/// The page shows files; its examples work on these.
#[test]
fn the_examples_of_the_page_on_families_print_what_it_says() {
    let folder = "target/families";
    fs::create_dir_all(folder).expect("made");
    let page = fs::read_to_string("docs/families.md").expect("there");
    let files: Vec<&str> = page.split("```toml\n# ").skip(1).collect();
    assert!(!files.is_empty());
    for file in files {
        let (name, text) = file.split_once('\n').expect("the name of a file, and its text");
        let (text, _) = text.split_once("```").expect("an end");
        fs::write(format!("{folder}/{name}"), text).expect("written");
    }
    trycmd::TestCases::new().case("docs/families.md");
}

#[test]
fn the_examples_of_the_page_on_jobs_print_what_it_says() {
    // Its examples begin with a folder for stores that has none.
    let stores = "target/space";
    _ = fs::remove_dir_all(stores);
    fs::create_dir_all(stores).expect("made");
    if cfg!(feature = "store") {
        trycmd::TestCases::new().case("docs/jobs.md");
        return;
    }
    // Without SQLite the page runs without the section about stores.
    let page = fs::read_to_string("docs/jobs.md").expect("there");
    let (before, section) = page.split_once("## Large spaces").expect("a section");
    let after = section.find("\n## ").map_or("", |at| &section[at..]);
    let page = format!("{stores}/jobs.md");
    fs::write(&page, format!("{before}{after}")).expect("written");
    trycmd::TestCases::new().case(&page);
}
