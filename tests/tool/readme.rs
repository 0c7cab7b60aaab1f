//! The examples of the front page and of others are run as they stand there.

#[test]
fn the_examples_of_the_readme_print_what_it_says() {
    trycmd::TestCases::new().case("README.md");
}

#[test]
fn the_examples_of_the_guide_print_what_it_says() {
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

#[test]
fn the_examples_of_the_page_on_jobs_print_what_it_says() {
    trycmd::TestCases::new().case("docs/jobs.md");
}
